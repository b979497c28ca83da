/* stet show: prints what is in a program or a run. */
#include "cli/show.h"

#include "base/text.h"
#include "cli/run_text.h"
#include "ledger/run_steps.h"
#include "legalize/hlo_to_stablehlo.h"
#include "program/ops.h"
#include "program/print.h"
#include "session/run_json.h"

#include <sys/stat.h>
#include <unistd.h>

static const struct stet_usage usage = {
    "stet show [options] [RUN|PROGRAM|FILE]",
    "Prints what a run did (default: the latest one): its processes, plugins, "
    "compiles\n"
    "and the lines that waited for them. Or what is in a program: arguments, outputs, operations,\n"
    "constants, the source lines they come from and the blocks that repeat. PROGRAM is the hash "
    "of\n"
    "a captured one, or a prefix of it; FILE is MLIR bytecode or text, or an HLO proto or text, "
    "or\n"
    "- for standard input.",
    "show",
};

/* Prints StableHLO in any case; HLO is converted first. */
static enum stet_rc print_program(struct stet_buf *out, const struct stet_session_program *l,
                                  const struct stet_show_options *options, struct stet_err *err)
{
    struct stet_print_options print = {.locations = options->locations};
    struct stet_program p;
    enum stet_rc rc;

    if (!l->program.module || l->program.module->known != STET_HLO_MODULE)
        return stet_print_program(out, &l->program, &print, err);
    rc = stet_legalize_hlo(&p, &l->program, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_print_program(out, &p, &print, err);
    stet_program_release(&p);
    return rc;
}

static enum stet_rc print_summary(struct stet_buf *out, const struct stet_session_program *l,
                                  enum stet_format format, const struct stet_show_options *options,
                                  struct stet_err *err)
{
    struct stet_session_stats s;
    enum stet_rc rc = stet_session_stats_gather(&s, l, err);

    if (rc != STET_OK)
        return rc;
    if (format == STET_FORMAT_JSON)
        stet_session_stats_json(out, &s);
    else
        stet_cli_show_text(out, &s, options);
    stet_session_stats_release(&s);
    return STET_OK;
}

int stet_cli_show_file(const char *path, enum stet_format format,
                       const struct stet_show_options *options)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_session_program l;
    enum stet_rc rc = stet_session_program_open(&l, path, NULL, &err);

    if (rc != STET_OK)
        return stet_cli_complain(&err);
    rc = options->text ? print_program(&out, &l, options, &err)
                       : print_summary(&out, &l, format, options, &err);
    stet_session_program_close(&l);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        return stet_cli_complain(&err);
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}

/* `stet show RUN`. STET_NOT_FOUND when there is no run of that name. */
static enum stet_rc show_run(const char *name, enum stet_format format, bool text, bool colour,
                             int *code, struct stet_err *err)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_run_digest digest;
    const struct stet_run *run;
    struct stet_runs runs;
    enum stet_rc rc = stet_ledger_runs_open_at(&runs, name, &run, err);

    if (rc != STET_OK)
        return rc;
    if (text)
        rc =
            stet_fail(err, STET_USAGE,
                      "--text prints a program, and %s is a run; `stet show %s` lists its programs",
                      run->id, run->id);
    else
        rc = stet_ledger_run_load(&digest, run->folder, err);
    if (rc == STET_OK) {
        stet_ledger_run_steps(&digest, run->folder, NULL); /* the rest is shown without them */
        if (format == STET_FORMAT_JSON)
            stet_session_run_json(&out, run, &digest);
        else
            stet_cli_show_run_text(&out, run, &digest, colour);
        stet_ledger_run_unload(&digest);
        *code = stet_cli_print(&out, STET_EXIT_FINE);
    }
    stet_ledger_runs_close(&runs);
    return rc;
}

static bool is_file(const char *name)
{
    struct stat st;

    return !strcmp(name, "-") || (stat(name, &st) == 0 && !S_ISDIR(st.st_mode));
}

int cmd_show(int argc, char **argv)
{
    struct stet_show_options show = {0};
    const struct stet_option options[] = {
        {"text", NULL, "print the program as StableHLO text", STET_OPTION_FLAG, &show.text},
        {"locations", NULL, "with --text: keep source locations", STET_OPTION_FLAG,
         &show.locations},
        {"all", NULL, "print all lists in full", STET_OPTION_FLAG, &show.all},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    const char *name;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "shows one thing at a time");
    if (show.text && args.format == STET_FORMAT_JSON)
        return stet_cli_usage_error(&usage, "--text prints StableHLO, which is not JSON");
    if (show.locations && !show.text)
        return stet_cli_usage_error(&usage, "--locations goes with --text");
    name = args.count ? args.values[0] : NULL;
    show.colour = args.format == STET_FORMAT_TEXT && stet_text_colour(STDOUT_FILENO);
    if (name && is_file(name))
        return stet_cli_show_file(name, args.format, &show);
    switch (show_run(name, args.format, show.text, show.colour, &done, &err)) {
    case STET_OK:
        return done;
    case STET_NOT_FOUND:
        if (name) /* a captured program; otherwise the message names what was not found */
            return stet_cli_show_file(name, args.format, &show);
        /* fall through */
    default:
        return stet_cli_complain(&err);
    }
}
