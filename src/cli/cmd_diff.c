/* stet diff: prints what differs between two programs. */
#include "cli/command.h"
#include "cli/diff_text.h"
#include "cli/rundiff_text.h"
#include "session/named_program.h"
#include "session/rundiff.h"

#include <unistd.h>

static const struct stet_usage usage = {
    "stet diff [options] A B",
    "Prints what differs between two programs: the class of the change, the facets that changed, "
    "and\n"
    "each change with its source line. Names, SSA numbers, locations and the order of independent\n"
    "operations do not count. Of two runs: which of shapes, profile (flags and options), "
    "sharding,\n"
    "branch, bundle and constants changed between them. RUN@N is rank N of a run; @0 @1 are two "
    "ranks\n"
    "of the latest one. Exit 0 when nothing differs, 1 when something does.",
    "diff",
};

static enum stet_rc compare(struct stet_buf *out, const struct stet_diff_view *view, int *code,
                            struct stet_err *err)
{
    struct stet_diff_side a = {&view->a->program, &view->a->fingerprint};
    struct stet_diff_side b = {&view->b->program, &view->b->fingerprint};
    struct stet_diff d;
    enum stet_rc rc = stet_diff_make(&d, &a, &b, err);

    if (rc != STET_OK)
        return rc;
    stet_session_program_compare_options(&d, view->a, view->b);
    *code = d.cause == STET_CAUSE_IDENTICAL ? STET_EXIT_FINE : STET_EXIT_FINDING;
    if (view->format == STET_FORMAT_JSON)
        stet_cli_diff_json(out, &d, view);
    else
        stet_cli_diff_text(out, &d, view);
    stet_diff_release(&d);
    return STET_OK;
}

int cmd_diff(int argc, char **argv)
{
    const char *options_a = NULL, *options_b = NULL;
    struct stet_diff_view view = {0};
    const struct stet_option options[] = {
        {"all", NULL, "list every change, also what follows from another", STET_OPTION_FLAG,
         &view.all},
        {"options-a", "FILE", "compile options (CompileOptionsProto) of A", STET_OPTION_VALUE,
         &options_a},
        {"options-b", "FILE", "compile options of B", STET_OPTION_VALUE, &options_b},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_session_program a, b;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);
    int code = STET_EXIT_FAILURE;

    if (done >= 0)
        return done;
    if (args.count != 2)
        return stet_cli_usage_error(&usage, "needs two programs or two runs, A and B");
    if (!options_a != !options_b)
        return stet_cli_usage_error(&usage, "--options-a and --options-b go together");
    if (stet_rundiff_is_run(args.values[0]) && stet_rundiff_is_run(args.values[1]))
        return stet_cli_rundiff_print(
            args.values[0], args.values[1],
            &(struct stet_rundiff_view){args.format,
                                        stet_text_colour(STDOUT_FILENO),
                                        view.all,
                                        {STET_RUNDIFF_ALL, STET_RUNDIFF_ALL}});
    if (stet_session_program_open(&a, args.values[0], options_a, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (stet_session_program_open(&b, args.values[1], options_b, &err) != STET_OK) {
        stet_session_program_close(&a);
        return stet_cli_complain(&err);
    }
    view.a = &a;
    view.b = &b;
    view.format = args.format;
    view.colour = args.format == STET_FORMAT_TEXT && stet_text_colour(STDOUT_FILENO);
    if (compare(&out, &view, &code, &err) != STET_OK)
        code = stet_cli_complain(&err);
    stet_session_program_close(&a);
    stet_session_program_close(&b);
    return code == STET_EXIT_FAILURE ? (stet_buf_release(&out), code) : stet_cli_print(&out, code);
}
