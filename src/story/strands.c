/* Gathers recompiles into strands, and ties strands that have something observed in common. */
#include "story/strand.h"

#include "base/mem.h"
#include "base/vec.h"

enum { MOST_STRANDS = 4096, MOST_TIES = 4, MOST_DISTINCT = 1 << 16 };

void stet_story_init(struct stet_stories *s)
{
    *s = (struct stet_stories){0};
    stet_arena_init(&s->arena, (size_t)512 << 20);
}

void stet_story_release(struct stet_stories *s)
{
    for (uint32_t i = 0; i < s->strand_count; i++)
        stet_map_release(&s->strands[i].seen);
    stet_mem_free(s->strands);
    stet_mem_free(s->story_of);
    stet_map_release(&s->by_key);
    stet_map_release(&s->by_tie);
    stet_arena_release(&s->arena);
    *s = (struct stet_stories){0};
}

/* ---- copies ---- */

static struct stet_view kept(struct stet_stories *s, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(&s->arena, v) : v;
}

static struct stet_line kept_line(struct stet_stories *s, struct stet_line l)
{
    return (struct stet_line){kept(s, l.file), kept(s, l.function), l.line};
}

static void keep_changes(struct stet_stories *s, struct stet_recompile *to,
                         const struct stet_recompile *r)
{
    struct stet_row_change *changes =
        STET_NEW_ARRAY(&s->arena, struct stet_row_change, r->change_count + 1);

    to->changes = changes;
    to->change_count = changes ? r->change_count : 0;
    for (size_t i = 0; i < to->change_count; i++) {
        changes[i] = r->changes[i];
        changes[i].what = kept(s, r->changes[i].what);
        changes[i].from = kept(s, r->changes[i].from);
        changes[i].to = kept(s, r->changes[i].to);
        changes[i].file = kept(s, r->changes[i].file);
        changes[i].facet = kept(s, r->changes[i].facet);
        changes[i].follows = kept(s, r->changes[i].follows);
    }
}

static void keep_row(struct stet_stories *s, struct stet_recompile *to,
                     const struct stet_recompile *r)
{
    *to = *r;
    to->function = kept(s, r->function);
    to->program = kept(s, r->program);
    to->against = kept(s, r->against);
    to->evidence = kept(s, r->evidence);
    to->fix = kept(s, r->fix);
    to->advice = kept(s, r->advice);
    to->origin = kept_line(s, r->origin);
    to->trigger = kept_line(s, r->trigger);
    to->source = kept_line(s, r->source);
    keep_changes(s, to, r);
}

/* ---- what ties recompiles ---- */

const struct stet_row_change *stet_story_change(const struct stet_recompile *r)
{
    for (size_t i = 0; i < r->change_count; i++)
        if (!r->changes[i].follows.ptr)
            return &r->changes[i];
    return r->change_count ? &r->changes[0] : NULL;
}

/* Sizes of several dimensions moved: such a recompile may belong to either story and must not tie
 * them. */
static bool is_mixed(const struct stet_recompile *r)
{
    const struct stet_row_change *c = stet_story_change(r);

    for (size_t i = 0; c && c->dim && i < r->change_count; i++)
        if (!r->changes[i].follows.ptr && r->changes[i].dim && r->changes[i].dim != c->dim)
            return true;
    return false;
}

/* Two causes that name the same kind of thing, a size or a number, may be two names of one cause.
 */
static uint64_t family(enum stet_cause c)
{
    if (stet_cause_is(c, STET_CAUSE_IS_SIZE | STET_CAUSE_SIZE_FROM))
        return STET_CAUSES;
    if (stet_cause_is(c, STET_CAUSE_IS_NUMBER | STET_CAUSE_NUMBER_DOES))
        return STET_CAUSES + 1;
    return (uint64_t)c;
}

enum tie { TIE_SOURCE, TIE_LINE, TIE_ARGUMENT, TIE_TURN, TIE_BELOW };

static struct stet_hash tie_of(enum tie kind, const struct stet_recompile *r)
{
    struct stet_hash h = stet_hash_mix_u64((struct stet_hash){0}, (uint64_t)kind * 2 + r->benign);

    return stet_hash_mix_u64(h, r->event);
}

static struct stet_hash mix_line(struct stet_hash h, const struct stet_line *at)
{
    return stet_hash_mix_u64(stet_hash_mix(h, stet_hash_bytes(at->file)), at->line);
}

/* In one turn of the loop: the same two values, or another mode of torch (gradients, training). */
static bool by_turn(const struct stet_recompile *r, const struct stet_row_change *c, uint64_t kin,
                    struct stet_hash *out)
{
    struct stet_hash h = stet_hash_mix_u64(tie_of(TIE_TURN, r), r->process);

    if (!r->turn_known)
        return false;
    h = stet_hash_mix_u64(stet_hash_mix_u64(h, r->turn), r->lane);
    if (r->lane == STET_LANE_TORCH && stet_cause_question(r->cause) == STET_QUESTION_BRANCH) {
        *out = h;
        return true;
    }
    if (!c || !c->from.len || !c->to.len || kin < STET_CAUSES)
        return false;
    h = stet_hash_mix(stet_hash_mix_u64(h, kin), stet_hash_bytes(c->from));
    *out = stet_hash_mix(h, stet_hash_bytes(c->to));
    return true;
}

/* What is below all programs differs; the fix names it. */
static bool is_below(const struct stet_recompile *r)
{
    return stet_cause_is(r->cause, STET_CAUSE_BELOW);
}

/* Writes the ties of a recompile by one of its changes, or without one. */
static uint32_t ties_of(const struct stet_recompile *r, const struct stet_row_change *c,
                        uint64_t out[MOST_TIES])
{
    uint64_t kin = family(r->cause), dim = c ? c->dim : 0;
    struct stet_hash h;
    uint32_t n = 0;

    if (is_below(r)) {
        h = stet_hash_mix(tie_of(TIE_BELOW, r), stet_hash_bytes(r->fix));
        out[0] = stet_hash_mix_u64(h, kin).lo;
        return 1;
    }
    if (r->source.line) { /* the line that made the value */
        h = mix_line(tie_of(TIE_SOURCE, r), &r->source);
        out[n++] = stet_hash_mix_u64(stet_hash_mix_u64(h, kin), dim).lo;
    }
    if (r->origin
            .line) { /* the same change of the same cause in one line, decided in one function */
        h = mix_line(tie_of(TIE_LINE, r), &r->origin);
        h = stet_hash_mix(h, stet_hash_bytes(c ? c->what : (struct stet_view){0}));
        h = stet_hash_mix(h, stet_hash_bytes(r->source.file));
        h = stet_hash_mix(h, stet_hash_bytes(r->source.function));
        out[n++] = stet_hash_mix_u64(h, r->cause).lo;
    }
    if (dim) { /* the same dimension of the same argument of one function */
        h = stet_hash_mix(tie_of(TIE_ARGUMENT, r), stet_hash_bytes(r->function));
        h = mix_line(stet_hash_mix(h, stet_hash_bytes(c->what)), &r->source);
        out[n++] = stet_hash_mix_u64(stet_hash_mix_u64(h, kin), r->lane).lo;
    }
    if (by_turn(r, c, kin, &h))
        out[n++] = h.lo;
    return n;
}

uint32_t stet_story_root(const struct stet_stories *s, uint32_t strand)
{
    while (s->strands[strand].parent != strand)
        strand = s->strands[strand].parent;
    return strand;
}

/* The older strand becomes the root, and paths stay short. */
static void join(struct stet_stories *s, uint32_t a, uint32_t b)
{
    uint32_t x = stet_story_root(s, a), y = stet_story_root(s, b), root = x < y ? x : y;

    s->strands[x].parent = s->strands[y].parent = root;
    s->strands[a].parent = s->strands[b].parent = root;
}

static bool tie(struct stet_stories *s, uint32_t strand, const uint64_t *ties, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = stet_map_get(&s->by_tie, ties[i]);

        if (other != STET_MAP_NONE)
            join(s, strand, other);
        else if (!stet_map_put(&s->by_tie, ties[i], strand))
            return false;
    }
    return true;
}

/* ---- strands ---- */

static uint64_t key_of(const struct stet_recompile *r, const struct stet_row_change *c)
{
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(r->function), r->cause);

    for (uint32_t i = 0; i < r->also.count; i++)
        h = stet_hash_mix_u64(h, r->also.items[i]);
    h = mix_line(mix_line(h, &r->origin), &r->source);
    h = stet_hash_mix(h, stet_hash_bytes(c ? c->what : (struct stet_view){0}));
    h = stet_hash_mix_u64(stet_hash_mix_u64(h, r->lane), r->event);
    return stet_hash_mix_u64(h, r->benign).lo;
}

static void add_value(struct stet_stories *s, struct stet_story_strand *of, struct stet_view v)
{
    uint64_t key = stet_map_text(v);

    if (!v.len || stet_map_get(&of->seen, key) != STET_MAP_NONE)
        return;
    if (of->seen.count < MOST_DISTINCT)
        stet_map_put(&of->seen, key, 0);
    if (of->value.count < STET_STORY_SEEN)
        of->value.seen[of->value.count++] = kept(s, v);
    else
        of->value.more++;
}

static uint32_t new_strand(struct stet_stories *s, const struct stet_recompile *r,
                           const struct stet_row_change *c)
{
    struct stet_story_strand *of;

    if (s->strand_count == MOST_STRANDS ||
        !stet_vec_room(&s->strands, &s->strand_room, s->strand_count, sizeof *s->strands))
        return STET_MAP_NONE;
    of = &s->strands[s->strand_count];
    *of = (struct stet_story_strand){
        .parent = s->strand_count, .first_step = r->step, .steps_known = r->step_known};
    keep_row(s, &of->first, r);
    if (c)
        of->value.what = kept(s, c->what);
    return s->strand_count++;
}

/* A recompile with sizes of several dimensions goes to the first story that one of them has. */
static uint32_t strand_of_mixed(struct stet_stories *s, const struct stet_recompile *r)
{
    for (size_t i = 0; i < r->change_count; i++) {
        uint64_t ties[MOST_TIES];
        uint32_t n =
            r->changes[i].follows.ptr || !r->changes[i].dim ? 0 : ties_of(r, &r->changes[i], ties);

        for (uint32_t k = 0; k < n; k++)
            if (stet_map_get(&s->by_tie, ties[k]) != STET_MAP_NONE)
                return stet_map_get(&s->by_tie, ties[k]);
    }
    return STET_MAP_NONE;
}

static uint32_t strand_of(struct stet_stories *s, const struct stet_recompile *r,
                          const struct stet_row_change *c)
{
    uint64_t key = key_of(r, c), ties[MOST_TIES];
    uint32_t found = is_mixed(r) ? strand_of_mixed(s, r) : STET_MAP_NONE;

    if (found != STET_MAP_NONE)
        return found;
    found = stet_map_get(&s->by_key, key);
    if (found == STET_MAP_NONE) {
        found = new_strand(s, r, c);
        if (found == STET_MAP_NONE || !stet_map_put(&s->by_key, key, found))
            return STET_MAP_NONE;
    }
    return tie(s, found, ties, ties_of(r, c, ties)) ? found : STET_MAP_NONE;
}

static void count(struct stet_stories *s, struct stet_story_strand *of,
                  const struct stet_recompile *r, const struct stet_row_change *c)
{
    bool compiled = r->served == STET_SERVED_COMPILED;

    of->times++;
    of->served += !compiled;
    of->wait_ns += r->wait_ns;
    of->cost_ns += compiled ? r->cost_ns : 0;
    of->steps_known = of->steps_known && r->step_known;
    of->first_step = r->step < of->first_step ? r->step : of->first_step;
    of->last_step = r->step > of->last_step ? r->step : of->last_step;
    if (c && stet_view_eq(c->what, of->value.what)) {
        add_value(s, of, c->from);
        add_value(s, of, c->to);
    }
}

bool stet_story_add(void *stories, const struct stet_recompile *r)
{
    struct stet_stories *s = stories;
    const struct stet_row_change *c = stet_story_change(r);
    uint32_t strand = strand_of(s, r, c);

    if (!stet_vec_room(&s->story_of, &s->row_room, s->rows, sizeof *s->story_of))
        return false;
    s->story_of[s->rows++] = strand;
    if (strand != STET_MAP_NONE) {
        count(s, &s->strands[strand], r, c);
    } else {
        s->beyond++;
        s->beyond_ns += r->benign ? 0 : r->wait_ns;
    }
    return !s->arena.failed && !s->by_key.failed && !s->by_tie.failed;
}
