/* stet run: runs the command with the layer in every process it starts. */
#include "cli/account_text.h"
#include "cli/cache.h"
#include "cli/command.h"
#include "cli/divergence_text.h"

#include "base/duration.h"
#include "bundle/gather_run.h"
#include "cli/ranks_text.h"
#include "cli/run_text.h"
#include "contract/follow.h"
#include "launch/agent_start.h"
#include "launch/cpu.h"
#include "launch/run_start.h"
#include "launch/torch_learn.h"
#include "launch/xla_dump_flags.h"
#include "monitor/live.h"
#include "monitor/publish.h"
#include "monitor/rank_beacon.h"
#include "monitor/torch_follow.h"
#include "session/framework_logs.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct run {
    struct stet_launch_run on_disk;
    struct stet_live *live; /* NULL when nothing is reported during the run */
    struct stet_monitor_torch *torch;
    struct stet_learn *learn;                /* NULL without --torch-fix */
    struct stet_contract_follower *contract; /* NULL without --contract */
    pid_t recorder;                          /* records the bundle, beside the command */
    struct stet_monitor_publisher *metrics;  /* NULL without metrics options */
    struct stet_hang *hang;                  /* NULL without --hang-after */
    struct stet_beacon *beacon;              /* for other hosts */
};

/* The options of the command line. */
struct wishes {
    bool quiet, xla_dump, torch_fix, no_store, lift;
    bool zeros;      /* programs are not computed */
    bool strict;     /* no program runs on XLA's CPU client instead */
    bool brief;      /* print no recompiles, and one line at the end */
    const char *cpu; /* NULL: not on the backend; else how many devices, or "" */
    const char *json_events, *contract, *on_breach, *on_divergence, *metrics_port, *metrics_host,
        *metrics_file, *format, *hang_after;
    unsigned hang_s;
};

enum { LIVE_MS = 250 };

/* Searches for processes without a journal, at growing intervals, and reads the journals often. */
static void follow(struct run *r, char *const *environment)
{
    int wait = 20, until = 20;

    while (!stet_launch_child_wait(&r->on_disk.child, r->live && wait > LIVE_MS ? LIVE_MS : wait)) {
        stet_live_poll(r->live, false);
        stet_monitor_torch_poll(r->torch, false);
        stet_monitor_torch_ranks(r->torch, r->live);
        stet_bundle_follow(&r->recorder, r->on_disk.folder, r->on_disk.argv, environment);
        stet_cli_hang_poll(r->hang);
        stet_monitor_beacon_poll(r->beacon);
        stet_monitor_publish_poll(r->metrics, r->live, stet_monitor_torch_model(r->torch), false);
        until -= r->live && wait > LIVE_MS ? LIVE_MS : wait;
        if (until > 0)
            continue;
        stet_launch_watch_sample(&r->on_disk.watch, r->on_disk.child.pid);
        wait = wait < 1000 ? wait * 2 : 2000;
        until = wait;
    }
    stet_live_poll(r->live, true);
    stet_monitor_torch_poll(r->torch, true);
    stet_monitor_torch_ranks(r->torch, r->live);
    stet_monitor_publish_poll(r->metrics, r->live, stet_monitor_torch_model(r->torch), true);
}

/* Applies settings for torch.compile learnt from earlier runs. A failure here does not fail the
 * run. */
static void learn(struct run *r, struct stet_launch_env *env)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_err err = STET_ERR_INIT;

    r->learn = stet_launch_learn_new(r->on_disk.argv, &err);
    if (!r->learn || stet_launch_learn_apply(r->learn, env, &out, &err) != STET_OK)
        stet_cli_complain(&err);
    if (out.len)
        stet_say_text(&out);
    stet_buf_release(&out);
}

/* If the port is in use, that is printed and the command runs. An invalid port is refused before
 * the command starts. */
static enum stet_rc start_metrics(struct run *r, const struct wishes *w, struct stet_live_tap *tap,
                                  struct stet_err *err)
{
    const struct stet_monitor_publish_options options = {
        .port = w->metrics_port,
        .file = w->metrics_file,
        .names = w->metrics_host,
        .run = r->on_disk.id,
        .started_ns = stet_launch_run_ns(r->on_disk.started),
        .quiet = w->quiet,
    };

    if (!w->metrics_port && !w->metrics_file)
        return STET_OK;
    return stet_monitor_publish_start(&r->metrics, &options, tap, err);
}

/* Explaining thousands of compiles takes longer than the tests that made them, so `stet test`
 * leaves it to `stet explain`. */
static enum stet_rc start_live(struct run *r, const struct wishes *w, struct stet_live_tap *tap,
                               struct stet_err *err)
{
    bool says = !w->quiet && !w->brief;

    if (says) {
        tap->say = stet_cli_account_say;
        tap->differ = stet_cli_divergence_say;
    }
    return stet_live_new(&r->live, r->on_disk.folder, r->on_disk.id, w->json_events,
                         r->metrics || says ? tap : NULL, err);
}

static void summary(const struct run *r, const struct wishes *w)
{
    const struct stet_run_end end = {
        .cpu = w->cpu != NULL,
        .zeros = w->zeros,
        .brief = w->brief,
        .torch = stet_monitor_torch_compiled(r->torch),
        .status = r->on_disk.child.status,
    };

    stet_cli_run_summary(r->on_disk.folder, r->on_disk.id, &r->on_disk.watch, &end);
}

static int complain_of_start(const struct stet_err *why, bool no_folder)
{
    int code = stet_cli_complain(why);

    if (no_folder)
        stet_say("stet: set STET_STATE_DIR to a folder that can be written\n");
    return code;
}

/* Fail open: a training job must not die because a log folder is full. */
static int run_without_layer(const struct run *r, const struct stet_err *why, bool no_folder)
{
    struct stet_err err = STET_ERR_INIT;

    complain_of_start(why, no_folder);
    stet_say("stet: running the command without the layer\n");
    execvp(r->on_disk.argv[0], r->on_disk.argv);
    stet_fail_errno(&err, "cannot run %s", r->on_disk.argv[0]);
    stet_cli_complain(&err);
    return 127;
}

static bool ended_well(const struct run *r)
{
    return WIFEXITED(r->on_disk.child.status) && !WEXITSTATUS(r->on_disk.child.status);
}

/* Until the command ends. */
static void watch_command(struct run *r, const struct wishes *w, const struct stet_launch_env *env)
{
    stet_session_logs_note(r->on_disk.folder);
    stet_launch_watch_init(&r->on_disk.watch, STET_LAUNCH_LAYER);
    r->torch = stet_monitor_torch_start(r->on_disk.trace, w->quiet || w->brief);
    if (r->on_disk.own_trace)
        stet_monitor_torch_foreign(r->torch, r->on_disk.links);
    stet_monitor_torch_printed(r->torch, stet_launch_env_get(env, "TORCH_LOGS_OUT"),
                               r->on_disk.links);
    stet_monitor_torch_differ(r->torch, stet_cli_divergence_say);
    if (w->json_events)
        stet_monitor_torch_events(r->torch, r->live);
    stet_monitor_torch_learn(r->torch, r->learn, r->on_disk.folder);
    r->hang = w->hang_s ? stet_cli_hang_new(r->on_disk.id, w->hang_s) : NULL;
    r->beacon = stet_monitor_beacon_new(r->on_disk.id, r->on_disk.folder);
    follow(r, env->vars);
}

/* Closes and prints what the run recorded. True if it broke its contract. */
static bool finish(struct run *r, const struct wishes *w, struct stet_launch_env *env)
{
    struct stet_err err = STET_ERR_INIT;
    bool broken;

    stet_cli_hang_free(r->hang);
    stet_monitor_beacon_free(r->beacon);
    stet_monitor_torch_events(r->torch, NULL);
    stet_monitor_publish_end(r->metrics);
    r->metrics = NULL;
    r->on_disk.metrics = NULL;
    stet_live_free(r->live);
    stet_launch_dump_tidy(r->on_disk.folder);
    clock_gettime(CLOCK_REALTIME, &r->on_disk.ended);
    stet_bundle_follow(&r->recorder, r->on_disk.folder, r->on_disk.argv, env->vars);
    stet_bundle_wait(r->recorder);
    stet_cli_cache_tidy(stet_launch_env_get(env, "STET_STORE"));
    stet_launch_env_release(env);
    r->on_disk.over = true;
    if (stet_launch_run_write(&r->on_disk, &err) != STET_OK)
        stet_cli_complain(&err);
    if (!w->quiet)
        summary(r, w);
    if (!w->quiet)
        stet_launch_agent_report(r->on_disk.id);
    stet_monitor_torch_end(r->torch, ended_well(r));
    stet_cli_divergence_sum();
    stet_launch_learn_free(r->learn);
    stet_launch_watch_release(&r->on_disk.watch);
    broken = r->contract && stet_contract_follow_end(r->contract, r->on_disk.folder);
    stet_contract_follow_free(r->contract);
    return broken;
}

/* Fills the environment of the command, in a run folder that exists. */
static enum stet_rc prepare(struct run *r, const struct wishes *w, struct stet_launch_env *env,
                            struct stet_err *err)
{
    const struct stet_launch_cpu_options cpu = {w->cpu, w->zeros, w->strict};
    enum stet_rc rc = stet_launch_env_init(env, err);

    if (rc == STET_OK)
        rc = stet_launch_run_prepare(&r->on_disk, env, w->no_store || w->zeros, w->lift, err);
    if (rc == STET_OK && w->on_divergence)
        rc = stet_launch_env_set(env, "STET_ON_DIVERGENCE", w->on_divergence, err);
    if (rc == STET_OK && w->cpu)
        rc = stet_launch_cpu(env, r->on_disk.folder, &cpu, err);
    return rc;
}

/* The command is not started: nothing of the run stays. */
static void give_up(struct run *r, struct stet_launch_env *env)
{
    stet_launch_env_release(env);
    stet_monitor_publish_end(r->metrics);
    stet_launch_run_forget(&r->on_disk);
}

static int run(struct run *r, const struct wishes *w)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_live_tap tap = {0};
    struct stet_launch_env env = {0};
    enum stet_rc rc = stet_ledger_run_new(r->on_disk.folder, sizeof r->on_disk.folder,
                                          r->on_disk.id, &r->on_disk.started, &err);
    bool no_folder = rc != STET_OK;

    if (rc == STET_OK)
        rc = prepare(r, w, &env, &err);
    if (rc != STET_OK && w->cpu) {
        /* This does not fail open: without the backend the command would run on another device than
         * requested. */
        if (!no_folder)
            give_up(r, &env);
        return complain_of_start(&err, no_folder);
    }
    if (rc != STET_OK)
        return run_without_layer(r, &err, no_folder);
    if (r->contract &&
        !stet_contract_follow_launch(r->contract, &env, r->on_disk.folder, w->cpu != NULL, &err)) {
        give_up(r, &env);
        stet_cli_complain(&err);
        return STET_EXIT_FINDING;
    }
    if (stet_launch_dump_prepare(&env, r->on_disk.folder, w->xla_dump, &err) != STET_OK) {
        stet_cli_complain(&err); /* less is recorded then; the command is not affected */
        err = (struct stet_err)STET_ERR_INIT;
    }
    if (start_metrics(r, w, &tap, &err) != STET_OK || start_live(r, w, &tap, &err) != STET_OK) {
        give_up(r, &env);
        return stet_cli_complain(&err);
    }
    if (r->contract)
        stet_contract_follow_live(r->contract, r->live);
    if (w->torch_fix)
        learn(r, &env);
    stet_launch_agent(&env);
    r->on_disk.metrics = stet_monitor_publish_address(r->metrics);
    stet_launch_run_write(&r->on_disk, NULL);
    rc = stet_launch_child_start(&r->on_disk.child, r->on_disk.argv, env.vars, &err);
    if (rc != STET_OK) {
        stet_cli_complain(&err);
        give_up(r, &env);
        return rc == STET_NOT_FOUND ? 127 : 126;
    }
    stet_launch_run_write(&r->on_disk, NULL);
    watch_command(r, w, &env);
    if (finish(r, w, &env) && ended_well(r))
        return STET_EXIT_FINDING; /* violations found only at the end */
    stet_launch_child_end_alike(&r->on_disk.child);
}

/* At least a second, at most a week. */
static bool parse_seconds(const char *text, unsigned *out)
{
    uint32_t ms;

    if (!stet_duration_read(text, STET_DURATION_S, 7u * 24 * 3600 * 1000, &ms) || ms < 1000)
        return false;
    *out = ms / 1000;
    return true;
}

/* The command is what the options leave. False if there is none. */
static bool take_command(struct run *r, struct stet_args *args)
{
    if (args->count == 0)
        return false;
    args->values[args->count] = NULL;
    r->on_disk.argv = args->values;
    return true;
}

/* Why the options cannot be used together or as they are; NULL if they can. */
static const char *check_wishes(struct wishes *w)
{
    if (w->format)
        return "--format does not apply to what the command prints; use --json-events=FILE";
    if (w->hang_after && !parse_seconds(w->hang_after, &w->hang_s))
        return "--hang-after is a time such as 60s or 10m";
    if (w->cpu && !stet_launch_cpu_devices_ok(w->cpu))
        return "--cpu=N takes a number of devices from 1 to 32768";
    if (w->zeros && !w->cpu)
        return "--zeros needs --cpu";
    if (w->strict && !w->cpu)
        return "--strict needs --cpu";
    if (w->on_breach && !w->contract)
        return "--on-breach needs --contract";
    if (w->on_divergence && strcmp(w->on_divergence, "warn") != 0 &&
        strcmp(w->on_divergence, "fail") != 0 && strcmp(w->on_divergence, "off") != 0)
        return "--on-divergence is warn, fail or off";
    return NULL;
}

static const struct stet_usage run_usage = {
    "stet run [options] -- COMMAND [argument…]",
    "Runs COMMAND with Stet's layer between its framework and the compiler plugin, in every\n"
    "process it starts. Nothing in COMMAND changes: standard input and output, the terminal,\n"
    "signals and the exit code are its own. The recorded run is listed by `stet runs`; see\n"
    "`stet explain` and `stet show`.",
    "run",
};

static int checked_run(struct wishes *w, struct stet_args *args)
{
    static struct run r;
    struct stet_err err = STET_ERR_INIT;
    const char *wrong = check_wishes(w);

    if (wrong)
        return stet_cli_usage_error(&run_usage, wrong);
    if (!take_command(&r, args))
        return stet_cli_usage_error(&run_usage, "no command to run");
    if (w->contract &&
        stet_contract_follow_open(&r.contract, w->contract, w->on_breach, &err) != STET_OK) {
        stet_cli_complain(&err);
        return STET_EXIT_USAGE;
    }
    return run(&r, w);
}

int cmd_run(int argc, char **argv)
{
    struct wishes w = {0};
    const struct stet_option options[] = {
        {"cpu", "[=N]", "run on the embedded CPU backend, with N devices (default 1)",
         STET_OPTION_MAYBE, &w.cpu},
        {"zeros", NULL, "with --cpu: compute nothing, every result is zeros of the right shape",
         STET_OPTION_FLAG, &w.zeros},
        {"strict", NULL,
         "with --cpu: fail programs that the backend cannot run; do not use XLA's CPU client",
         STET_OPTION_FLAG, &w.strict},
        {"xla-dump", NULL, "also dump programs through XLA_FLAGS (automatic for CPU clients)",
         STET_OPTION_FLAG, &w.xla_dump},
        {"torch-fix", NULL, "apply the torch.compile settings that earlier runs showed to help",
         STET_OPTION_FLAG, &w.torch_fix},
        {"quiet", NULL, "print no recompiles and no summary", STET_OPTION_FLAG, &w.quiet},
        {"contract", "FILE", "hold the run to a contract: flags at launch, every compile",
         STET_OPTION_VALUE, &w.contract},
        {"on-breach", "warn|fail", "fail: a compile that breaks it gets an error (default warn)",
         STET_OPTION_VALUE, &w.on_breach},
        {"on-divergence", "warn|fail|off",
         "ranks compile different programs: print it (default), refuse the compile, or ignore it",
         STET_OPTION_VALUE, &w.on_divergence},
        {"json-events", "FILE", "write each recompile to FILE as it happens, as a line of JSON",
         STET_OPTION_VALUE, &w.json_events},
        {"metrics-port", "[ADDRESS:]PORT",
         "serve metrics for Prometheus (on 127.0.0.1; 0: any free)", STET_OPTION_VALUE,
         &w.metrics_port},
        {"metrics-host", "NAME[,NAME…]", "also answer requests for these host names",
         STET_OPTION_VALUE, &w.metrics_host},
        {"metrics-file", "FILE", "write the metrics to FILE once a second", STET_OPTION_VALUE,
         &w.metrics_file},
        {"hang-after", "SECONDS",
         "print what each process does (stet ranks) after so long without progress",
         STET_OPTION_VALUE, &w.hang_after},
        {"format", NULL, NULL, STET_OPTION_VALUE, &w.format},
        {"no-store", NULL, "compile everything: load nothing from the store, keep nothing",
         STET_OPTION_FLAG, &w.no_store},
        {"lift", NULL, "compile a program once for all values that drift in it (stet help lift)",
         STET_OPTION_FLAG, &w.lift},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &run_usage, options, true);

    return done >= 0 ? done : checked_run(&w, &args);
}

int cmd_test(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet test [options] -- COMMAND [argument…]",
        "Runs the tests of a JAX, PyTorch/XLA or TorchTPU project on the embedded CPU backend,\n"
        "which plans a program in milliseconds where a compiler takes seconds. With pytest, the\n"
        "summary lists the slowest compiles, and a test may have a budget of compiles.",
        "test",
    };
    static struct run r;
    struct wishes w = {.cpu = "", .no_store = true, .brief = true};
    const struct stet_option options[] = {
        {"quiet", NULL, "print nothing", STET_OPTION_FLAG, &w.quiet},
        {"strict", NULL, "fail programs that the backend cannot run; do not use XLA's CPU client",
         STET_OPTION_FLAG, &w.strict},
        {"format", NULL, NULL, STET_OPTION_VALUE, &w.format},
        {0},
    };
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, true);

    if (done >= 0)
        return done;
    if (w.format)
        return stet_cli_usage_error(&usage, "--format does not apply to what the command prints");
    if (!take_command(&r, &args))
        return stet_cli_usage_error(&usage, "no command to run");
    return run(&r, &w);
}
