/* stet show: what is in a program. */
#include "cli/show.h"

#include "program/print.h"

#include <unistd.h>

static const struct stet_usage usage = {
    "stet show [options] FILE",
    "Tells what is in a program: arguments, outputs, operations, constants, the source lines they\n"
    "come from and the blocks that repeat. FILE is MLIR bytecode or text, or an HLO proto or text.",
    "docs/show.md",
};

static enum stet_rc print_program(struct stet_buf *out, const struct stet_loaded *l,
                                  const struct stet_show_options *options, struct stet_err *err)
{
    struct stet_print_options print = {.locations = options->locations};

    return stet_print_program(out, &l->program, &print, err);
}

static enum stet_rc print_summary(struct stet_buf *out, const struct stet_loaded *l,
                                  enum stet_format format, const struct stet_show_options *options,
                                  struct stet_err *err)
{
    struct stet_show s;
    enum stet_rc rc = stet_show_gather(&s, l, err);

    if (rc != STET_OK)
        return rc;
    if (format == STET_FORMAT_JSON)
        stet_show_json(out, &s);
    else
        stet_show_text(out, &s, options);
    stet_show_release(&s);
    return STET_OK;
}

int stet_show_file(const char *path, enum stet_format format,
                   const struct stet_show_options *options)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_loaded l;
    enum stet_rc rc = stet_load_open(&l, path, NULL, &err);

    if (rc != STET_OK)
        return stet_complain(&err);
    rc = options->text ? print_program(&out, &l, options, &err)
                       : print_summary(&out, &l, format, options, &err);
    stet_load_close(&l);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        return stet_complain(&err);
    }
    return stet_print(&out, STET_EXIT_FINE);
}

int cmd_show(int argc, char **argv)
{
    struct stet_show_options show = {0};
    const struct stet_option options[] = {
        {"text", NULL, "print the program as StableHLO text", STET_OPTION_FLAG, &show.text},
        {"locations", NULL, "with --text: keep source locations", STET_OPTION_FLAG,
         &show.locations},
        {"all", NULL, "cut no list", STET_OPTION_FLAG, &show.all},
        {0},
    };
    struct stet_args args;
    int done = stet_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count != 1)
        return stet_usage_error(&usage, "needs one FILE");
    show.colour = args.format == STET_FORMAT_TEXT && stet_colour(STDOUT_FILENO);
    return stet_show_file(args.values[0], args.format, &show);
}
