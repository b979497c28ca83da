/* stet fit: asks the compiler of a topology about a command's programs before the topology is
 * there. */
#include "base/fs.h"
#include "base/stop.h"
#include "cli/command.h"
#include "contract/contract_run.h"
#include "fit/fit_text.h"
#include "warm/patience.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct stet_usage usage = {
    "stet fit --topology T [options] [RUN | -- COMMAND…]",
    "Runs COMMAND with the devices of a topology on the embedded CPU backend, or takes the\n"
    "programs of a finished run; compiles each program with the real compiler (libtpu, CUDA),\n"
    "which needs no device; and says whether they fit into its memory, what takes the memory by\n"
    "line, what a step costs at least, and how long compiling takes. The executables go into the\n"
    "store. Exit 1 when it does not fit.",
    "fit",
};

/* "16G", "31.2 GB", "16909328384"; 0 if it is none of these. G is 2^30. */
static uint64_t bytes_of(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double n = strtod(text, &end);
    const char *unit;

    if (end == text || n <= 0)
        return 0;
    while (*end == ' ')
        end++;
    unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        n *= 1024;
    end += unit != NULL;
    if (!strcmp(end, "iB") || !strcmp(end, "B"))
        end = strchr(end, '\0');
    return *end || n > 1e18 ? 0 : (uint64_t)n;
}

static int fit(const struct stet_fit_options *o, enum stet_format format, bool all)
{
    struct stet_buf out = STET_TEXT_INIT, json = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_fit f;
    int code;

    if (stet_fit_run(&f, o, &err) != STET_OK) {
        code = stet_cli_complain(&err);
    } else if (format == STET_FORMAT_JSON) {
        stet_fit_json(&json, &f);
        code = stet_cli_print(&json, stet_fit_is_fine(&f) ? STET_EXIT_FINE : STET_EXIT_FINDING);
    } else {
        stet_fit_text(&out, &f, all, stet_text_colour(STDOUT_FILENO));
        code = stet_cli_print(&out, stet_fit_is_fine(&f) ? STET_EXIT_FINE : STET_EXIT_FINDING);
    }
    stet_fit_release(&f);
    return code;
}

/* ---- several values ---- */

static void tell_try(void *context, const struct stet_fit_search *s, const struct stet_fit_try *t)
{
    struct stet_buf out = STET_TEXT_INIT;

    (void)context;
    stet_fit_try_text(&out, s, t);
    stet_say_text(&out);
    stet_buf_release(&out);
}

/* The fit of the value that was found, with everything; a sweep is its table. */
static int search(const struct stet_fit_options *o, const char *text, bool sweep,
                  enum stet_format format, bool all)
{
    struct stet_fit_search s;
    struct stet_buf out = STET_TEXT_INIT, json = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_fit f;
    bool fitted = false;
    int code;

    if (stet_fit_search_parse(&s, text, sweep, &err) != STET_OK)
        return stet_cli_complain(&err);
    s.tell = tell_try;
    if (stet_fit_search_run(&s, o, &err) != STET_OK ||
        (!sweep && stet_fit_search_settle(&s, o, &f, &fitted, &err) != STET_OK))
        return stet_cli_complain(&err);
    code = s.found && (!fitted || stet_fit_is_fine(&f)) ? STET_EXIT_FINE : STET_EXIT_FINDING;
    if (format == STET_FORMAT_JSON) {
        stet_fit_search_json(&json, &s, fitted ? &f : NULL);
        code = stet_cli_print(&json, code);
    } else {
        stet_fit_search_text(&out, &s, fitted ? &f : NULL, all, stet_text_colour(STDOUT_FILENO));
        code = stet_cli_print(&out, code);
    }
    if (fitted)
        stet_fit_release(&f);
    return code;
}

/* A finished run, or what is behind "--". False if it is both. */
static bool take_subject(struct stet_fit_options *o, const struct stet_args *args)
{
    if (args->behind < 0) {
        o->run = args->count ? args->values[0] : NULL;
        return args->count <= 1;
    }
    if (args->behind > 0 || args->count == 0)
        return false;
    args->values[args->count] = NULL;
    o->command = args->values;
    return true;
}

/* Options that are read after all of them are there. */
struct texts {
    const char *jobs, *memory, *range, *values, *timeout;
};

/* Why the options cannot be used together or as they are; NULL if they can. */
static const char *read_texts(struct stet_fit_options *o, const struct texts *t,
                              const struct stet_args *args)
{
    if (!o->topology)
        return "--topology is missing: v6e:2x4, for example";
    if (!take_subject(o, args))
        return "takes one run, or a command behind --";
    if (o->zeros && !o->command)
        return "--zeros is for a command; the run is finished";
    if (t->memory && !(o->memory = bytes_of(t->memory)))
        return "--memory is a size such as 31.2G";
    if (!o->contract && stet_fs_exists(STET_CONTRACT_FILE))
        o->contract = STET_CONTRACT_FILE;
    o->jobs = stet_warm_jobs(t->jobs);
    if (!o->jobs)
        return "--jobs is a number of processes, 1 to 64";
    if (!stet_warm_limit(t->timeout, &o->limit_ns))
        return "--timeout is a time such as 90s or 10m";
    if ((t->range || t->values) && !o->command)
        return "--search and --sweep need a command behind --";
    if (t->range && t->values)
        return "either --search or --sweep";
    return NULL;
}

int cmd_fit(int argc, char **argv)
{
    struct stet_fit_options o = {0};
    struct texts t = {0};
    const char *wrong;
    bool all = false;
    int code;
    const struct stet_option options[] = {
        {"topology", "T", "the devices: v6e:2x4, v5p:8x8x16, tpu7x:2x2x1; 1x8x1 with --target",
         STET_OPTION_VALUE, &o.topology},
        {"zeros", NULL, "do not compute: for models that this machine could not run",
         STET_OPTION_FLAG, &o.zeros},
        {"quick", NULL, "generate no code: memory and costs in a tenth of the time (libtpu)",
         STET_OPTION_FLAG, &o.quick},
        {"lines", NULL,
         "also measure compile time by line and by repeated block, which takes longer",
         STET_OPTION_FLAG, &o.lines},
        {"search", "NAME=A..B", "the largest value of an argument or variable that fits",
         STET_OPTION_VALUE, &t.range},
        {"sweep", "NAME=A..B|A,B…", "a table of such values", STET_OPTION_VALUE, &t.values},
        {"target", "GPU|FILE", "CUDA: the device, \"H100 80GB HBM3\", or its GpuTargetConfigProto",
         STET_OPTION_VALUE, &o.target},
        {"plugin", "FILE", "this compiler instead of the one that the command's Python has",
         STET_OPTION_VALUE, &o.plugin},
        {"memory", "SIZE", "what a device has, instead of what its plugin says: 31.2G",
         STET_OPTION_VALUE, &t.memory},
        {"contract", "FILE", "also check the run against this contract", STET_OPTION_VALUE,
         &o.contract},
        {"jobs", "N", "number of processes (default: one per processor)", STET_OPTION_VALUE,
         &t.jobs},
        {"timeout", "TIME", "give up a program that takes longer: 90s, 10m, 2h", STET_OPTION_VALUE,
         &t.timeout},
        {"store", "FOLDER", "this store instead of the default one", STET_OPTION_VALUE, &o.store},
        {"no-store", NULL, "keep no executables", STET_OPTION_FLAG, &o.no_store},
        {"all", NULL, "list every program", STET_OPTION_FLAG, &all},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    wrong = read_texts(&o, &t, &args);
    if (wrong)
        return stet_cli_usage_error(&usage, wrong);
    stet_stop_catch();
    code = t.range || t.values
               ? search(&o, t.range ? t.range : t.values, t.values != NULL, args.format, all)
               : fit(&o, args.format, all);
    stet_stop_obey();
    return code;
}
