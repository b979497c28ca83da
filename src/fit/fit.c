/* Runs a fit from its options to its verdict. */
#include "fit/fit.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "contract/contract_run.h"
#include "fit/fit_inspect.h"
#include "fit/fit_internal.h"
#include "fit/fit_launch.h"
#include "fit/fit_oracle.h"
#include "fit/fit_plugin.h"
#include "fit/fit_target.h"
#include "launch/cpu.h"
#include "ledger/run_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static enum stet_rc make_folder(struct stet_fit *fit, struct stet_err *err)
{
    const char *base = getenv("TMPDIR"), *name = "/stet-fit-XXXXXX";
    char path[STET_FIT_WORK], account[STET_FIT_WORK_FILE];

    if (!base || base[0] != '/' || strlen(base) + strlen(name) >= sizeof path)
        base = "/tmp";
    snprintf(path, sizeof path, "%s%s", base, name);
    if (!mkdtemp(path))
        return stet_fail_errno(err, "%s: cannot make folder", path);
    snprintf(fit->work, sizeof fit->work, "%s", path);
    snprintf(account, sizeof account, "%s/account", path);
    return mkdir(account, 0700) == 0 ? STET_OK
                                     : stet_fail_errno(err, "%s: cannot make folder", account);
}

/* ---- the run ---- */

static enum stet_rc run_command(struct stet_fit *fit, const struct stet_fit_options *o,
                                struct stet_err *err)
{
    char pose[STET_FIT_WORK_FILE], account[STET_FIT_WORK_FILE], socket[STET_FIT_WORK_FILE];
    struct stet_fit_launch l = {
        .command = o->command, .zeros = o->zeros, .pose = pose, .account = account, .set = o->set};
    struct stet_fit_oracle oracle = {.plugin = fit->plugin,
                                     .topology = {.name = fit->topology.name, .target = o->target},
                                     .folder = fit->work,
                                     .socket = socket,
                                     .limit_ns = o->limit_ns};
    enum stet_rc rc;

    snprintf(pose, sizeof pose, "%s/pose", fit->work);
    snprintf(account, sizeof account, "%s/account", fit->work);
    snprintf(socket, sizeof socket, "%s/oracle", fit->work);
    if (fit->topology.count > STET_LAUNCH_CPU_DEVICES)
        return stet_fail(err, STET_UNSUPPORTED,
                         "%s has %u devices; the CPU backend stands in for %d at most",
                         fit->topology.name, fit->topology.count, STET_LAUNCH_CPU_DEVICES);
    if (fit->topology.count > 1) {
        fit->guessed = !stet_fit_oracle_start(&oracle);
        l.oracle = fit->guessed ? NULL : socket;
    }
    fit->ran = true;
    rc = stet_fit_launch(&l, &fit->topology, fit->id, sizeof fit->id, &fit->status, err);
    fit->guessed |= !stet_fit_oracle_stop(&oracle);
    return rc;
}

/* The command whose Python has the compiler: this one, or that of the finished run. */
static enum stet_rc find_plugin(struct stet_fit *fit, const struct stet_fit_options *o,
                                struct stet_err *err)
{
    const struct stet_run *run = NULL;
    struct stet_runs runs;
    char **argv = NULL;
    enum stet_rc rc;

    if (o->command)
        return stet_fit_plugin_find(fit->plugin, sizeof fit->plugin, o->plugin, o->command,
                                    o->target != NULL, err);
    rc = stet_ledger_runs_open_at(&runs, o->run, &run, err);
    if (rc != STET_OK)
        return rc;
    snprintf(fit->id, sizeof fit->id, "%s", run->id);
    argv = stet_mem_calloc(run->argc + 1, sizeof *argv);
    for (size_t i = 0; argv && i < run->argc; i++)
        argv[i] = (char *)(uintptr_t)run->argv[i];
    rc = stet_fit_plugin_find(fit->plugin, sizeof fit->plugin, o->plugin, argv, o->target != NULL,
                              err);
    stet_mem_free(argv);
    stet_ledger_runs_close(&runs);
    return rc;
}

/* ---- the contract ---- */

static void check_contract(struct stet_fit *fit, const struct stet_contract *c)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_contract_check k;
    struct stet_lanes l;

    fit->contract_asked = true;
    if (stet_contract_lanes_open(&l, fit->id, &err) == STET_OK) {
        stet_contract_check_init(&k);
        fit->contract_checked = stet_contract_check_run(&k, c, &l, &err) == STET_OK;
        fit->contract_kept = fit->contract_checked && k.count == 0;
        fit->violations = k.count;
        if (k.count)
            fit->contract_says = stet_arena_copy(&fit->arena, k.items[0].what);
        stet_contract_check_release(&k);
        stet_contract_lanes_close(&l);
    }
    if (err.rc != STET_OK)
        stet_say_err(&err);
}

/* ---- all of it ---- */

static enum stet_rc compile(struct stet_fit *fit, const struct stet_fit_options *o,
                            struct stet_err *err)
{
    struct stet_fit_inspection inspection = {
        .folder = fit->work, .quick = o->quick, .lines = o->lines};
    struct stet_warm_inspector inspector = stet_fit_inspector;
    struct stet_err why = STET_ERR_INIT;
    char how[STET_FIT_ENDED];
    enum stet_rc rc;
    const struct stet_warm_options w = {
        .topology = fit->topology.name,
        .target = o->target,
        .plugin = fit->plugin,
        .store = o->no_store ? "off" : o->store,
        .jobs = o->jobs,
        .inspector = &inspector,
        .logs = fit->work,
        .limit_ns = o->limit_ns,
    };

    inspector.context = &inspection;
    fit->warmed = true;
    rc = stet_warm_run(&fit->warm, o->command ? fit->id : o->run, &w, &why);
    if (rc == STET_NOT_FOUND && fit->status) {
        stet_fit_ended(fit, how);
        return stet_fail(err, rc, "the command ended with %s and compiled nothing", how);
    }
    return rc == STET_OK ? rc : stet_fail(err, rc, "%s", why.text);
}

static void look_back(struct stet_fit *fit)
{
    const struct stet_run *run = NULL;
    struct stet_runs runs;

    if (stet_ledger_runs_open_at(&runs, fit->id, &run, NULL) != STET_OK)
        return;
    stet_fit_history(fit, run, &runs);
    stet_ledger_runs_close(&runs);
}

static enum stet_rc make(struct stet_fit *fit, struct stet_fit_options *o, struct stet_err *err)
{
    char pose[STET_FIT_WORK_FILE];
    enum stet_rc rc = make_folder(fit, err);

    if (rc == STET_OK)
        rc = find_plugin(fit, o, err);
    if (rc == STET_OK && o->target && !stet_fs_exists(o->target)) {
        snprintf(fit->target, sizeof fit->target, "%s/target", fit->work);
        rc = stet_fit_target_write(fit->plugin, o->target, fit->target, err);
        o->target = fit->target;
    }
    snprintf(pose, sizeof pose, "%s/pose", fit->work);
    if (rc == STET_OK)
        rc = stet_fit_topology_ask(&fit->topology, fit->plugin, o->topology, o->target, pose, err);
    fit->limit = o->memory ? o->memory : fit->topology.memory;
    if (rc == STET_OK && o->command)
        rc = run_command(fit, o, err);
    if (rc == STET_OK)
        rc = compile(fit, o, err);
    if (rc != STET_OK)
        return rc;
    /* without steps, only what a step costs is not known */
    stet_ledger_run_steps(&fit->warm.ran.digests[0], fit->warm.ran.runs.items[0].folder, NULL);
    rc = stet_fit_collect(fit, err);
    return rc == STET_OK && o->lines ? stet_fit_leave_out(fit, err) : rc;
}

enum stet_rc stet_fit_run(struct stet_fit *fit, const struct stet_fit_options *o,
                          struct stet_err *err)
{
    struct stet_fit_options options = *o;
    struct stet_contract contract;
    enum stet_rc rc;

    *fit = (struct stet_fit){.zeros = o->zeros, .quick = o->quick, .lines = o->lines};
    stet_arena_init(&fit->arena, (size_t)1 << 30);
    if (o->contract && (rc = stet_gate_contract_read(&contract, o->contract, err)) != STET_OK)
        return rc; /* before the command runs for nothing */
    rc = make(fit, &options, err);
    if (rc == STET_OK && o->zeros)
        stet_session_readbacks(&fit->readbacks, &fit->warm.ran.digests[0], NULL);
    if (rc == STET_OK && o->contract)
        check_contract(fit, &contract);
    if (o->contract)
        stet_gate_contract_release(&contract);
    if (rc == STET_OK && !o->no_history)
        look_back(fit);
    return rc;
}

void stet_fit_release(struct stet_fit *fit)
{
    for (size_t i = 0; i < fit->count; i++)
        stet_footprint_release(&fit->programs[i].footprint);
    stet_session_readbacks_release(&fit->readbacks);
    if (fit->warmed)
        stet_warm_run_release(&fit->warm);
    if (fit->work[0])
        stet_fs_remove_tree(fit->work);
    stet_arena_release(&fit->arena);
}

void stet_fit_ended(const struct stet_fit *fit, char out[STET_FIT_ENDED])
{
    bool killed = WIFSIGNALED(fit->status);

    snprintf(out, STET_FIT_ENDED, "%s %d", killed ? "signal" : "exit code",
             killed ? WTERMSIG(fit->status) : WEXITSTATUS(fit->status));
}

bool stet_fit_is_fine(const struct stet_fit *fit)
{
    return fit->verdict == STET_FIT_FITS && !fit->status &&
           (!fit->contract_asked || fit->contract_kept);
}
