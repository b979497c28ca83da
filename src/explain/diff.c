/* Prepares the two sides, matches and compares them, and sorts the changes. */
#include "explain/changes.h"

#include "base/mem.h"

#include <stdlib.h>

void stet_diff_release(struct stet_diff *d)
{
    stet_arena_release(&d->arena);
    d->changes = NULL;
    d->change_count = 0;
}

static int by_subject(const struct stet_change_subject *l, const struct stet_change_subject *r)
{
    int names = stet_view_cmp(l->name, r->name);

    if (names)
        return names;
    if (l->aspect != r->aspect)
        return l->aspect < r->aspect ? -1 : 1;
    if (l->index != r->index)
        return l->index < r->index ? -1 : 1;
    return stet_view_cmp(l->in, r->in);
}

/* Causes before what follows from them; a loop's count, which explains much else, first; arguments
 * before operations; then the program's order. */
static int by_weight(const void *left, const void *right)
{
    const struct stet_change *l = left, *r = right;
    bool l_follows = l->follows != STET_NO_FACET, r_follows = r->follows != STET_NO_FACET;
    bool l_op = l->kind > STET_CHANGE_OUTPUT, r_op = r->kind > STET_CHANGE_OUTPUT;

    if ((l->kind == STET_CHANGE_REPEAT) != (r->kind == STET_CHANGE_REPEAT))
        return l->kind == STET_CHANGE_REPEAT ? -1 : 1;
    if (l_follows != r_follows)
        return l_follows - r_follows;
    if (l_op != r_op)
        return l_op - r_op;
    if (l_op && l->order != r->order)
        return l->order < r->order ? -1 : 1;
    if (l->kind != r->kind)
        return l->kind < r->kind ? -1 : 1;
    if (l->kind == STET_CHANGE_ARGUMENT && l->order != r->order)
        return l->order < r->order ? -1 : 1;
    return by_subject(&l->of, &r->of);
}

static uint32_t facets_of_changes(const struct stet_diff *d)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < d->change_count; i++)
        if (d->changes[i].facet < STET_FACETS)
            bits |= 1u << d->changes[i].facet;
    return bits;
}

static void compare(struct stet_comparison *c)
{
    stet_explain_compare_arguments(c);
    stet_explain_compare_meshes(c);
    stet_explain_compare_ops(c);
    stet_explain_compare_unmatched(c);
    stet_explain_compare_outputs(c);
    stet_explain_compare_bounded(c);
    if (!c->out->change_count && c->out->same_skeleton && !c->out->moved)
        stet_explain_change_add(c,
                                &(struct stet_change){.kind = STET_CHANGE_ORDER,
                                                      .facet = STET_NO_FACET,
                                                      .follows = STET_NO_FACET},
                                NULL, NULL);
}

static void count_matched(struct stet_diff *d, struct stet_side *s)
{
    for (uint32_t i = 0; i < s->program->op_count; i++)
        d->ops_matched += s->ops[i] && s->match[i] && stet_side_counts(s, s->ops[i]);
}

static enum stet_rc match(const struct stet_diff *out, struct stet_side *a, struct stet_side *b,
                          bool *all, struct stet_err *err)
{
    *all = false;
    if (out->same_skeleton)
        return stet_match_in_order(a, b, all, err);
    if (stet_side_need_signatures(a) && stet_side_need_signatures(b) && stet_side_need_uses(a) &&
        stet_side_need_uses(b))
        return stet_match_programs(a, b, err);
    return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}

static enum stet_rc compare_sides(struct stet_diff *out, struct stet_side *a, struct stet_side *b,
                                  struct stet_err *err)
{
    struct stet_comparison c = {.a = a,
                                .b = b,
                                .out = out,
                                .moved =
                                    out->same_skeleton && out->moved ? out->moved : UINT32_MAX};
    enum stet_rc rc = match(out, a, b, &c.all_matched, err);

    if (rc != STET_OK)
        return rc;
    c.told_a = stet_mem_calloc((size_t)a->program->op_count + b->program->op_count + 2, 1);
    c.told_b = c.told_a + a->program->op_count + 1;
    if (c.told_a) {
        compare(&c);
        count_matched(out, b);
    }
    if (!c.told_a || c.groups.failed || out->arena.failed || c.scratch.failed || a->arena.failed ||
        b->arena.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    stet_buf_release(&c.scratch);
    stet_map_release(&c.groups);
    stet_mem_free(c.told_a);
    return rc;
}

/* The caller's tables, cleared, or our own in *mine. */
static struct stet_side *tables_of(const struct stet_diff_side *s, struct stet_side **mine,
                                   struct stet_err *err)
{
    struct stet_fingerprint again;

    *mine = NULL;
    if (s->tables) {
        stet_side_clear(s->tables);
        return s->tables;
    }
    *mine = stet_mem_alloc(sizeof **mine);
    if (!*mine) {
        stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
        return NULL;
    }
    if (stet_side_prepare(*mine, s->program, (struct stet_view){0}, &again, err) == STET_OK)
        return *mine;
    stet_mem_free(*mine);
    *mine = NULL;
    return NULL;
}

static void drop(struct stet_side *mine)
{
    if (mine)
        stet_side_release(mine);
    stet_mem_free(mine);
}

static enum stet_rc compare_programs(struct stet_diff *out, const struct stet_diff_side *a,
                                     const struct stet_diff_side *b, struct stet_err *err)
{
    struct stet_err why = STET_ERR_INIT;
    struct stet_side *own_a, *own_b = NULL;
    struct stet_side *of_a = tables_of(a, &own_a, &why);
    struct stet_side *of_b = of_a ? tables_of(b, &own_b, &why) : NULL;
    enum stet_rc rc =
        of_b ? compare_sides(out, of_a, of_b, err) : stet_fail(err, why.rc, "%s", why.text);

    drop(own_a);
    drop(own_b);
    return rc;
}

enum stet_rc stet_diff_make(struct stet_diff *out, const struct stet_diff_side *a,
                            const struct stet_diff_side *b, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    *out = (struct stet_diff){0};
    stet_arena_init(&out->arena, (size_t)1 << 30);
    out->same_key = stet_hash_eq(a->fingerprint->key, b->fingerprint->key);
    out->same_skeleton = stet_hash_eq(a->fingerprint->skeleton, b->fingerprint->skeleton);
    out->moved = stet_fingerprint_moved(a->fingerprint, b->fingerprint);
    if (!out->same_key)
        rc = compare_programs(out, a, b, err);
    if (rc != STET_OK) {
        stet_diff_release(out);
        return rc;
    }
    if (!out->same_skeleton) /* streams of different skeletons can't be compared */
        out->moved = facets_of_changes(out) | (out->moved & 1u << STET_FACET_OPTIONS);
    if (out->change_count)
        qsort(out->changes, out->change_count, sizeof *out->changes, by_weight);
    stet_diff_classify(out);
    return STET_OK;
}

void stet_diff_add_option(struct stet_diff *d, struct stet_view name, struct stet_view from,
                          struct stet_view to)
{
    struct stet_change *more =
        STET_NEW_ARRAY(&d->arena, struct stet_change, (size_t)d->change_count + 1);

    if (!more)
        return;
    if (d->change_count)
        memcpy(more, d->changes, d->change_count * sizeof *more);
    more[d->change_count++] = (struct stet_change){
        .kind = STET_CHANGE_OPTION,
        .facet = STET_FACET_OPTIONS,
        .follows = STET_NO_FACET,
        .of = {.name = stet_arena_copy(&d->arena, name)},
        .from = from.ptr ? stet_arena_copy(&d->arena, from) : from,
        .to = to.ptr ? stet_arena_copy(&d->arena, to) : to,
        .count = 1,
    };
    d->changes = more;
    d->moved |= 1u << STET_FACET_OPTIONS;
    stet_diff_classify(d);
}
