/* Option tables, --help, error messages and colour, which all commands share. */
#include "cli/command.h"

#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_row(const char *name, const char *operand, const char *help)
{
    char left[64];

    if (name[1])
        snprintf(left, sizeof left, "--%s%s%s", name, operand ? "=" : "", operand ? operand : "");
    else
        snprintf(left, sizeof left, "-%s%s%s", name, operand ? " " : "", operand ? operand : "");
    printf("  %-24s %s\n", left, help);
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
        complain_usage(usage, "unknown option", argv[i]);
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
    *args = (struct stet_args){.values = argv + 1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--") || (stop_at_positional && argv[i][0] != '-')) {
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
