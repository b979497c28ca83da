/* Adding, grouping and locating changes; sizes and what follows from them. */
#include "explain/changes.h"

#include "base/arena_array.h"
#include "base/mem.h"
#include "explain/words.h"
#include "fingerprint/scalar.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct stet_view stet_explain_change_text(struct stet_comparison *c, const char *fmt, ...)
{
    char text[512];
    va_list list;
    int n;

    va_start(list, fmt);
    n = vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    return stet_arena_copy(&c->out->arena, stet_view_cut(text, sizeof text, n));
}

struct stet_view stet_explain_change_taken(struct stet_comparison *c)
{
    struct stet_view kept = stet_arena_copy(&c->out->arena, stet_buf_as_view(&c->scratch));

    c->scratch.len = 0;
    return kept;
}

struct stet_view stet_explain_change_attr(struct stet_comparison *c, const struct stet_attr *a)
{
    if (!a)
        return stet_explain_change_text(c, "none");
    stet_words_attr(&c->scratch, a);
    return stet_explain_change_taken(c);
}

struct stet_view stet_explain_change_type(struct stet_comparison *c, const struct stet_type *t)
{
    stet_words_type(&c->scratch, t);
    return stet_explain_change_taken(c);
}

struct stet_view stet_explain_change_dtype(struct stet_comparison *c, const struct stet_type *t)
{
    stet_words_dtype(&c->scratch, t);
    return stet_explain_change_taken(c);
}

/* ---- the list ---- */

void stet_explain_change_locate(struct stet_change *change, const struct stet_op *op)
{
    const struct stet_loc *file = stet_loc_file(op->loc);

    if (!file)
        return;
    change->loc = op->loc;
    change->file = file->text;
    change->line = file->line;
    change->column = file->column;
    change->function = stet_loc_function(op->loc);
}

static void locate(struct stet_change *change, const struct stet_op *op, bool of_a)
{
    if (!op)
        return;
    change->op = stet_op_name(op);
    change->order = op->id;
    change->line_of_a = of_a;
    stet_explain_change_locate(change, op);
}

static void locate_in_a(struct stet_change *change, const struct stet_op *op)
{
    const struct stet_loc *file = stet_loc_file(op->loc);

    if (!file || (file->line == change->line && stet_view_eq(file->text, change->file)))
        return;
    change->file_in_a = file->text;
    change->line_in_a = file->line;
}

static uint64_t group_key(const struct stet_change *c)
{
    uint64_t h = stet_mix((uint64_t)c->kind << 8 | c->facet, c->line);

    h = stet_mix(h, (uint64_t)c->of.index << 8 | c->of.aspect);
    h = stet_mix(h, stet_hash_bytes(c->of.name).lo);
    h = stet_mix(h, stet_hash_bytes(c->of.in).lo);
    h = stet_mix(h, stet_hash_bytes(c->from).lo);
    h = stet_mix(h, stet_hash_bytes(c->to).lo);
    return stet_mix(h, stet_hash_bytes(c->file).lo);
}

static bool same_subject(const struct stet_change_subject *x, const struct stet_change_subject *y)
{
    return x->aspect == y->aspect && x->index == y->index && stet_view_eq(x->name, y->name) &&
           stet_view_eq(x->in, y->in) && stet_view_eq(x->target, y->target);
}

static bool same_group(const struct stet_change *x, const struct stet_change *y)
{
    return x->kind == y->kind && x->facet == y->facet && x->line == y->line &&
           same_subject(&x->of, &y->of) && stet_view_eq(x->from, y->from) &&
           stet_view_eq(x->to, y->to) && stet_view_eq(x->file, y->file);
}

static bool make_room(struct stet_comparison *c)
{
    struct stet_diff *d = c->out;
    struct stet_change *changes =
        stet_arena_grow(&d->arena, d->changes, d->change_count, &c->room, sizeof *changes);

    if (changes)
        d->changes = changes;
    return changes != NULL;
}

struct stet_change *stet_explain_change_add(struct stet_comparison *c,
                                            const struct stet_change *change,
                                            const struct stet_op *of_a, const struct stet_op *of_b)
{
    struct stet_change n = *change;
    uint32_t at = 0, old;
    uint64_t key;

    n.count = 1;
    locate(&n, of_b ? of_b : of_a, !of_b);
    if (of_a && of_b)
        locate_in_a(&n, of_a);
    key = group_key(&n);
    while ((old = stet_map_next(&c->groups, key, &at)) != STET_MAP_NONE)
        if (same_group(&c->out->changes[old], &n)) {
            c->out->changes[old].count++;
            return &c->out->changes[old];
        }
    if (c->out->change_count >= STET_DIFF_MOST || !make_room(c) ||
        !stet_map_add(&c->groups, key, c->out->change_count)) {
        c->out->left_out++;
        return NULL;
    }
    c->out->changes[c->out->change_count++] = n;
    return &c->out->changes[c->out->change_count - 1];
}

/* ---- sizes ---- */

void stet_explain_sizes_add(struct stet_comparison *c, int64_t from, int64_t to)
{
    struct stet_size_pair p = {(double)from, (double)to};

    if (from <= 0 || to <= 0 || from == to)
        return;
    for (uint32_t i = 0; i < c->size_count; i++)
        if (c->sizes[i].from == p.from && c->sizes[i].to == p.to)
            return;
    if (c->size_count < sizeof c->sizes / sizeof *c->sizes)
        c->sizes[c->size_count++] = p;
}

bool stet_explain_sizes_explain(const struct stet_comparison *c, double from, double to,
                                double tolerance)
{
    if (from == to)
        return true;
    for (uint32_t i = 0; i < c->size_count; i++) {
        double x = c->sizes[i].from, y = c->sizes[i].to;

        if (stet_scalar_close(from * y, to * x, tolerance) ||
            stet_scalar_close(from * x, to * y, tolerance) ||
            stet_scalar_close(from * from * y, to * to * x, tolerance) ||
            stet_scalar_close(from * from * x, to * to * y, tolerance))
            return true;
        if (from == floor(from) && to == floor(to) &&
            (to - from == y - x || from * (y - 1) == to * (x - 1) ||
             from * (y + 1) == to * (x + 1)))
            return true;
        for (uint32_t j = i; j < c->size_count; j++)
            if (stet_scalar_close(from * y * c->sizes[j].to, to * x * c->sizes[j].from, tolerance))
                return true;
    }
    return false;
}
