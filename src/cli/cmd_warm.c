/* stet warm: compiles the programs of earlier runs before the next launch needs them. */
#include "base/human.h"
#include "base/json.h"
#include "base/stop.h"
#include "cli/command.h"
#include "warm/patience.h"
#include "warm/warm_run.h"

static const struct stet_usage usage = {
    "stet warm [options] [RUN|LEDGER]",
    "Compiles the programs of a run (the latest one when none is named), or of all runs of a\n"
    "ledger, into the store, in parallel, so that the next launch loads them. With --topology\n"
    "nothing but the compiler is needed: libtpu fills the store on a machine without a TPU.\n"
    "Exit 1 when a program could not be compiled.",
    "warm",
};

/* ---- the result ---- */

struct account {
    size_t kept, there, failed;
    uint64_t compile_ns;
};

static const char *word_of(enum stet_warm_end end)
{
    static const char *const words[] = {
        [STET_WARM_END_KEPT] = "compiled and kept",
        [STET_WARM_END_PRESENT] = "was there",
        [STET_WARM_END_NOT_KEPT] = "compiled, not kept",
        [STET_WARM_END_NOT_CAPTURED] = "not captured whole (STET_CAPTURE=full captures constants)",
        [STET_WARM_END_NO_PLUGIN] = "its plugin does not start here",
        [STET_WARM_END_FAILED] = "failed",
    };

    return words[end];
}

static void tell_one(const struct stet_warm_plan *plan, const struct stet_warm_item *i,
                     const struct stet_compile_event *c, struct account *a, struct stet_buf *out,
                     struct stet_json *j)
{
    enum stet_warm_end end = stet_warm_run_end(i, c);
    const char *word = word_of(end), *advice = stet_warm_run_advice(i->detail);
    bool fine = end == STET_WARM_END_KEPT, there = end == STET_WARM_END_PRESENT;

    a->kept += fine;
    a->there += there;
    a->failed += !fine && !there;
    a->compile_ns += c && !c->served ? c->plugin_ns : 0;
    if (j) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "program", i->name);
        stet_json_cstr(j, "verdict", word);
        stet_json_cstr(j, "detail", i->detail);
        stet_json_cstr(j, "advice", advice);
        stet_json_string(j, "store", c ? c->store : (struct stet_view){0});
        stet_json_number(j, "compile_s", c ? (double)c->plugin_ns / 1e9 : 0);
        stet_json_end_object(j);
    } else if (!fine && !there && !stet_warm_run_alike(i, plan->items, i)) {
        size_t more = stet_warm_run_alike(i, i + 1, plan->items + plan->count);

        stet_buf_printf(out, "  %s", i->name);
        if (more)
            stet_buf_printf(out, " and %zu more", more);
        stet_buf_printf(out, ": %s%s%s", word, i->detail[0] ? ": " : "", i->detail);
        if (c && c->store.len)
            stet_buf_printf(out, " (%.*s)", STET_FMT(c->store));
        stet_buf_char(out, '\n');
        if (advice)
            stet_buf_printf(out, "    %s\n", advice);
    }
}

static int tell(const struct stet_warm_run *w, bool json)
{
    const struct stet_warm_plan *plan = &w->plan;
    struct stet_buf out = STET_TEXT_INIT, lines = STET_TEXT_INIT;
    struct account a = {0};
    struct stet_json j;

    if (json) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.warm/1");
        stet_json_cstr(&j, "topology", plan->topology.name ? plan->topology.name : "");
        stet_json_array(&j, "programs");
    }
    for (size_t i = 0; i < plan->count; i++)
        tell_one(plan, &plan->items[i], stet_warm_run_event(w, &plan->items[i]), &a, &lines,
                 json ? &j : NULL);
    if (json) {
        stet_json_end_array(&j);
        stet_json_uint(&j, "kept", a.kept);
        stet_json_uint(&j, "present", a.there);
        stet_json_uint(&j, "failed", a.failed);
        stet_json_number(&j, "wall_s", (double)w->wall_ns / 1e9);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        stet_buf_printf(&out, "%zu of ", a.kept);
        stet_text_count(&out, plan->count, "program");
        stet_buf_printf(&out, " compiled and kept, %zu %s there, ", a.there,
                        a.there == 1 ? "was" : "were");
        stet_text_duration(&out, a.compile_ns);
        stet_buf_str(&out, " of compiling in ");
        stet_text_duration(&out, w->wall_ns);
        stet_buf_char(&out, '\n');
        stet_buf_view(&out, stet_buf_as_view(&lines));
        if (plan->topology.name && a.kept + a.there)
            stet_buf_printf(&out,
                            "compiled for %s without a device: a launch loads them if its client "
                            "describes the same topology (stet cache show)\n",
                            plan->topology.name);
    }
    stet_buf_release(&lines);
    return stet_cli_print(&out, a.failed ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

static int warm(const char *name, const struct stet_warm_options *o, bool json)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_warm_run w;
    int code;

    stet_stop_catch();
    code = stet_warm_run(&w, name, o, &err) == STET_OK ? tell(&w, json) : stet_cli_complain(&err);

    stet_warm_run_release(&w);
    stet_stop_obey();
    return code;
}

int cmd_warm(int argc, char **argv)
{
    struct stet_warm_options w = {0};
    const char *jobs = NULL, *timeout = NULL;
    const struct stet_option options[] = {
        {"topology", "T", "compile for this topology, without a device: v6e:2x4, 1x1x1",
         STET_OPTION_VALUE, &w.topology},
        {"target", "FILE",
         "CUDA: the device to compile for, if not the run's own: GpuTargetConfigProto as text",
         STET_OPTION_VALUE, &w.target},
        {"plugin", "FILE", "this plugin instead of the one the run had", STET_OPTION_VALUE,
         &w.plugin},
        {"jobs", "N", "number of processes (default: one per processor)", STET_OPTION_VALUE, &jobs},
        {"timeout", "TIME", "give up a program that takes longer: 90s, 10m, 2h", STET_OPTION_VALUE,
         &timeout},
        {"store", "FOLDER", "this store instead of the default one", STET_OPTION_VALUE, &w.store},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "warms for one run at a time");
    w.jobs = stet_warm_jobs(jobs);
    if (!w.jobs)
        return stet_cli_usage_error(&usage, "--jobs is a number of processes, 1 to 64");
    if (!stet_warm_limit(timeout, &w.limit_ns))
        return stet_cli_usage_error(&usage, "--timeout is a time such as 90s or 10m");
    if (w.target && !w.topology)
        return stet_cli_usage_error(&usage, "--target needs --topology, as 1x1x1");
    return warm(args.count ? args.values[0] : NULL, &w, args.format == STET_FORMAT_JSON);
}
