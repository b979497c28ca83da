/* The part of --contract that runs in `stet run`: messages, policy, and the clauses that the layer
 * cannot judge while it compiles. The layer judges each compile by itself. */
#include "contract/follow.h"

#include "base/fs.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/text.h"
#include "contract/check_print.h"
#include "contract/contract_run.h"
#include "journal/variables.h"
#include "lint/launch.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { PROCESSES = 64, BLOCKS = 20 };

struct stet_contract_follower {
    struct stet_contract contract;
    struct stet_contract_check check;
    struct stet_contract_process processes[PROCESSES];
    bool opened[PROCESSES];
    bool fail;
    unsigned told;
};

enum stet_rc stet_contract_follow_open(struct stet_contract_follower **out, const char *file,
                                       const char *on_breach, struct stet_err *err)
{
    struct stet_contract_follower *r;
    enum stet_rc rc;

    *out = NULL;
    if (on_breach && strcmp(on_breach, "warn") != 0 && strcmp(on_breach, "fail") != 0)
        return stet_fail(err, STET_USAGE, "--on-breach is warn or fail, not '%s'", on_breach);
    r = stet_mem_calloc(1, sizeof *r);
    if (!r)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    rc = stet_gate_contract_read(&r->contract, file, err);
    if (rc != STET_OK) {
        stet_mem_free(r);
        return rc;
    }
    r->fail = on_breach && !strcmp(on_breach, "fail");
    stet_contract_check_init(&r->check);
    *out = r;
    return STET_OK;
}

void stet_contract_follow_free(struct stet_contract_follower *r)
{
    if (!r)
        return;
    for (int i = 0; i < PROCESSES; i++)
        if (r->opened[i])
            stet_contract_process_release(&r->processes[i]);
    stet_contract_check_release(&r->check);
    stet_gate_contract_release(&r->contract);
    stet_mem_free(r);
}

/* ---- the launch ---- */

/* Returns a variable's value for printing, with secrets masked. Valid until the next call. */
static const char *shown(const char *value)
{
    static struct stet_buf text;

    text.len = 0;
    stet_mask_text(&text, stet_view_str(value));
    return text.ptr && !text.failed ? text.ptr : "";
}

/* Compares the environment with the contract; false when they differ. */
static bool agree(const struct stet_contract_follower *r, struct stet_launch_env *env,
                  const struct stet_pair *p, struct stet_err *err)
{
    char name[256], value[4096];
    const char *have;
    struct stet_view want = p->unset ? (struct stet_view){0} : p->value;

    snprintf(name, sizeof name, "%.*s", STET_FMT(p->name));
    have = stet_launch_env_get(env, name);
    if (!have && want.len) {
        if (snprintf(value, sizeof value, "%.*s", STET_FMT(want)) >= (int)sizeof value)
            return false;
        stet_say("stet: set %s=\"%s\" (%.*s:%u)\n", name, value, STET_FMT(r->contract.file),
                 p->line);
        return stet_launch_env_set(env, name, value, err) == STET_OK;
    }
    if (stet_contract_same_flags(stet_view_str(have), want))
        return true;
    stet_say("stet: breach: flags: %s is \"%s\"; the contract has %s%.*s%s (%.*s:%u)\n", name,
             shown(have), want.len ? "\"" : "", STET_FMT(want.len ? want : STET_VIEW("it unset")),
             want.len ? "\"" : "", STET_FMT(r->contract.file), p->line);
    return false;
}

static bool is_named(const struct stet_contract_follower *r, const char *name)
{
    const struct stet_pairs *flags = &r->contract.terms.flags;

    for (uint32_t i = 0; i < flags->count; i++)
        if (stet_view_is(flags->items[i].name, name))
            return true;
    return false;
}

static void name_strangers(const struct stet_contract_follower *r,
                           const struct stet_launch_env *env)
{
    for (size_t i = 0; i < STET_VARIABLES; i++) {
        const char *name = stet_variables[i].name, *value = stet_launch_env_get(env, name);

        /* debugging switches are listed below */
        if (value && *value && !is_named(r, name) &&
            !lint_flag_effect(stet_view_str(name), stet_view_str(value)))
            stet_say("stet: inherited %s=\"%s\" is not in the contract\n", name, shown(value));
    }
    for (char **v = env->vars; *v; v++) {
        const char *equals = strchr(*v, '=');
        struct stet_view name = stet_view_of(*v, equals ? (size_t)(equals - *v) : 0);
        const char *effect = equals ? lint_flag_effect(name, stet_view_str(equals + 1)) : NULL;

        if (effect)
            stet_say("stet: debugging switch left on: %s (%s)\n", shown(*v), effect);
    }
}

static enum stet_rc hand_over(const struct stet_contract_follower *r, struct stet_launch_env *env,
                              const char *folder, bool cpu, struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    char path[PATH_MAX];
    enum stet_rc rc;

    if (snprintf(path, sizeof path, "%s/contract", folder) >= (int)sizeof path)
        return stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    stet_gate_contract_pack(&out, &r->contract, r->contract.on_cpu && !cpu);
    rc = out.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for a contract")
                    : stet_fs_write(path, stet_buf_as_view(&out), err);
    stet_buf_release(&out);
    return rc == STET_OK ? stet_launch_env_set(env, "STET_CONTRACT", path, err) : rc;
}

bool stet_contract_follow_launch(struct stet_contract_follower *r, struct stet_launch_env *env,
                                 const char *folder, bool cpu, struct stet_err *err)
{
    const struct stet_pairs *flags = &r->contract.terms.flags;
    bool fine = true;

    for (uint32_t i = 0; i < flags->count; i++)
        fine &= agree(r, env, &flags->items[i], err);
    name_strangers(r, env);
    if (!r->fail)
        return true;
    if (!fine) {
        stet_fail(err, STET_USAGE, "not started: its flags break the contract");
        return false;
    }
    return hand_over(r, env, folder, cpu, err) == STET_OK;
}

/* ---- while it runs ---- */

static void tell(void *context, const struct stet_violation *v)
{
    struct stet_contract_follower *r = context;

    if (r->told++ < BLOCKS)
        stet_say("stet: breach: %s%s%.*s: %.*s (%.*s:%u)\n", stet_gate_clause_name(v->clause),
                 v->family.len ? " of " : "", STET_FMT(v->family), STET_FMT(v->what),
                 STET_FMT(r->contract.file), v->line);
}

static void take(void *context, struct stet_session *x, uint32_t sighting)
{
    struct stet_contract_follower *r = context;
    const struct stet_sighting *s = &x->history.sightings[sighting];

    if (s->past || s->process >= PROCESSES)
        return;
    if (!r->opened[s->process]) {
        bool foreign =
            r->contract.on_cpu && !stet_contract_on_cpu(&x->digest.processes[s->process]);

        if (stet_contract_process_init(&r->processes[s->process], &r->contract, foreign, NULL) !=
            STET_OK)
            return;
        r->opened[s->process] = true;
    }
    stet_contract_check_compile(&r->check, &r->contract, &r->processes[s->process], x, sighting,
                                NULL);
    stet_contract_check_waited(&r->check, &r->processes[s->process], x, NULL);
}

void stet_contract_follow_live(struct stet_contract_follower *r, struct stet_live *live)
{
    r->check.tell = tell;
    r->check.context = r;
    stet_live_watch(live, take, r);
}

/* ---- the verdict ---- */

bool stet_contract_follow_end(struct stet_contract_follower *r, const char *folder)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_TEXT_INIT, lines = STET_TEXT_INIT;
    struct stet_lanes l;
    struct stet_contract_check k;
    bool broken = false;

    if (stet_contract_lanes_open(&l, folder, &err) != STET_OK) {
        stet_say_err(&err);
        return false;
    }
    stet_contract_check_init(&k);
    if (stet_contract_check_run(&k, &r->contract, &l, &err) == STET_OK) {
        stet_contract_check_print(&out, &k, &r->contract, l.run->id, STET_CHECK_TEXT);
        for (const char *p = out.ptr, *end; p && *p && !out.failed; p = end + 1) {
            end = strchr(p, '\n');
            if (!end)
                break;
            stet_buf_printf(&lines, "%s%.*s\n", end > p ? "stet: " : "stet:", (int)(end - p), p);
        }
        if (!lines.failed)
            stet_say_text(&lines);
        broken = k.count > 0;
    } else {
        stet_say_err(&err);
    }
    stet_buf_release(&out);
    stet_buf_release(&lines);
    stet_contract_check_release(&k);
    stet_contract_lanes_close(&l);
    return broken && r->fail;
}
