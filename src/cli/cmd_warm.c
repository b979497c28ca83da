/* stet warm: compiles the programs of earlier runs before the next launch needs them. */
#include "base/fs.h"
#include "base/human.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "launch/child_env.h"
#include "ledger/run_load.h"
#include "store/store.h"
#include "warm/warm.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct stet_usage usage = {
    "stet warm [options] [RUN|LEDGER]",
    "Compiles the programs of a run (the latest one when none is named), or of all runs of a\n"
    "ledger, into the store, in parallel, so that the next launch loads them. With --topology\n"
    "nothing but the compiler is needed: libtpu fills the store on a machine without a TPU.\n"
    "Exit 1 when a program could not be compiled.",
    "warm",
};

struct wishes {
    const char *topology, *target, *store, *plugin, *jobs;
};

enum { JOBS_MAX = 64 };

/* ---- the result ---- */

struct account {
    size_t kept, there, failed;
    uint64_t compile_ns;
};

static const struct stet_compile_event *event_of(const struct stet_run_digest *d,
                                                 const struct stet_warm_item *i)
{
    for (size_t p = 0; p < d->process_count; p++) {
        if (d->processes[p].pid == (uint64_t)i->by && i->order < d->processes[p].compile_count)
            return &d->processes[p].compiles[i->order];
    }
    return NULL;
}

static bool was_kept(const struct stet_warm_item *i, const struct stet_compile_event *c)
{
    return atomic_load(&i->verdict) == STET_WARM_DONE && c && c->stored;
}

static bool was_there(const struct stet_warm_item *i, const struct stet_compile_event *c)
{
    return atomic_load(&i->verdict) == STET_WARM_DONE && c && !c->stored &&
           (c->served || c->outcome == STET_OUTCOME_KEPT_ALREADY);
}

static const char *word_of(const struct stet_warm_item *i, const struct stet_compile_event *c)
{
    switch (atomic_load(&i->verdict)) {
    case STET_WARM_NOT_CAPTURED:
        return "not captured whole (STET_CAPTURE=full captures constants)";
    case STET_WARM_NO_PLUGIN:
        return "its plugin does not come up here";
    case STET_WARM_DONE:
        return was_kept(i, c)    ? "compiled and kept"
               : was_there(i, c) ? "was there"
                                 : "compiled, not kept";
    default:
        return "failed";
    }
}

/* Returns the known remedy for a compiler's message, or NULL. */
static const char *advice_on(const char *detail)
{
    if (strstr(detail, "Failed to get configs") || strstr(detail, "No supported config"))
        return "XLA times these kernels on the device: launch and warm with "
               "XLA_FLAGS=--xla_gpu_enable_triton_gemm=false, or warm where the device is";
    return NULL;
}

/* Counts the programs from `from` to `to` that failed for the same reason as `i`. */
static size_t alike(const struct stet_warm_item *i, const struct stet_warm_item *from,
                    const struct stet_warm_item *to)
{
    size_t n = 0;

    for (; i->detail[0] && from < to; from++)
        n += atomic_load(&from->verdict) == atomic_load(&i->verdict) &&
             !strcmp(from->detail, i->detail);
    return n;
}

static void tell_one(const struct stet_warm_plan *plan, const struct stet_warm_item *i,
                     const struct stet_compile_event *c, struct account *a, struct stet_buf *out,
                     struct stet_json *j)
{
    const char *word = word_of(i, c);
    bool fine = was_kept(i, c), there = was_there(i, c);

    a->kept += fine;
    a->there += there;
    a->failed += !fine && !there;
    a->compile_ns += c && !c->served ? c->plugin_ns : 0;
    if (j) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "program", i->name);
        stet_json_cstr(j, "verdict", word);
        stet_json_cstr(j, "detail", i->detail);
        stet_json_cstr(j, "advice", advice_on(i->detail));
        stet_json_string(j, "store", c ? c->store : (struct stet_view){0});
        stet_json_number(j, "compile_s", c ? (double)c->plugin_ns / 1e9 : 0);
        stet_json_end_object(j);
    } else if (!fine && !there && !alike(i, plan->items, i)) {
        size_t more = alike(i, i + 1, plan->items + plan->count);

        stet_buf_printf(out, "  %s", i->name);
        if (more)
            stet_buf_printf(out, " and %zu more", more);
        stet_buf_printf(out, ": %s%s%s", word, i->detail[0] ? ": " : "", i->detail);
        if (c && c->store.len)
            stet_buf_printf(out, " (%.*s)", STET_FMT(c->store));
        stet_buf_char(out, '\n');
        if (advice_on(i->detail))
            stet_buf_printf(out, "    %s\n", advice_on(i->detail));
    }
}

static int tell(const struct stet_warm_plan *plan, const struct stet_run_digest *d, bool json,
                uint64_t wall_ns)
{
    struct stet_buf out = STET_TEXT_INIT, lines = STET_TEXT_INIT;
    struct account a = {0};
    struct stet_json j;

    if (json) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.warm/1");
        stet_json_cstr(&j, "topology", plan->topology ? plan->topology : "");
        stet_json_array(&j, "programs");
    }
    for (size_t i = 0; i < plan->count; i++)
        tell_one(plan, &plan->items[i], event_of(d, &plan->items[i]), &a, &lines, json ? &j : NULL);
    if (json) {
        stet_json_end_array(&j);
        stet_json_uint(&j, "kept", a.kept);
        stet_json_uint(&j, "present", a.there);
        stet_json_uint(&j, "failed", a.failed);
        stet_json_number(&j, "wall_s", (double)wall_ns / 1e9);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        stet_buf_printf(&out, "%zu of ", a.kept);
        stet_text_count(&out, plan->count, "program");
        stet_buf_printf(&out, " compiled and kept, %zu %s there, ", a.there,
                        a.there == 1 ? "was" : "were");
        stet_text_duration(&out, a.compile_ns);
        stet_buf_str(&out, " of compiling in ");
        stet_text_duration(&out, wall_ns);
        stet_buf_char(&out, '\n');
        stet_buf_view(&out, stet_buf_as_view(&lines));
        if (plan->topology && a.kept + a.there)
            stet_buf_printf(
                &out,
                "compiled for %s without a device: a launch loads them if its client says "
                "the same of itself (stet cache show)\n",
                plan->topology);
    }
    stet_buf_release(&lines);
    return stet_cli_print(&out, a.failed ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

static enum stet_rc set_up(const struct wishes *w, char *layer, const char *state,
                           struct stet_err *err)
{
    char *folder = w->store ? stet_mem_strdup(w->store) : stet_store_default(err);
    enum stet_rc rc =
        folder ? stet_launch_find_library("libstet_plugin.so", layer, PATH_MAX, err) : STET_IO;

    if (rc == STET_OK &&
        (setenv("STET_STORE", folder, 1) != 0 || setenv("STET_DIR", state, 1) != 0))
        rc = stet_fail_errno(err, "cannot set the environment");
    unsetenv("STET_STORE_MODE");
    unsetenv("STET");
    stet_mem_free(folder);
    return rc;
}

/* Parses --jobs. Returns -1 when it is not a number of processes. */
static long jobs_of(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end == text || *end || n < 1 || n > JOBS_MAX ? -1 : n;
}

static int warm(const char *name, const struct wishes *w, bool json)
{
    char layer[PATH_MAX], state[] = "/tmp/stet-warm-XXXXXX";
    struct stet_warm_plan plan = {.layer = layer, .topology = w->topology, .target = w->target};
    long jobs = w->jobs ? jobs_of(w->jobs) : sysconf(_SC_NPROCESSORS_ONLN);
    struct stet_err err = STET_ERR_INIT;
    struct stet_run_digest did;
    struct timespec begin, end;
    struct stet_warm_runs ran = {0};
    enum stet_rc rc = stet_warm_runs_load(&ran, name, &err);
    int code;

    if (rc == STET_OK)
        rc = stet_warm_gather(&plan, &ran, w->plugin, &err);
    if (rc == STET_OK && !mkdtemp(state))
        rc = stet_fail_errno(&err, "%s: cannot make folder", state);
    if (rc == STET_OK)
        rc = set_up(w, layer, state, &err);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (rc == STET_OK)
        stet_warm_work(&plan, jobs < 1 ? 1 : jobs > JOBS_MAX ? JOBS_MAX : (unsigned)jobs);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (rc == STET_OK)
        rc = stet_ledger_run_load(&did, state, &err);
    if (rc == STET_OK) {
        code = tell(
            &plan, &did, json,
            (uint64_t)((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec));
        stet_ledger_run_unload(&did);
    } else {
        code = stet_cli_complain(&err);
    }
    if (!strstr(state, "XXXXXX"))
        stet_fs_remove_tree(state);
    stet_warm_runs_unload(&ran);
    return code;
}

int cmd_warm(int argc, char **argv)
{
    struct wishes w = {0};
    const struct stet_option options[] = {
        {"topology", "T", "compile for this topology, without a device: v6e:2x4, 1x1x1",
         STET_OPTION_VALUE, &w.topology},
        {"target", "FILE",
         "CUDA: the device to compile for, if not the run's own: GpuTargetConfigProto as text",
         STET_OPTION_VALUE, &w.target},
        {"plugin", "FILE", "this plugin instead of the one the run had", STET_OPTION_VALUE,
         &w.plugin},
        {"jobs", "N", "number of processes (default: one per processor)", STET_OPTION_VALUE,
         &w.jobs},
        {"store", "FOLDER", "this store instead of the default one", STET_OPTION_VALUE, &w.store},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "warms for one run at a time");
    if (w.jobs && jobs_of(w.jobs) < 0)
        return stet_cli_usage_error(&usage, "--jobs is a number of processes, 1 to 64");
    if (w.target && !w.topology)
        return stet_cli_usage_error(&usage, "--target needs --topology, as 1x1x1");
    return warm(args.count ? args.values[0] : NULL, &w, args.format == STET_FORMAT_JSON);
}
