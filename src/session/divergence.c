/* See divergence.h. */
#include "session/divergence.h"

#include "base/mem.h"
#include "base/vec.h"
#include "session/program_cache.h"
#include "session/session.h"
#include "session/torch_divergence.h"

#include <stdlib.h>

/* ---- two programs ---- */

/* A history of two compiles: of the rank that is compared with, then of the one that differs. */
struct pair {
    const struct stet_divergence_source *source;
    const struct stet_compile_event *side[2];
    struct stet_history history;
};

static enum stet_rc open_side(void *context, uint32_t number, struct stet_history_side *out,
                              struct stet_err *err)
{
    const struct pair *p = context;

    return stet_session_programs_open(p->source->programs, p->source->folder,
                                      p->side[p->history.sightings[number].tag], out, err);
}

static enum stet_rc add_side(struct pair *p, uint32_t which, int64_t rank, struct stet_err *err)
{
    const struct stet_process_digest one = {
        .rank = rank,
        .compiles = (struct stet_compile_event *)(uintptr_t)p->side[which],
        .compile_count = 1};
    struct stet_sighting s = stet_session_sighting(&one, 0, 0);
    struct stet_history_side side;
    uint32_t unused;
    enum stet_rc rc = stet_session_programs_open(p->source->programs, p->source->folder,
                                                 p->side[which], &side, err);

    s.tag = which;
    s.index = which;
    s.function = 1; /* they are compared, whatever functions they are of */
    s.object = s.wrapper = s.held = 0;
    s.library = false;
    return rc == STET_OK ? stet_history_add(&p->history, &s, &side, "", &unused, err) : rc;
}

static struct stet_view keep(struct stet_arena *a, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(a, v) : v;
}

static struct stet_line keep_line(struct stet_arena *a, struct stet_line l)
{
    return (struct stet_line){keep(a, l.file), keep(a, l.function), l.line};
}

/* Copies a row, whose texts are the history's. */
static void keep_row(struct stet_divergence *out, struct stet_arena *a,
                     const struct stet_recompile *r)
{
    out->pair = *r;
    out->pair.function = keep(a, r->function);
    out->pair.program = out->pair.against = (struct stet_view){0};
    out->pair.origin = keep_line(a, r->origin);
    out->pair.trigger = keep_line(a, r->trigger);
    out->pair.source = keep_line(a, r->source);
    out->pair.evidence = out->pair.advice = (struct stet_view){0};
    out->pair.fix = keep(a, r->fix);
    out->pair.change_count = 0;
    for (size_t i = 0; i < r->change_count && i < STET_DIVERGENCE_CHANGES; i++) {
        struct stet_row_change *c = &out->changes[out->pair.change_count++];

        *c = r->changes[i];
        c->what = keep(a, c->what);
        c->from = keep(a, c->from);
        c->to = keep(a, c->to);
        c->file = keep(a, c->file);
    }
    out->pair.changes = out->changes;
    out->explained = true;
}

static bool has_same_operations(const struct stet_traits *a, const struct stet_traits *b)
{
    return a->readable && b->readable && a->ops == b->ops &&
           !memcmp(a->profile, b->profile, sizeof a->profile);
}

static void compare(struct stet_divergence *out, const struct stet_divergence_source *s,
                    const struct stet_compile_event *other, const struct stet_compile_event *own)
{
    struct pair p = {.source = s, .side = {other, own}};
    struct stet_err err = STET_ERR_INIT;
    struct stet_session_row row;
    enum stet_rc rc = stet_history_init(&p.history, &err);

    p.history.open = open_side;
    p.history.context = &p;
    p.history.whole = true;
    if (rc == STET_OK)
        rc = add_side(&p, 0, out->other, &err);
    if (rc == STET_OK)
        rc = add_side(&p, 1, out->rank, &err);
    if (rc == STET_OK)
        rc = stet_history_judge(&p.history, &err);
    for (uint32_t i = 0; rc == STET_OK && i < p.history.finding_count; i++) {
        const struct stet_finding *f = &p.history.findings[i];

        if (p.history.sightings[f->sighting].tag != 1 || f->against == STET_NONE)
            continue;
        stet_session_row(&row, &p.history, f);
        keep_row(out, s->arena, &row.recompile);
        out->reordered = f->pair == STET_CAUSE_GRAPH_CHANGE &&
                         has_same_operations(p.history.sightings[f->against].traits,
                                             p.history.sightings[f->sighting].traits);
        /* what the comparison alone shows: there was no earlier and no later */
        out->pair.cause = f->pair;
        out->pair.also.count = 0;
        for (uint32_t k = 0; k < f->pair_also_count; k++)
            stet_cause_list_add(&out->pair.also, f->pair_also[k]);
    }
    if (rc != STET_OK)
        out->why_not = stet_arena_copy(s->arena, stet_view_str(err.text));
    stet_history_release(&p.history);
}

/* ---- variables and plugin ---- */

static struct stet_view value_of(const struct stet_view *list, size_t count, struct stet_view name)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].len > name.len && !memcmp(list[i].ptr, name.ptr, name.len) &&
            list[i].ptr[name.len] == '=')
            return stet_view_of(list[i].ptr + name.len + 1, list[i].len - name.len - 1);
    }
    return (struct stet_view){0};
}

static struct stet_view name_of(struct stet_view item)
{
    return stet_view_of(item.ptr, stet_view_find(item, "="));
}

static void add_flag(struct stet_divergence *out, struct stet_arena *a, struct stet_view name,
                     struct stet_view from, struct stet_view to)
{
    if (stet_view_eq(from, to) || out->pair.change_count == STET_DIVERGENCE_CHANGES)
        return;
    out->changes[out->pair.change_count++] = (struct stet_row_change){
        .what = stet_arena_printf(a, stet_view_is(name, "plugin") ? "%.*s" : "variable %.*s",
                                  STET_FMT(name)),
        .from = from.len ? from : STET_VIEW("not set"),
        .to = to.len ? to : STET_VIEW("not set"),
        .kind = STET_CHANGE_OPTION,
        .count = 1,
    };
}

/* The variables that reach the compiler, from the other rank's to this one's. */
static void compare_flags(struct stet_divergence *out, struct stet_arena *a,
                          const struct stet_view *from, size_t from_count,
                          const struct stet_view *to, size_t to_count)
{
    size_t before = out->pair.change_count;

    for (size_t i = 0; i < from_count; i++) {
        struct stet_view name = name_of(from[i]);

        add_flag(out, a, name, value_of(from, from_count, name), value_of(to, to_count, name));
    }
    for (size_t i = 0; i < to_count; i++) {
        struct stet_view name = name_of(to[i]);

        if (!value_of(from, from_count, name).ptr)
            add_flag(out, a, name, (struct stet_view){0}, value_of(to, to_count, name));
    }
    if (out->pair.change_count == before)
        return;
    if (!out->explained || !out->pair.cause || out->pair.cause == STET_CAUSE_IDENTICAL)
        out->pair.cause = STET_CAUSE_OPTIONS_DRIFT;
    out->pair.changes = out->changes;
    out->explained = true;
}

/* ---- one difference ---- */

static const struct stet_compile_event *compile_at(const struct stet_process_digest *p,
                                                   uint64_t index)
{
    for (size_t i = p->compile_count; i-- > 0;) {
        if (!p->compiles[i].load && p->compiles[i].index == index)
            return &p->compiles[i];
    }
    return NULL;
}

/* A compile of that rank of the job with these bytes, and these options unless they are NULL, if
 * its journal is in this run: the last one. */
static const struct stet_compile_event *compile_of_rank(const struct stet_run_digest *d,
                                                        struct stet_hash job, int64_t rank,
                                                        struct stet_hash program,
                                                        const struct stet_hash *options)
{
    for (size_t i = 0; i < d->process_count; i++) {
        const struct stet_process_digest *p = &d->processes[i];
        bool meant = p->rank == rank && stet_hash_eq(p->job, job);

        for (size_t k = meant ? p->compile_count : 0; k-- > 0;) {
            if (!p->compiles[k].load && stet_hash_eq(p->compiles[k].program, program) &&
                (!options || stet_hash_eq(p->compiles[k].options, *options)))
                return &p->compiles[k];
        }
    }
    return NULL;
}

static struct stet_line line_of(struct stet_trigger t)
{
    return (struct stet_line){t.file, t.function, t.line};
}

static void take_rank(uint64_t *out, size_t *count, uint64_t rank)
{
    for (size_t i = 0; i < *count && i < STET_DIVERGENCE_RANKS; i++) {
        if (out[i] == rank)
            return;
    }
    if (*count < STET_DIVERGENCE_RANKS)
        out[*count] = rank;
    ++*count;
}

static void take_ranks(uint64_t *out, size_t *count, const uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        take_rank(out, count, from[i]);
}

/* Further ranks of the job that have a program, with these options unless they are NULL; `not` are
 * the two that differ. */
static void find_ranks(uint64_t *out, size_t *count, const struct stet_run_digest *d,
                       struct stet_hash job, struct stet_hash program,
                       const struct stet_hash *options, const int64_t not[2])
{
    for (size_t i = 0; i < d->process_count && !stet_hash_is_zero(program); i++) {
        int64_t rank = d->processes[i].rank;

        if (rank >= 0 && rank != not[0] && rank != not[1] &&
            compile_of_rank(d, job, rank, program, options))
            take_rank(out, count, (uint64_t)rank);
    }
}

/* Which further ranks are like either of the two. Those that were asked gave their program alone.
 */
static void find_alike(struct stet_divergence *out, const struct stet_divergence_source *s,
                       const struct stet_process_digest *p, const struct stet_agreement_event *a,
                       const struct stet_compile_event *own)
{
    const int64_t not[2] = {p->rank, a->other};
    bool by_options = !(a->parts & STET_AGREEMENT_PROGRAM);

    if (by_options && !(a->parts & STET_AGREEMENT_OPTIONS))
        return;
    if (!by_options) {
        take_ranks(out->like_rank, &out->like_rank_count, a->like_this, a->like_this_count);
        take_ranks(out->like_other, &out->like_other_count, a->like_other, a->like_other_count);
    }
    if (own)
        find_ranks(out->like_rank, &out->like_rank_count, s->digest, p->job, own->program,
                   by_options ? &own->options : NULL, not);
    find_ranks(out->like_other, &out->like_other_count, s->digest, p->job, a->other_program,
               by_options ? &a->other_options : NULL, not);
}

/* `rank` and `other` change places. */
static void swap_ranks(struct stet_divergence *out, const struct stet_agreement_event *a,
                       int64_t rank)
{
    uint64_t kept[STET_DIVERGENCE_RANKS];
    size_t count = out->like_rank_count;

    memcpy(kept, out->like_rank, sizeof kept);
    memcpy(out->like_rank, out->like_other, sizeof kept);
    memcpy(out->like_other, kept, sizeof kept);
    out->like_rank_count = out->like_other_count;
    out->like_other_count = count;
    out->rank = a->other;
    out->other = rank;
    out->function = a->other_name.len ? a->other_name : a->name;
    out->other_function = a->name;
}

static void fill_differ(struct stet_divergence *out, const struct stet_divergence_source *s,
                        const struct stet_process_digest *p, const struct stet_agreement_event *a)
{
    const struct stet_compile_event *own = a->has_compile ? compile_at(p, a->compile) : NULL;
    const struct stet_compile_event *other =
        compile_of_rank(s->digest, p->job, a->other, a->other_program, NULL);
    struct stet_compile_event unknown = {.program = a->other_program, .options = a->other_options};
    bool swapped;

    if (!other && !stet_hash_is_zero(a->other_program))
        other = &unknown;
    find_alike(out, s, p, a, own);
    out->odd_known = out->like_rank_count != out->like_other_count;
    /* The one that differs is the one whose program fewer others have; else the higher rank. */
    swapped = out->odd_known ? out->like_rank_count > out->like_other_count : p->rank < a->other;
    if (swapped)
        swap_ranks(out, a, p->rank);
    if (own)
        *(swapped ? &out->other_trigger : &out->trigger) = line_of(own->trigger);
    if (other)
        *(swapped ? &out->trigger : &out->other_trigger) = line_of(other->trigger);
    if (!swapped)
        out->other_at = line_of(a->other_at);
    else
        out->at = line_of(a->other_at);
    if (own && other && (a->parts & (STET_AGREEMENT_PROGRAM | STET_AGREEMENT_OPTIONS)))
        compare(out, s, swapped ? own : other, swapped ? other : own);
    else if (!own || !other)
        out->why_not = STET_VIEW("one of the ranks has compiled nothing in its place");
    if (a->parts & (STET_AGREEMENT_ENVIRONMENT | STET_AGREEMENT_PLUGIN))
        compare_flags(out, s->arena, swapped ? a->flags : a->other_flags,
                      swapped ? a->flag_count : a->other_flag_count,
                      swapped ? a->other_flags : a->flags,
                      swapped ? a->other_flag_count : a->flag_count);
}

void stet_divergence_make(struct stet_divergence *out, const struct stet_divergence_source *s,
                          size_t process, const struct stet_agreement_event *a)
{
    const struct stet_process_digest *p = &s->digest->processes[process];
    const struct stet_compile_event *own = a->has_compile ? compile_at(p, a->compile) : NULL;

    *out = (struct stet_divergence){
        .finding = a->finding,
        .job = p->job,
        .pid = p->pid,
        .certain = a->certain,
        .went_on = a->went_on,
        .rank = p->rank,
        .other = a->other,
        .function = a->name,
        .other_function = a->other_name,
        .ranks = a->ranks,
        .time_ns = a->time_ns,
        .after_ns = a->after_ns,
        .program = a->program,
        .compiling = a->compiling,
        .answered = a->answered,
        .executions = a->executions,
        .host = a->host,
        .missing_count = a->missing_count,
    };
    take_ranks(out->missing, &out->missing_listed, a->missing, a->missing_listed);
    if (out->missing_listed > STET_DIVERGENCE_RANKS)
        out->missing_listed = STET_DIVERGENCE_RANKS;
    if (a->finding == STET_AGREEMENT_DIFFERS) {
        fill_differ(out, s, p, a);
        return;
    }
    if (own)
        out->trigger = line_of(own->trigger);
    if (a->answered)
        out->other_at = line_of(a->other_at);
}

uint64_t stet_divergence_key(const struct stet_process_digest *p,
                             const struct stet_agreement_event *a)
{
    const struct stet_compile_event *own = a->has_compile ? compile_at(p, a->compile) : NULL;
    struct stet_hash mine = own ? own->program : (struct stet_hash){0}, h;

    h = stet_hash_mix(stet_hash_mix_u64(stet_hash_bytes(a->name), a->finding), p->job);
    if (a->finding == STET_AGREEMENT_DIFFERS)
        return stet_hash_mix_u64(h, mine.lo ^ a->other_program.lo).lo;
    return stet_hash_mix_u64(h, (uint64_t)a->other).lo;
}

const char *stet_divergence_fix(const struct stet_divergence *d)
{
    if (!d->explained)
        return stet_cause_fix(STET_CAUSE_RANK_DIVERGENCE, STET_FIX_ANY);
    if (d->reordered)
        return "Give all ranks one order: go through sorted(...), not through a set.";
    switch (d->pair.cause) {
    case STET_CAUSE_OPTIONS_DRIFT:
        return "Set it alike on all ranks: in the launcher's environment, or before the first "
               "compile.";
    case STET_CAUSE_SHAPE_DRIFT:
        return "Give all ranks the same sizes: pad, or drop, the rows that only some of them have.";
    case STET_CAUSE_DTYPE_CHANGE:
        return "Give all ranks the same dtypes.";
    case STET_CAUSE_BAKED_CONSTANT:
        return "Decide the value on one rank and send it to all, or pass it as an array.";
    case STET_CAUSE_GRAPH_CHANGE:
        return "Keep branches on the rank, and on its data, out of compiled code, and run one "
               "version of it on all ranks.";
    default:
        return stet_cause_fix(STET_CAUSE_RANK_DIVERGENCE, STET_FIX_ANY);
    }
}

/* ---- all of a run ---- */

static int in_order(const void *a, const void *b)
{
    const struct stet_divergence *x = a, *y = b;

    if (x->certain != y->certain)
        return x->certain ? -1 : 1;
    if (x->finding != y->finding)
        return x->finding < y->finding ? -1 : 1;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

struct gathering {
    struct stet_divergences *out;
    struct stet_map seen;
};

static bool is_new(void *context, uint64_t key)
{
    struct gathering *g = context;

    return stet_map_get(&g->seen, key) == STET_MAP_NONE && stet_map_put(&g->seen, key, 1);
}

static void take_torch(void *context, const struct stet_divergence *d)
{
    struct stet_divergences *out = ((struct gathering *)context)->out;

    if (stet_vec_room(&out->items, &out->room, out->count, sizeof *out->items))
        out->items[out->count++] = *d;
}

enum stet_rc stet_divergences_make(struct stet_divergences *out, struct stet_run_digest *d,
                                   const struct stet_torch *t, const char *folder,
                                   struct stet_err *err)
{
    struct stet_divergence_source s = {.digest = d, .folder = folder};
    struct gathering g = {.out = out};

    *out = (struct stet_divergences){0};
    stet_arena_init(&out->arena, (size_t)64 << 20);
    s.arena = &out->arena;
    s.programs = stet_session_programs_new();
    if (!s.programs)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the differences between ranks");
    stet_session_comparing(&out->comparing, d);
    for (size_t i = 0; i < d->process_count; i++) {
        const struct stet_process_digest *p = &d->processes[i];

        for (size_t k = 0; k < p->agreement_count; k++) {
            uint64_t key = stet_divergence_key(p, &p->agreements[k]);

            if (!is_new(&g, key) ||
                !stet_vec_room(&out->items, &out->room, out->count, sizeof *out->items))
                continue;
            stet_divergence_make(&out->items[out->count++], &s, i, &p->agreements[k]);
        }
    }
    if (t)
        stet_session_torch_differences(
            t, &(struct stet_torch_divergence_sink){
                   .context = &g, .is_new = is_new, .visit = take_torch, .arena = &out->arena});
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, in_order);
    for (size_t i = 0; i < out->count; i++)
        out->items[i].pair.changes = out->items[i].changes; /* they moved */
    stet_map_release(&g.seen);
    stet_session_programs_free(s.programs);
    return STET_OK;
}

void stet_divergences_release(struct stet_divergences *d)
{
    stet_mem_free(d->items);
    stet_arena_release(&d->arena);
    *d = (struct stet_divergences){0};
}
