/* Makes stories of strands that are tied, and sorts them. */
#include "story/strand.h"

#include "base/mem.h"
#include "fingerprint/source_place.h"

#include <stdlib.h>

/* ---- which strand shows the cause best ---- */

/* A cause that names where a value came from explains more than one that describes the programs. */
static int depth(enum stet_cause c)
{
    return stet_cause_is(c, STET_CAUSE_VAGUE) ? 0 : stet_cause_is(c, STET_CAUSE_DESCRIBES) ? 1 : 2;
}

static bool is_better(const struct stet_story_strand *a, const struct stet_story_strand *b)
{
    if (a->first.sure != b->first.sure)
        return a->first.sure > b->first.sure;
    if (depth(a->first.cause) != depth(b->first.cause))
        return depth(a->first.cause) > depth(b->first.cause);
    if ((a->first.source.line != 0) != (b->first.source.line != 0))
        return a->first.source.line != 0;
    return a->wait_ns > b->wait_ns;
}

/* ---- one story ---- */

/* The line that made the value, if it was seen. Otherwise the line where the value enters the
 * program, unless that is in a library and the caller's line is known. */
static const struct stet_line *line_to_edit(const struct stet_recompile *r)
{
    if (r->source.line)
        return &r->source;
    return r->origin.line && !(r->trigger.line && stet_place_installed(r->origin.file))
               ? &r->origin
               : &r->trigger;
}

static void add_function(struct stet_story *t, struct stet_view name)
{
    for (size_t i = 0; i < t->function_count; i++)
        if (stet_view_eq(t->functions[i], name))
            return;
    if (t->function_count < STET_STORY_FUNCTIONS)
        t->functions[t->function_count++] = name;
    else
        t->functions_more++;
}

static void add_seen(struct stet_story_value *to, struct stet_view v)
{
    for (size_t i = 0; i < to->count; i++)
        if (stet_view_eq(to->seen[i], v))
            return;
    if (to->count < STET_STORY_SEEN)
        to->seen[to->count++] = v;
    else
        to->more++;
}

static void add_values(struct stet_story *t, const struct stet_story_value *v)
{
    struct stet_story_value *to = NULL;

    if (!v->count)
        return;
    for (size_t i = 0; i < t->value_count && !to; i++)
        if (stet_view_eq(t->values[i].what, v->what))
            to = &t->values[i];
    if (!to && t->value_count < STET_STORY_VALUES) {
        t->values[t->value_count++] = *v;
        return;
    }
    for (size_t i = 0; to && i < v->count; i++)
        add_seen(to, v->seen[i]);
    if (to)
        to->more += v->more;
}

static void add_strand(struct stet_story *t, const struct stet_story_strand *from, bool first)
{
    t->count += from->times;
    t->events[from->first.event] += from->times;
    t->served += from->served;
    t->wait_ns += from->wait_ns;
    t->cost_ns += from->cost_ns;
    t->steps_known = (first || t->steps_known) && from->steps_known;
    if (first || from->first_step < t->first_step)
        t->first_step = from->first_step;
    if (from->last_step > t->last_step)
        t->last_step = from->last_step;
    add_function(t, from->first.function);
    add_values(t, &from->value);
}

/* The other causes of a story: those of its best recompile, and those of other recompiles that are
 * not another name for the same thing. */
static void add_causes(struct stet_story *t, const struct stet_story_strand *of)
{
    unsigned size = STET_CAUSE_IS_SIZE | STET_CAUSE_SIZE_FROM;
    unsigned number = STET_CAUSE_IS_NUMBER | STET_CAUSE_NUMBER_DOES;
    enum stet_cause c = of->first.cause;

    if (c != t->cause && !(stet_cause_is(c, size) && stet_cause_is(t->cause, size)) &&
        !(stet_cause_is(c, number) && stet_cause_is(t->cause, number)))
        stet_cause_list_add(&t->also, c);
}

/* ---- all of them ---- */

/* Orders strands by story, and within one by what was waited for. */
struct order {
    uint32_t strand, root;
    uint64_t wait_ns;
};

static int by_root(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns < y->wait_ns ? 1 : -1;
    return x->strand < y->strand ? -1 : x->strand > y->strand;
}

static void tell(struct stet_stories *s, struct stet_story *t, const struct order *o, size_t n)
{
    const struct stet_story_strand *best = &s->strands[o[0].strand];

    for (size_t i = 0; i < n; i++) {
        const struct stet_story_strand *one = &s->strands[o[i].strand];

        add_strand(t, one, i == 0);
        if (is_better(one, best))
            best = one;
    }
    t->lead = best->first;
    t->cause = best->first.cause;
    t->also = best->first.also;
    t->benign = best->first.benign;
    t->source = *line_to_edit(&best->first);
    for (size_t i = 0; i < n; i++)
        add_causes(t, &s->strands[o[i].strand]);
}

/* Most expensive first, harmless ones last. */
static int by_wait(const void *a, const void *b)
{
    const struct stet_story *x = a, *y = b;

    if (x->benign != y->benign)
        return x->benign ? 1 : -1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns < y->wait_ns ? 1 : -1;
    if (x->lead.process != y->lead.process)
        return x->lead.process < y->lead.process ? -1 : 1;
    return x->lead.compile < y->lead.compile ? -1 : x->lead.compile > y->lead.compile;
}

static bool make(struct stet_stories *s, struct order *o)
{
    for (uint32_t i = 0; i < s->strand_count; i++)
        o[i] = (struct order){i, stet_story_root(s, i), s->strands[i].wait_ns};
    qsort(o, s->strand_count, sizeof *o, by_root);
    s->items = STET_NEW_ARRAY(&s->arena, struct stet_story, s->strand_count);
    for (size_t i = 0, n; s->items && i < s->strand_count; i += n) {
        for (n = 1; i + n < s->strand_count && o[i + n].root == o[i].root;)
            n++;
        s->items[s->count].root = o[i].root;
        tell(s, &s->items[s->count++], &o[i], n);
    }
    if (s->items)
        qsort(s->items, s->count, sizeof *s->items, by_wait);
    return s->items != NULL;
}

/* Gives each recompile the number of its story, and each story the numbers of its recompiles. */
static bool number(struct stet_stories *s, uint32_t *story_of_root)
{
    uint32_t **next = STET_NEW_ARRAY(&s->arena, uint32_t *, s->count);

    for (uint32_t i = 0; next && i < s->count; i++) {
        story_of_root[s->items[i].root] = i;
        next[i] = STET_NEW_ARRAY(&s->arena, uint32_t, s->items[i].count);
        s->items[i].recompiles = next[i];
    }
    for (uint32_t i = 0; !s->arena.failed && i < s->rows; i++) {
        if (s->story_of[i] == STET_MAP_NONE)
            continue;
        s->story_of[i] = story_of_root[stet_story_root(s, s->story_of[i])];
        *next[s->story_of[i]]++ = i;
    }
    return !s->arena.failed;
}

bool stet_story_finish(struct stet_stories *s)
{
    struct order *o = stet_mem_calloc((size_t)s->strand_count + 1, sizeof *o);
    uint32_t *story_of_root = stet_mem_calloc((size_t)s->strand_count + 1, sizeof *story_of_root);
    bool good =
        o && story_of_root && (!s->strand_count || (make(s, o) && number(s, story_of_root)));

    stet_mem_free(o);
    stet_mem_free(story_of_root);
    return good;
}
