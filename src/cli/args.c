/* Option tables, --help, error messages and colour, which all commands share. */
#include "cli/command.h"

#include "base/fs.h"
#include "help/markdown.h"
#include "help/similar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    stet_cli_describer *take;
    void *context;
    const char *part;
} describe;

void stet_cli_describe(stet_cli_describer *take, void *context)
{
    describe.take = take;
    describe.context = context;
}

static void print_row(const char *name, const char *operand, const char *help)
{
    char left[64];
    int width = 24; /* printf counts bytes */

    if (operand && !strncmp(operand, "[=", 2)) /* an optional value */
        snprintf(left, sizeof left, "--%s%s", name, operand);
    else if (name[1])
        snprintf(left, sizeof left, "--%s%s%s", name, operand ? "=" : "", operand ? operand : "");
    else
        snprintf(left, sizeof left, "-%s%s%s", name, operand ? " " : "", operand ? operand : "");
    for (const char *c = left; *c; c++)
        width += (*c & 0xc0) == 0x80;
    printf("  %-*s %s\n", width, left, help);
}

static void print_usage(const struct stet_usage *usage, const struct stet_option *options)
{
    bool own_format = false;

    printf("usage: %s\n\n%s\n\noptions:\n", usage->synopsis, usage->about);
    for (; options->name; options++) {
        if (options->help)
            print_row(options->name, options->operand, options->help);
        own_format |= !strcmp(options->name, "format");
    }
    if (!own_format)
        print_row("format", "text|json", "how to print (default text)");
    print_row("help", NULL, "print this");
    printf("\nMore: stet help %s\n", usage->page);
}

static int complain_usage(const struct stet_usage *usage, const char *what, const char *which)
{
    stet_say("stet: %s '%s'\nusage: %s\n", what, which, usage->synopsis);
    return STET_EXIT_USAGE;
}

static const struct stet_option *find_option(const struct stet_option *options, const char *name,
                                             size_t len)
{
    for (; options->name; options++) {
        if (strlen(options->name) == len && !memcmp(options->name, name, len))
            return options;
    }
    return NULL;
}

static void complain_unknown(const struct stet_usage *usage, const struct stet_option *options,
                             const char *given, size_t len)
{
    char name[STET_SIMILAR_WORD] = "";
    struct stet_help_similar s = {.word = name};

    if (given[1] == '-')
        snprintf(name, sizeof name, "%.*s", (int)len, given + 2);
    stet_help_similar_try(&s, "format");
    stet_help_similar_try(&s, "help");
    for (; options->name; options++)
        stet_help_similar_try(&s, options->name);
    stet_say("stet: unknown option '%s'", given);
    if (s.best[0])
        stet_say("; did you mean --%s?", s.best);
    stet_say("\nusage: %s\n", usage->synopsis);
}

/* Consumes one option at argv[i]. Returns the index of the last argument used, or -1 after an error
 * message. */
static int take_option(struct stet_args *args, int i, int argc, char **argv,
                       const struct stet_usage *usage, const struct stet_option *options)
{
    bool is_short = argv[i][1] != '-'; /* -o FILE */
    const char *name = argv[i] + (is_short ? 1 : 2), *value = strchr(name, '=');
    size_t len = value ? (size_t)(value - name) : strlen(name);
    const struct stet_option format = {"format", "", "", STET_OPTION_VALUE, NULL};
    const struct stet_option *o = find_option(options, name, len);
    const char *text;

    if (!o && len == 6 && !memcmp(name, "format", 6))
        o = &format;
    if (!o || is_short != (len == 1)) {
        complain_unknown(usage, options, argv[i], len);
        return -1;
    }
    if (o->kind == STET_OPTION_FLAG) {
        if (value) {
            complain_usage(usage, "this option takes no value:", argv[i]);
            return -1;
        }
        *(bool *)o->target = true;
        return i;
    }
    if (o->kind == STET_OPTION_MAYBE) {
        *(const char **)o->target = value ? value + 1 : "";
        return i;
    }
    text = value ? value + 1 : i + 1 < argc ? argv[++i] : NULL;
    if (!text) {
        complain_usage(usage, "this option needs a value:", argv[i]);
        return -1;
    }
    if (o->target) {
        *(const char **)o->target = text;
    } else if (!strcmp(text, "json") || !strcmp(text, "text")) {
        args->format = text[0] == 'j' ? STET_FORMAT_JSON : STET_FORMAT_TEXT;
    } else {
        complain_usage(usage, "--format is text or json, not", text);
        return -1;
    }
    return i;
}

int stet_cli_args_parse(struct stet_args *args, int argc, char **argv,
                        const struct stet_usage *usage, const struct stet_option *options,
                        bool stop_at_positional)
{
    if (describe.take) {
        describe.take(describe.context, describe.part, usage, options);
        return STET_EXIT_FINE;
    }
    *args = (struct stet_args){.values = argv + 1, .behind = -1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--") || (stop_at_positional && argv[i][0] != '-')) {
            if (!strcmp(argv[i], "--"))
                args->behind = args->count;
            for (i += !strcmp(argv[i], "--"); i < argc; i++)
                args->values[args->count++] = argv[i];
            break;
        }
        if (argv[i][0] != '-' || !argv[i][1]) {
            args->values[args->count++] = argv[i];
        } else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_usage(usage, options);
            return STET_EXIT_FINE;
        } else {
            i = take_option(args, i, argc, argv, usage, options);
            if (i < 0)
                return STET_EXIT_USAGE;
        }
    }
    return -1;
}

static const struct stet_cli_part *part_at(const struct stet_cli_parts *p, size_t i)
{
    return (const void *)((const char *)p->rows + i * p->size);
}

static void list_parts(FILE *to, const struct stet_cli_parts *p)
{
    size_t wide = 0;

    for (size_t i = 0; i < p->count; i++) {
        size_t n = stet_help_columns(stet_view_str(part_at(p, i)->operands));

        wide = n > wide ? n : wide;
    }
    fprintf(to, "usage: stet %s PART [options]\n\n%s\n\n", p->name, p->about);
    for (size_t i = 0; i < p->count; i++) {
        const struct stet_cli_part *part = part_at(p, i);

        fprintf(to, "  %-8s%s%*s %s\n", part->name, part->operands,
                (int)(wide - stet_help_columns(stet_view_str(part->operands))), "", part->about);
    }
    fprintf(to, "\nMore: stet help %s\n", p->name);
}

int stet_cli_parts_run(const struct stet_cli_parts *p, int argc, char **argv)
{
    bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    struct stet_help_similar s = {.word = argc > 1 ? argv[1] : ""};

    for (size_t i = 0; i < p->count; i++) {
        const struct stet_cli_part *part = part_at(p, i);

        if (describe.take) {
            describe.part = part->name;
            p->run(part, 1, argv);
            describe.part = NULL;
        } else if (argc > 1 && !strcmp(argv[1], part->name)) {
            return p->run(part, argc - 1, argv + 1);
        }
        stet_help_similar_try(&s, part->name);
    }
    if (describe.take)
        return STET_EXIT_FINE;
    if (argc > 1 && !help)
        stet_say("stet: no command '%s %s'%s%s%s\n", p->name, argv[1],
                 s.best[0] ? "; did you mean '" : "", s.best, s.best[0] ? "'?" : "");
    list_parts(help ? stdout : stderr, p);
    return help ? STET_EXIT_FINE : STET_EXIT_USAGE;
}

int stet_cli_usage_error(const struct stet_usage *usage, const char *what)
{
    stet_say("stet: %s\nusage: %s\n", what, usage->synopsis);
    return STET_EXIT_USAGE;
}

int stet_cli_complain(const struct stet_err *err)
{
    stet_say_err(err);
    return err->rc == STET_USAGE ? STET_EXIT_USAGE : STET_EXIT_FAILURE;
}

int stet_cli_print(struct stet_buf *out, int exit_code)
{
    if (out->failed) {
        stet_say("stet: out of memory while printing\n");
        exit_code = STET_EXIT_FAILURE;
    } else if (fflush(stdout) != 0 || stet_text_write(STDOUT_FILENO, out) != 0) {
        perror("stet: cannot write to standard output");
        exit_code = STET_EXIT_FAILURE;
    }
    stet_buf_release(out);
    return exit_code;
}
