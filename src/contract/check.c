/* Checks a run against a contract, compile by compile, with the causes of `stet explain`. */
#include "contract/contract_run.h"

#include "base/mem.h"
#include "session/program_cache.h"
#include "session/torch_rows.h"

#include <inttypes.h>
#include <stdio.h>

void stet_contract_check_init(struct stet_contract_check *k)
{
    *k = (struct stet_contract_check){0};
    stet_arena_init(&k->arena, (size_t)256 << 20);
    stet_intern_init(&k->known, (size_t)256 << 20);
    stet_intern_init(&k->programs, (size_t)256 << 20);
}

void stet_contract_check_release(struct stet_contract_check *k)
{
    stet_mem_free(k->items);
    stet_arena_release(&k->arena);
    stet_intern_release(&k->known);
    stet_intern_release(&k->programs);
}

/* ---- the list ---- */

/* Two violations are equal when the same clause is broken for the same reason at the same place. */
static struct stet_hash identity(const struct stet_violation *v)
{
    const uint64_t numbers[] = {v->clause, v->line, (uint64_t)v->rank, v->origin.line, v->cause};
    const struct stet_view texts[] = {v->family, v->argument, v->origin.file};
    struct stet_hash h = {0};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        h = stet_hash_mix_u64(h, numbers[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        h = stet_hash_mix(h, stet_hash_bytes(texts[i]));
    return h;
}

static struct stet_line keep_line(struct stet_arena *a, struct stet_line l)
{
    return (struct stet_line){stet_arena_copy(a, l.file), stet_arena_copy(a, l.function), l.line};
}

enum stet_rc stet_contract_check_add(struct stet_contract_check *k, const struct stet_violation *v,
                                     struct stet_err *err)
{
    struct stet_arena *a = &k->arena;
    struct stet_hash same = identity(v);
    uint32_t number = stet_intern_add(&k->known, stet_view_of((const char *)&same, sizeof same));
    struct stet_violation *own;

    if (number < k->count) {
        k->items[number].times++;
        return STET_OK;
    }
    if (v->lane == STET_LANE_XLA)
        stet_intern_add(&k->programs, v->family);
    if (!stet_vec_room(&k->items, &k->room, k->count, sizeof *k->items))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the violations");
    own = &k->items[k->count++];
    *own = *v;
    own->times = 1;
    own->lane = v->lane;
    own->family = stet_arena_copy(a, v->family);
    own->argument = stet_arena_copy(a, v->argument);
    own->what = stet_arena_copy(a, v->what);
    own->fix = stet_arena_copy(a, v->fix);
    own->origin = keep_line(a, v->origin);
    own->trigger = keep_line(a, v->trigger);
    if (a->failed || k->known.failed || k->programs.failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the violations");
    if (k->tell)
        k->tell(k->context, own);
    return STET_OK;
}

/* ---- one compile ---- */

struct use {
    const struct stet_value *value;
    struct stet_place place;
};

static bool find_use(const struct stet_op *op, void *context)
{
    struct use *u = context;

    for (uint32_t i = 0; i < op->operand_count && !u->place.line; i++)
        if (stet_op_operand(op, i) == u->value)
            u->place = stet_place_of(op->loc);
    return !u->place.line;
}

/* Finds the source line of a program that is the first of its kind: the first use of the argument,
 * otherwise the function itself. */
static struct stet_line first_place(struct stet_session *x, const struct stet_sighting *s,
                                    uint32_t argument)
{
    const struct stet_compile_event *c = &x->digest.processes[s->process].compiles[s->tag];
    struct stet_history_side side;
    struct use u = {0};

    if (argument != UINT32_MAX &&
        stet_session_programs_open(x->programs, x->folder, c, &side, NULL) == STET_OK &&
        argument < side.program.program->argument_count) {
        u.value = side.program.program->arguments[argument].value;
        stet_program_walk(side.program.program, find_use, &u);
    }
    if (!u.place.line)
        u.place = s->traits->root.line ? s->traits->root : s->traits->place;
    return (struct stet_line){u.place.file, u.place.function, u.place.line};
}

void stet_contract_explain(struct stet_violation *v, struct stet_session *x, uint32_t sighting,
                           uint32_t argument, struct stet_session_row *row)
{
    const struct stet_sighting *s = &x->history.sightings[sighting];
    const struct stet_finding *f =
        s->finding == STET_NONE ? NULL : &x->history.findings[s->finding];

    v->lane = STET_LANE_XLA;
    v->library = s->library;
    v->rank = s->rank;
    v->process = s->process;
    v->compile = s->index;
    v->has_compile = true;
    v->step = s->step;
    v->step_known = s->step_known;
    v->trigger = (struct stet_line){s->trigger.file, s->trigger.function, s->trigger.line};
    stet_hash_format(s->program, v->program);
    /* The cause of a first compile is about its time and explains no argument. */
    if (f && f->cause != STET_CAUSE_NONE &&
        !(v->argument.len && stet_session_row_event(f) == STET_EVENT_FIRST)) {
        stet_session_row(row, &x->history, f);
        v->cause = row->recompile.cause;
        v->fix = row->recompile.fix;
        v->origin = row->recompile.origin;
    }
    if (!v->origin.line)
        v->origin = first_place(x, s, argument);
}

/* True when the program came after the warm-up. */
static bool is_late(const struct stet_contract *c, const struct stet_family *f,
                    const struct stet_sighting *s, struct stet_breach *b)
{
    const struct stet_terms *t = f && f->terms.settled != STET_NO_BUDGET ? &f->terms : &c->terms;

    if (t->settled == STET_NO_BUDGET || !s->step_known || s->step < t->settled)
        return false;
    b->clause = STET_CLAUSE_SETTLED;
    b->line = t->settled_line;
    b->argument = (struct stet_view){0};
    snprintf(b->what, sizeof b->what,
             "compiled in step %" PRIu64 "; the contract has: settled by step %" PRIu64, s->step,
             t->settled);
    return true;
}

enum stet_rc stet_contract_check_compile(struct stet_contract_check *k,
                                         const struct stet_contract *c,
                                         struct stet_contract_process *p, struct stet_session *x,
                                         uint32_t sighting, struct stet_err *err)
{
    const struct stet_sighting *s = &x->history.sightings[sighting];
    struct stet_violation v = {0};
    struct stet_session_row row;
    struct stet_arena arena;
    struct stet_breach b = {0};
    struct stet_seen seen;
    enum stet_rc rc;
    bool broken;

    k->compiles++;
    stet_arena_init(&arena, (size_t)64 << 20);
    rc = stet_contract_see(x, sighting, &seen, &arena, err);
    broken = rc == STET_OK && stet_gate_breaks(&p->gate, &seen, &b);
    stet_contract_waited_add(p, b.family, x, sighting);
    if (rc == STET_NOT_FOUND) {
        k->unreadable++;
        rc = STET_OK;
    } else if (rc == STET_OK &&
               (broken || stet_contract_is_stranger(&seen, s, &b) || is_late(c, b.family, s, &b))) {
        v.clause = b.clause;
        v.line = b.line;
        v.family = seen.family;
        v.argument = b.argument;
        v.what = stet_view_str(b.what);
        stet_contract_explain(&v, x, sighting, b.number, &row);
        rc = stet_contract_check_add(k, &v, err);
    }
    stet_arena_release(&arena);
    return rc;
}

/* ---- the installed software ---- */

static const struct stet_part *part_of(const struct stet_bundle *b, const struct stet_pair *p,
                                       bool flags)
{
    for (uint32_t i = 0; b && i < b->count; i++)
        if (b->parts[i].flags == flags && stet_view_eq(b->parts[i].name, p->name))
            return &b->parts[i];
    return NULL;
}

static enum stet_rc check_pairs(struct stet_contract_check *k, const struct stet_pairs *list,
                                bool flags, const struct stet_bundle *b, int64_t rank,
                                struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    char what[512];

    for (uint32_t i = 0; rc == STET_OK && i < list->count; i++) {
        const struct stet_pair *p = &list->items[i];
        const struct stet_part *part = part_of(b, p, flags);
        struct stet_view have = part ? stet_contract_part(part) : (struct stet_view){0};
        struct stet_violation v = {.clause = flags ? STET_CLAUSE_FLAGS : STET_CLAUSE_BUNDLE,
                                   .lane = STET_LANE_XLA,
                                   .line = p->line,
                                   .argument = p->name,
                                   .rank = rank};

        if (flags ? stet_contract_same_flags(have, p->unset ? (struct stet_view){0} : p->value)
                  : stet_contract_same_version(have, p->value))
            continue;
        snprintf(what, sizeof what, "%.*s is %s%.*s%s; the contract has %.*s", STET_FMT(p->name),
                 have.len ? "\"" : "", STET_FMT(have.len ? have : STET_VIEW("not there")),
                 have.len ? "\"" : "", STET_FMT(p->unset ? STET_VIEW("it unset") : p->value));
        v.what = stet_view_str(what);
        v.cause = flags ? STET_CAUSE_OPTIONS_DRIFT : STET_CAUSE_BUNDLE_DRIFT;
        rc = stet_contract_check_add(k, &v, err);
    }
    return rc;
}

static enum stet_rc check_process(struct stet_contract_check *k, const struct stet_contract *c,
                                  struct stet_lanes *l, uint32_t process, struct stet_err *err)
{
    const struct stet_process_digest *p = &l->x.digest.processes[process];
    const struct stet_history *h = &l->x.history;
    const struct stet_bundle *b;
    struct stet_contract_process held;
    bool foreign = c->on_cpu && !stet_contract_on_cpu(p);
    enum stet_rc rc;

    if (!p->compile_count)
        return STET_OK;
    k->foreign |= foreign;
    rc = stet_contract_process_init(&held, c, foreign, err);
    if (rc != STET_OK)
        return rc;
    for (uint32_t i = 0; rc == STET_OK && i < h->sighting_count; i++)
        if (!h->sightings[i].past && h->sightings[i].process == process)
            rc = stet_contract_check_compile(k, c, &held, &l->x, i, err);
    if (rc == STET_OK)
        rc = stet_contract_check_waited(k, &held, &l->x, err);
    stet_contract_process_release(&held);
    b = stet_session_bundle(&l->x.digest, p);
    if (rc == STET_OK)
        rc = check_pairs(k, &c->terms.flags, true, b, p->rank, err);
    if (rc == STET_OK && !foreign)
        rc = check_pairs(k, &c->terms.bundle, false, b, p->rank, err);
    for (uint32_t i = 0; rc == STET_OK && i < c->family_count; i++) {
        const struct stet_terms *t = &c->families[i].terms;

        rc = check_pairs(k, &t->flags, true, b, p->rank, err);
        if (rc == STET_OK && !foreign)
            rc = check_pairs(k, &t->bundle, false, b, p->rank, err);
    }
    return rc;
}

/* A run without a watched compile does not prove that the contract is kept. */
static enum stet_rc check_watched(struct stet_contract_check *k, const struct stet_contract *c,
                                  const struct stet_lanes *l, struct stet_err *err)
{
    bool xla = c->family_count && !k->compiles;
    bool torch = c->frame_count && !(l->has_torch && l->torch.compile_count);
    struct stet_violation v = {
        .clause = STET_CLAUSE_WATCHED,
        .lane = xla ? STET_LANE_XLA : STET_LANE_TORCH,
        .what =
            STET_VIEW("nothing was compiled in this run: it did no work, or Stet did not see it"),
        .rank = -1};

    return xla || torch ? stet_contract_check_add(k, &v, err) : STET_OK;
}

/* Puts the programs of libraries last, because they usually follow from a function of the user's.
 */
static enum stet_rc put_libraries_last(struct stet_contract_check *k, struct stet_err *err)
{
    struct stet_violation *all = stet_mem_calloc(k->count + 1, sizeof *all);
    uint32_t n = 0;

    if (!all)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the violations");
    for (int library = 0; library < 2; library++)
        for (uint32_t i = 0; i < k->count; i++)
            if (k->items[i].library == library)
                all[n++] = k->items[i];
    if (n)
        memcpy(k->items, all, n * sizeof *all);
    stet_mem_free(all);
    return STET_OK;
}

enum stet_rc stet_contract_check_run(struct stet_contract_check *k, const struct stet_contract *c,
                                     struct stet_lanes *l, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (uint32_t i = 0; rc == STET_OK && i < l->x.digest.process_count; i++)
        rc = check_process(k, c, l, i, err);
    if (rc == STET_OK && l->has_torch)
        rc = stet_contract_check_torch(k, c, &l->torch, err);
    if (rc == STET_OK)
        rc = check_watched(k, c, l, err);
    return rc == STET_OK ? put_libraries_last(k, err) : rc;
}
