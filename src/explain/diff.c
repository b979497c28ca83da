/* Sets the two sides up, has them matched and compared, sorts what was found. */
#include "explain/changes.h"

#include "base/mem.h"

#include <stdlib.h>

static const char *const names[] = {
    [STET_CHANGE_ARGUMENT_CAME] = "argument-came",
    [STET_CHANGE_ARGUMENT_WENT] = "argument-went",
    [STET_CHANGE_ARGUMENT_MOVED] = "argument-moved",
    [STET_CHANGE_ARGUMENT] = "argument",
    [STET_CHANGE_OUTPUT_CAME] = "output-came",
    [STET_CHANGE_OUTPUT_WENT] = "output-went",
    [STET_CHANGE_OUTPUT] = "output",
    [STET_CHANGE_OP_CAME] = "operation-came",
    [STET_CHANGE_OP_WENT] = "operation-went",
    [STET_CHANGE_CONSTANT] = "constant",
    [STET_CHANGE_ATTRIBUTE] = "attribute",
    [STET_CHANGE_TYPE] = "type",
    [STET_CHANGE_OPERAND] = "operand",
    [STET_CHANGE_REPEAT] = "repeat",
    [STET_CHANGE_OPTION] = "option",
    [STET_CHANGE_ORDER] = "order",
};

const char *stet_change_name(enum stet_change_kind kind)
{
    return names[kind];
}

void stet_diff_release(struct stet_diff *d)
{
    stet_arena_release(&d->arena);
    d->changes = NULL;
    d->change_count = 0;
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
    return stet_view_cmp(l->what, r->what);
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
    stet_compare_arguments(c);
    stet_compare_meshes(c);
    stet_compare_ops(c);
    stet_compare_unmatched(c);
    stet_compare_outputs(c);
    if (!c->out->change_count && c->out->same_skeleton && !c->out->moved)
        stet_change_add(
            c,
            &(struct stet_change){.kind = STET_CHANGE_ORDER,
                                  .facet = STET_NO_FACET,
                                  .follows = STET_NO_FACET,
                                  .what = stet_change_text(c, "order of independent operations")},
            NULL, NULL);
}

static void count_matched(struct stet_diff *d, struct stet_side *s)
{
    for (uint32_t i = 0; i < s->program->op_count; i++)
        d->ops_matched += s->ops[i] && s->match[i] && stet_side_counts(s, s->ops[i]);
}

static enum stet_rc compare_sides(struct stet_diff *out, struct stet_side *a, struct stet_side *b,
                                  struct stet_err *err)
{
    struct stet_comparison c = {.a = a, .b = b, .out = out, .group_mask = 4 * STET_DIFF_MOST - 1};
    enum stet_rc rc =
        out->same_skeleton ? stet_match_in_order(a, b, err) : stet_match_programs(a, b, err);

    if (rc != STET_OK)
        return rc;
    c.groups = STET_NEW_ARRAY(&a->arena, uint32_t, c.group_mask + 1);
    c.told_a = STET_NEW_ARRAY(&a->arena, uint8_t, a->program->op_count + 1);
    c.told_b = STET_NEW_ARRAY(&b->arena, uint8_t, b->program->op_count + 1);
    if (!c.groups || !c.told_a || !c.told_b)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    compare(&c);
    count_matched(out, b);
    stet_buf_release(&c.scratch);
    if (out->arena.failed || c.scratch.failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    return STET_OK;
}

static enum stet_rc compare_programs(struct stet_diff *out, const struct stet_program *a,
                                     const struct stet_program *b, struct stet_err *err)
{
    struct stet_side *sides = stet_mem_calloc(2, sizeof *sides);
    enum stet_rc (*init)(struct stet_side *, const struct stet_program *, struct stet_err *);
    enum stet_rc rc;

    if (!sides)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    init = out->same_skeleton ? stet_side_init_plain : stet_side_init;
    rc = init(&sides[0], a, err);
    if (rc == STET_OK) {
        rc = init(&sides[1], b, err);
        if (rc == STET_OK) {
            rc = compare_sides(out, &sides[0], &sides[1], err);
            stet_side_release(&sides[1]);
        }
        stet_side_release(&sides[0]);
    }
    stet_mem_free(sides);
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
        rc = compare_programs(out, a->program, b->program, err);
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
        .what = stet_arena_printf(&d->arena, "option %.*s", STET_FMT(name)),
        .from = from.ptr ? stet_arena_copy(&d->arena, from) : from,
        .to = to.ptr ? stet_arena_copy(&d->arena, to) : to,
        .count = 1,
    };
    d->changes = more;
    d->moved |= 1u << STET_FACET_OPTIONS;
    stet_diff_classify(d);
}
