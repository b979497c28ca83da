/* See torch_divergence.h. */
#include "session/torch_divergence.h"

#include "base/map.h"
#include "ingest/cache_key.h"
#include "ingest/config_text.h"
#include "ingest/graph_text.h"

/* The first compile of a frame with a graph, of a process with a rank. It may still go on: the
 * graph is there before the backend compiles it. */
static bool is_first(const struct stet_torch *t, const struct stet_torch_compile *c)
{
    return !c->number && c->graph.len && t->processes[t->frames[c->frame].process].rank >= 0 &&
           t->frames[c->frame].code.function.len;
}

static int64_t rank_of(const struct stet_torch *t, const struct stet_torch_compile *c)
{
    return t->processes[t->frames[c->frame].process].rank;
}

static uint64_t code_of(const struct stet_torch *t, const struct stet_torch_compile *c)
{
    const struct stet_torch_place *p = &t->frames[c->frame].code;
    struct stet_hash h = stet_hash_mix(stet_hash_bytes(p->file), stet_hash_bytes(p->function));

    return stet_hash_mix_u64(h, p->line).lo;
}

/* The first compiles of each code: on the lowest rank that has one, and on each rank. A function
 * that is compiled as several frames is compared by the first one. */
struct firsts {
    struct stet_map lowest; /* by code */
    struct stet_map each;   /* by code and rank */
};

static uint64_t on_rank(uint64_t code, int64_t rank)
{
    return stet_hash_mix_u64((struct stet_hash){2, code}, (uint64_t)rank).lo;
}

static void find_firsts(struct firsts *f, const struct stet_torch *t)
{
    for (size_t i = 0; i < t->compile_count && i < STET_MAP_NONE; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];
        uint64_t code;
        uint32_t lowest;

        if (!is_first(t, c))
            continue;
        code = code_of(t, c);
        lowest = stet_map_get(&f->lowest, code);
        if (lowest == STET_MAP_NONE || rank_of(t, c) < rank_of(t, &t->compiles[lowest]))
            stet_map_put(&f->lowest, code, (uint32_t)i);
        if (stet_map_get(&f->each, on_rank(code, rank_of(t, c))) == STET_MAP_NONE)
            stet_map_put(&f->each, on_rank(code, rank_of(t, c)), (uint32_t)i);
    }
}

/* ---- what differs ---- */

/* "f32" of "f32[4, 3][3, 1]cpu" */
static struct stet_view dtype_of(struct stet_view type)
{
    return stet_view_of(type.ptr, stet_view_find(type, "["));
}

static enum stet_cause cause_of(const struct stet_graph_difference *d)
{
    if (!d->a.text.ptr || !d->b.text.ptr)
        return d->a.argument || d->b.argument ? STET_CAUSE_OPTIONAL_KEY : STET_CAUSE_GRAPH_CHANGE;
    if (d->a.argument)
        return stet_view_eq(dtype_of(d->a.text), dtype_of(d->b.text)) ? STET_CAUSE_SHAPE_DRIFT
                                                                      : STET_CAUSE_DTYPE_CHANGE;
    return d->numbers ? STET_CAUSE_BAKED_CONSTANT : STET_CAUSE_GRAPH_CHANGE;
}

static void add_change(struct stet_divergence *out, struct stet_view what, struct stet_view from,
                       struct stet_view to, enum stet_change_kind kind)
{
    out->changes[out->pair.change_count++] =
        (struct stet_row_change){.what = what, .from = from, .to = to, .kind = kind, .count = 1};
}

static bool compare_graphs(struct stet_divergence *out, const struct stet_torch_compile *a,
                           const struct stet_torch_compile *b, struct stet_arena *arena)
{
    struct stet_graph_difference d;

    if (a->graph.ptr == b->graph.ptr || !stet_graph_text_compare(a->graph, b->graph, &d))
        return false;
    out->pair.cause = cause_of(&d);
    out->reordered = d.reordered;
    if (d.a.argument || d.b.argument)
        add_change(
            out,
            stet_arena_printf(arena, "argument %.*s", STET_FMT(d.a.argument ? d.a.name : d.b.name)),
            d.a.text, d.b.text, STET_CHANGE_ARGUMENT);
    else
        add_change(out, STET_VIEW("operation"), d.a.text, d.b.text, STET_CHANGE_OPERAND);
    if (d.line)
        out->pair.origin = (struct stet_line){d.file, d.function, d.line};
    return true;
}

/* The last key of a compile in Inductor's cache; STET_TORCH_NONE if there is none. */
static uint32_t key_of(const struct stet_torch *t, const struct stet_torch_compile *c)
{
    for (size_t i = t->torch_key_count; i-- > 0;) {
        if (!t->torch_keys[i].aot && !t->torch_keys[i].run.len &&
            t->torch_keys[i].compile == (uint32_t)(c - t->compiles))
            return (uint32_t)i;
    }
    return STET_TORCH_NONE;
}

/* With equal graphs: the settings that Inductor compiled them with. */
static bool compare_settings(struct stet_divergence *out, const struct stet_torch *t,
                             const struct stet_torch_compile *a, const struct stet_torch_compile *b)
{
    uint32_t x = key_of(t, a), y = key_of(t, b);
    struct stet_cache_why why;

    if (x == STET_TORCH_NONE || y == STET_TORCH_NONE || !t->torch_keys[x].count ||
        !t->torch_keys[y].count)
        return false;
    stet_torch_cache_compare(t, x, y, &why);
    for (size_t i = 0; i < why.count && i < STET_CACHE_MOVES; i++) {
        const struct stet_cache_move *m = &why.moves[i];

        if (stet_view_starts(m->name, "inductor_config[") ||
            stet_view_starts(m->name, "fx_kwargs["))
            add_change(out, m->name, m->from.len ? m->from : STET_VIEW("not set"),
                       m->to.len ? m->to : STET_VIEW("not set"), STET_CHANGE_OPTION);
    }
    if (out->pair.change_count)
        out->pair.cause = STET_CAUSE_OPTIONS_DRIFT;
    return out->pair.change_count > 0;
}

/* The same while they compile: what each has changed from torch's defaults. A setting that only one
 * of them has changed may still have the same value, unless both compile their first graph. */
static bool compare_changed(struct stet_divergence *out, const struct stet_torch_compile *a,
                            const struct stet_torch_compile *b)
{
    static const struct stet_view usual = {"default", 7};
    struct stet_config_move moves[STET_DIVERGENCE_CHANGES];
    bool fresh = a->settings_fresh && b->settings_fresh;
    size_t n;

    if (!a->settings_known || !b->settings_known || a->settings.ptr == b->settings.ptr)
        return false;
    n = stet_config_text_compare(a->settings, b->settings, moves, STET_DIVERGENCE_CHANGES);
    for (size_t i = 0; i < n && i < STET_DIVERGENCE_CHANGES; i++) {
        if (fresh || (moves[i].from.ptr && moves[i].to.ptr))
            add_change(out, moves[i].name, moves[i].from.ptr ? moves[i].from : usual,
                       moves[i].to.ptr ? moves[i].to : usual, STET_CHANGE_OPTION);
    }
    if (out->pair.change_count)
        out->pair.cause = STET_CAUSE_OPTIONS_DRIFT;
    return out->pair.change_count > 0;
}

/* ---- pairs ---- */

static struct stet_line line_of(const struct stet_torch_place *p)
{
    return (struct stet_line){p->file, p->function, p->line};
}

static void count_like(struct stet_divergence *d, const struct stet_torch *t, uint64_t code,
                       const struct stet_torch_compile *a, const struct stet_torch_compile *b)
{
    for (size_t i = 0; i < t->compile_count; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];
        uint64_t *list;
        size_t *count;

        if (!is_first(t, c) || c == a || c == b || code_of(t, c) != code ||
            rank_of(t, c) == d->rank || rank_of(t, c) == d->other)
            continue;
        if (c->graph.ptr != a->graph.ptr && c->graph.ptr != b->graph.ptr)
            continue;
        list = c->graph.ptr == a->graph.ptr ? d->like_other : d->like_rank;
        count = c->graph.ptr == a->graph.ptr ? &d->like_other_count : &d->like_rank_count;
        if (*count < STET_DIVERGENCE_RANKS)
            list[*count] = (uint64_t)rank_of(t, c);
        ++*count;
    }
}

static uint64_t key_of_pair(const struct stet_torch *t, const struct stet_torch_compile *a,
                            const struct stet_torch_compile *b, uint64_t code)
{
    struct stet_hash h = stet_hash_mix_u64((struct stet_hash){1, code}, a->graph.len);

    return stet_hash_mix_u64(h, (uint64_t)rank_of(t, b)).lo;
}

/* When the later one began. */
static uint64_t began_ns(const struct stet_torch_compile *a, const struct stet_torch_compile *b)
{
    return (a->start_us > b->start_us ? a->start_us : b->start_us) * 1000;
}

static void visit_pair(const struct stet_torch *t, const struct stet_torch_compile *a,
                       const struct stet_torch_compile *b, uint64_t code,
                       const struct stet_torch_divergence_sink *sink)
{
    struct stet_divergence d = {
        .finding = STET_AGREEMENT_DIFFERS,
        .torch = true,
        .rank = rank_of(t, b),
        .other = rank_of(t, a),
        .function = t->frames[b->frame].code.function,
        .other_function = t->frames[a->frame].code.function,
        .time_ns = b->start_us * 1000,
        .certain = stet_graph_text_communicates(a->graph) || stet_graph_text_communicates(b->graph),
        .answered = true,
        .explained = true,
        .trigger = line_of(b->call.line ? &b->call : &b->near),
        .other_trigger = line_of(a->call.line ? &a->call : &a->near),
    };

    if (sink->now_ns > began_ns(a, b))
        d.after_ns = sink->now_ns - began_ns(a, b);
    d.pair.lane = STET_LANE_TORCH;
    d.pair.origin = line_of(&t->frames[b->frame].code);
    if (!compare_graphs(&d, a, b, sink->arena) && !compare_settings(&d, t, a, b) &&
        !compare_changed(&d, a, b))
        return;
    if (!sink->is_new(sink->context, key_of_pair(t, a, b, code)))
        return;
    count_like(&d, t, code, a, b);
    d.odd_known = d.like_other_count != d.like_rank_count;
    d.pair.changes = d.changes;
    sink->visit(sink->context, &d);
}

void stet_session_torch_differences(const struct stet_torch *t,
                                    const struct stet_torch_divergence_sink *sink)
{
    struct firsts f = {0};

    find_firsts(&f, t);
    for (size_t i = 0; i < t->compile_count && i < STET_MAP_NONE; i++) {
        const struct stet_torch_compile *b = &t->compiles[i], *a;
        uint64_t code;
        uint32_t lowest;

        if (!is_first(t, b))
            continue;
        code = code_of(t, b);
        lowest = stet_map_get(&f.lowest, code);
        if (lowest == STET_MAP_NONE || stet_map_get(&f.each, on_rank(code, rank_of(t, b))) != i)
            continue;
        a = &t->compiles[lowest];
        if (rank_of(t, a) != rank_of(t, b))
            visit_pair(t, a, b, code, sink);
    }
    stet_map_release(&f.lowest);
    stet_map_release(&f.each);
}
