/* Extracts what a contract checks from a run, in the contract's terms. */
#include "contract/contract_run.h"

#include "base/path.h"

#include "launch/cpu.h"
#include "session/program_cache.h"
#include "session/torch_ranks.h"
#include "session/torch_rows.h"

#include <ctype.h>
#include <stdio.h>

enum stet_rc stet_contract_lanes_open(struct stet_lanes *l, const char *name, struct stet_err *err)
{
    enum stet_rc rc;

    *l = (struct stet_lanes){0};
    rc = stet_ledger_runs_open(&l->runs, err);
    if (rc != STET_OK)
        return rc;
    rc = stet_ledger_runs_find(&l->runs, name, &l->run, err);
    if (rc == STET_OK)
        rc = stet_session_open(&l->x, &l->runs, l->run, err);
    if (rc != STET_OK) {
        stet_ledger_runs_close(&l->runs);
        return rc;
    }
    stet_torch_init(&l->torch);
    rc = stet_session_torch_load_run(&l->torch, l->run, err);
    l->has_torch = rc == STET_OK && l->torch.compile_count;
    if (l->has_torch)
        stet_session_torch_take_ranks(&l->torch, &l->x.digest);
    if (rc != STET_OK && rc != STET_NOT_FOUND) {
        stet_contract_lanes_close(l);
        return rc;
    }
    if (rc == STET_NOT_FOUND && err)
        *err = (struct stet_err)STET_ERR_INIT;
    return STET_OK;
}

void stet_contract_lanes_close(struct stet_lanes *l)
{
    stet_torch_release(&l->torch);
    stet_session_close(&l->x);
    stet_ledger_runs_close(&l->runs);
}

enum stet_rc stet_contract_see(struct stet_session *x, uint32_t sighting, struct stet_seen *out,
                               struct stet_arena *arena, struct stet_err *err)
{
    const struct stet_sighting *s = &x->history.sightings[sighting];
    const struct stet_compile_event *c = &x->digest.processes[s->process].compiles[s->tag];
    struct stet_history_side side;
    enum stet_rc rc = stet_session_programs_open(x->programs, x->folder, c, &side, NULL);

    if (rc != STET_OK || !s->traits->readable)
        return STET_NOT_FOUND;
    rc = stet_gate_seen_make(out, side.program.program, s->traits, side.program.fingerprint,
                             side.options ? side.options->hash : (struct stet_hash){0}, arena);
    return rc == STET_OK ? rc : stet_fail(err, rc, "out of memory for a contract");
}

bool stet_contract_is_stranger(const struct stet_seen *seen, const struct stet_sighting *s,
                               struct stet_breach *b)
{
    if (!b->family || !b->family->library || !s->function || s->library)
        return false;
    *b = (struct stet_breach){.clause = STET_CLAUSE_FAMILY, .number = UINT32_MAX};
    snprintf(b->what, sizeof b->what, "%.*s is in no family", STET_FMT(seen->family));
    return true;
}

bool stet_contract_on_cpu(const struct stet_process_digest *p)
{
    for (size_t i = 0; i < p->plugin_count; i++)
        if (p->plugins[i].platform.len &&
            stet_view_is(stet_path_base(p->plugins[i].path), STET_LAUNCH_CPU_LIBRARY))
            return true;
    return false;
}

/* "3.11.7 (main, May 9 …) [GCC 12.2.0]" → "3.11.7" */
struct stet_view stet_contract_part(const struct stet_part *part)
{
    const char *end = part->value.len ? memchr(part->value.ptr, '\n', part->value.len) : NULL;
    struct stet_view v = part->value;

    if (stet_view_is(part->name, "Python")) {
        const char *blank = v.len ? memchr(v.ptr, ' ', v.len) : NULL;

        return blank ? stet_view_of(v.ptr, (size_t)(blank - v.ptr)) : v;
    }
    return end ? stet_view_of(v.ptr, (size_t)(end - v.ptr)) : v;
}

struct stet_view stet_contract_frame(struct stet_view function)
{
    struct stet_view v = function;

    if (!stet_view_starts(v, "torch_dynamo_resume_in_"))
        return v;
    while (v.len && isdigit((unsigned char)v.ptr[v.len - 1]))
        v.len--;
    return stet_view_ends(v, "_at_") ? stet_view_of(v.ptr, v.len - 4) : function;
}

/* ---- flags ---- */

static struct stet_view next_flag(struct stet_view *rest)
{
    struct stet_view flag;

    do {
        size_t n = 0;

        while (rest->len && isspace((unsigned char)*rest->ptr))
            rest->ptr++, rest->len--;
        while (n < rest->len && !isspace((unsigned char)rest->ptr[n]))
            n++;
        flag = stet_view_of(rest->ptr, n);
        rest->ptr += n;
        rest->len -= n;
    } while (stet_view_starts(flag, "--xla_dump") || stet_view_starts(flag, "--xla_gpu_dump"));
    return flag;
}

static bool has_flags_of(struct stet_view all, struct stet_view some)
{
    for (struct stet_view f; (f = next_flag(&some)).len;) {
        struct stet_view rest = all, other;

        do
            other = next_flag(&rest);
        while (other.len && !stet_view_eq(other, f));
        if (!other.len)
            return false;
    }
    return true;
}

bool stet_contract_same_flags(struct stet_view a, struct stet_view b)
{
    return has_flags_of(a, b) && has_flags_of(b, a);
}

bool stet_contract_same_version(struct stet_view have, struct stet_view wanted)
{
    return stet_view_eq(have, wanted) ||
           (wanted.len && have.len > wanted.len && have.ptr[wanted.len] == '.' &&
            !memcmp(have.ptr, wanted.ptr, wanted.len));
}
