/* Block by block: arguments first, then whatever has equal hashes upstream, then order and places,
 * then neighbours of what is matched. Functions and regions follow their operations. */
#include "explain/match.h"

#include "base/mem.h"
#include "explain/lcs.h"
#include "explain/match_repair.h"

#include <stdlib.h>

struct block_pair {
    const struct stet_block *a, *b;
};

struct matching {
    struct stet_side *a, *b;
    uint64_t *up_a, *up_b; /* by operation id: hash of everything the operation is made from */
    bool same_lines; /* both were traced from the same text, so line numbers may be compared */
    bool places;     /* locations are there at all */
    struct block_pair *queue;
    uint32_t queued, room;
    enum stet_rc rc;
};

bool stet_match_same(const struct stet_side *a, const struct stet_value *of_a,
                     const struct stet_value *of_b)
{
    if (!of_a->def || !of_b->def)
        return of_a->def == of_b->def && a->value_match[of_a->id] == of_b;
    return a->match[of_a->def->id] == of_b->def && of_a->index == of_b->index;
}

/* ---- are line numbers comparable? ---- */

static int by_value(const void *left, const void *right)
{
    const uint64_t *l = left, *r = right;

    return *l < *r ? -1 : *l > *r;
}

static uint32_t distinct_lines(const struct stet_side *s, uint64_t *out)
{
    uint32_t count = 0, kept = 0;

    for (uint32_t i = 0; i < s->program->op_count; i++)
        if (s->line[i])
            out[count++] = stet_mix(s->line[i], s->place[i]);
    qsort(out, count, sizeof *out, by_value);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || out[kept - 1] != out[i])
            out[kept++] = out[i];
    return kept;
}

/* When nine tenths of the smaller program's places are in the larger one, the text is the same: an
 * edit moves everything below it. */
static bool compare_lines(struct matching *m)
{
    size_t n = m->a->program->op_count, k = m->b->program->op_count;
    uint64_t *lines = stet_mem_calloc(n + k + 1, sizeof *lines), *other = lines + n;
    uint32_t a, b, i = 0, j = 0, both = 0;

    if (!lines)
        return false;
    a = distinct_lines(m->a, lines);
    b = distinct_lines(m->b, other);
    while (i < a && j < b) {
        both += lines[i] == other[j];
        if (lines[i] <= other[j])
            i++;
        else
            j++;
    }
    m->places = a && b;
    m->same_lines = m->places && both * 10 >= (uint64_t)(a < b ? a : b) * 9;
    stet_mem_free(lines);
    return true;
}

/* ---- hashes from upstream ---- */

/* What a value is, in words both sides share. */
static uint64_t value_token(struct stet_side *s, const uint64_t *up, const struct stet_value *v,
                            const struct stet_block *block, bool in_b)
{
    const struct stet_value *other;

    v = stet_canon_source(&s->canon, v);
    if (!v->def) {
        other = s->value_match[v->id];
        return other ? stet_mix(11, in_b ? other->id : v->id) : stet_mix(in_b ? 13 : 12, v->id);
    }
    if (stet_canon_kind(&s->canon, v->def) == STET_KIND_CONSTANT)
        return 17;
    if (v->def->parent != block) { /* from around this region */
        const struct stet_op *def = s->match[v->def->id];

        return def ? stet_mix(stet_mix(19, in_b ? def->id : v->def->id), v->index)
                   : stet_mix(in_b ? 15 : 14, v->id);
    }
    return stet_mix(up[v->def->id], v->index);
}

static void hash_up(struct stet_side *s, uint64_t *up, const uint64_t *own,
                    const struct stet_block *block, bool in_b)
{
    for (uint32_t i = 0; i < block->op_count; i++) {
        const struct stet_op *op = block->ops[i];
        uint64_t h;

        if (!stet_side_counts(s, op))
            continue;
        h = own[op->id];
        for (uint32_t j = 0; j < op->operand_count; j++)
            h = stet_mix(h, value_token(s, up, op->operands[j], block, in_b));
        up[op->id] = h;
    }
}

struct keyed {
    uint64_t key;
    uint32_t index;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *l = left, *r = right;

    if (l->key != r->key)
        return l->key < r->key ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

static uint32_t free_ops(struct stet_side *s, const uint64_t *up, const struct stet_block *block,
                         struct keyed *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < block->op_count; i++) {
        uint32_t id = block->ops[i]->id;

        if (stet_side_counts(s, block->ops[i]) && !s->match[id])
            out[count++] = (struct keyed){up[id], i};
    }
    qsort(out, count, sizeof *out, by_key);
    return count;
}

/* Equal hashes that occur equally often on both sides stand for each other in order. */
static bool match_up(struct matching *m, const uint64_t *own_a, const uint64_t *own_b,
                     const struct block_pair *p)
{
    struct keyed *all = stet_mem_calloc((size_t)p->a->op_count + p->b->op_count + 1, sizeof *all);
    struct keyed *other = all + p->a->op_count;
    uint32_t n, k, j = 0;

    if (!all)
        return false;
    hash_up(m->a, m->up_a, own_a, p->a, false);
    hash_up(m->b, m->up_b, own_b, p->b, true);
    n = free_ops(m->a, m->up_a, p->a, all);
    k = free_ops(m->b, m->up_b, p->b, other);
    for (uint32_t i = 0, end, other_end; i < n; i = end) {
        for (end = i; end < n && all[end].key == all[i].key; end++)
            ;
        while (j < k && other[j].key < all[i].key)
            j++;
        for (other_end = j; other_end < k && other[other_end].key == all[i].key; other_end++)
            ;
        for (uint32_t t = 0; end - i == other_end - j && t < end - i; t++) {
            const struct stet_op *of_a = p->a->ops[all[i + t].index];
            const struct stet_op *of_b = p->b->ops[other[j + t].index];

            stet_match_ops(m->a, of_a, m->b, of_b);
            m->a->certain[of_a->id] = m->b->certain[of_b->id] = 1;
        }
    }
    stet_mem_free(all);
    return true;
}

/* ---- order and places ---- */

enum { LEVELS = 7, BY_NAME = LEVELS - 1 };

/* Which arguments an operation uses: tells layers apart that look alike. Operations would not do:
 * the last one before something was inserted has a counterpart, and other users. */
static uint64_t context_of(struct stet_side *s, const struct stet_op *op, bool in_b)
{
    uint64_t h = 3;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_canon_source(&s->canon, op->operands[i]), *other;

        if (v->def)
            continue;
        other = s->value_match[v->id];
        h += stet_mix(i, other ? (in_b ? other->id : v->id) + 1 : UINT64_MAX - in_b);
    }
    return h;
}

static uint64_t key_of(const struct matching *m, struct stet_side *s, const struct stet_op *op,
                       int level, bool in_b)
{
    uint64_t line = m->same_lines ? s->line[op->id] : 0;

    switch (level) {
    case 0:
        return stet_mix(stet_mix(s->exact[op->id], line), context_of(s, op, in_b));
    case 1:
        return stet_mix(stet_mix(s->place[op->id], line), context_of(s, op, in_b));
    case 2:
        return stet_mix(s->exact[op->id], line);
    case 3:
        return stet_mix(s->place[op->id], line);
    case 4: /* its body was edited */
        return stet_mix(s->spot[op->id], line);
    case 5: /* its line was edited */
        return stet_mix(stet_mix(s->own[op->id], stet_hash_bytes(stet_loc_function(op->loc)).lo),
                        line);
    default:
        return s->own[op->id];
    }
}

static uint32_t fill_keys(const struct matching *m, struct stet_side *s,
                          const struct stet_block *block, int level, bool in_b, uint64_t *keys,
                          uint32_t *indices)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < block->op_count; i++) {
        const struct stet_op *op = block->ops[i], *other = s->match[op->id];

        if (!stet_side_counts(s, op))
            continue;
        keys[count] =
            other ? stet_mix(97, in_b ? other->id : op->id) : key_of(m, s, op, level, in_b);
        indices[count++] = i;
    }
    return count;
}

static bool match_in_sequence(struct matching *m, const struct block_pair *p, int level)
{
    size_t n = p->a->op_count, k = p->b->op_count;
    uint64_t *keys = stet_mem_calloc(n + k + 1, sizeof *keys);
    uint32_t *tables = stet_mem_calloc(n * 2 + k + 1, sizeof *tables), *in_a = tables;
    uint32_t *in_b = tables + n, *pair = in_b + k;
    bool fine = keys && tables;

    if (fine) {
        uint32_t count_a = fill_keys(m, m->a, p->a, level, false, keys, in_a);
        uint32_t count_b = fill_keys(m, m->b, p->b, level, true, keys + n, in_b);

        fine = stet_lcs(keys, count_a, keys + n, count_b, pair);
        for (uint32_t i = 0; fine && i < count_a; i++) {
            const struct stet_op *a = p->a->ops[in_a[i]], *b;

            if (pair[i] == STET_LCS_NONE || m->a->match[a->id])
                continue;
            b = p->b->ops[in_b[pair[i]]];
            if (!m->b->match[b->id])
                stet_match_ops(m->a, a, m->b, b);
        }
    }
    stet_mem_free(keys);
    stet_mem_free(tables);
    return fine;
}

/* ---- neighbours ---- */

static bool alike(const struct matching *m, const struct stet_op *a, const struct stet_op *b)
{
    return !m->a->match[a->id] && !m->b->match[b->id] && m->a->own[a->id] == m->b->own[b->id] &&
           (!m->same_lines || m->a->line[a->id] == m->b->line[b->id]);
}

/* Operands of matched operations, from the end of the block so that one sweep reaches all. */
static void match_operands(struct matching *m, const struct stet_block *in_b)
{
    for (uint32_t i = in_b->op_count; i-- > 0;) {
        const struct stet_op *b = in_b->ops[i], *a = m->b->match[b->id];

        if (!a || a->operand_count != b->operand_count)
            continue;
        for (uint32_t j = 0; j < a->operand_count; j++) {
            const struct stet_op *da = stet_canon_source(&m->a->canon, a->operands[j])->def;
            const struct stet_op *db = stet_canon_source(&m->b->canon, b->operands[j])->def;

            if (da && db && db->parent == in_b && da->parent == a->parent &&
                stet_side_counts(m->a, da) && stet_side_counts(m->b, db) && alike(m, da, db))
                stet_match_ops(m->a, da, m->b, db);
        }
    }
}

/* An unmatched user of what `b` uses as its first operand, used in the same way. */
static const struct stet_op *user_like(const struct matching *m, const struct stet_op *b,
                                       const struct stet_block *in_a)
{
    const struct stet_value *v = stet_canon_source(&m->b->canon, b->operands[0]), *of_a;
    uint32_t end;

    if (!v->def)
        of_a = m->b->value_match[v->id];
    else
        of_a = m->b->match[v->def->id] ? &m->b->match[v->def->id]->results[v->index] : NULL;
    if (!of_a)
        return NULL;
    end = m->a->use_start[of_a->id + 1];
    for (uint32_t i = m->a->use_start[of_a->id], tries = 0; i < end && tries < 16; i++, tries++) {
        const struct stet_use *use = &m->a->uses[i];

        if (use->operand == 0 && use->op->parent == in_a && alike(m, use->op, b))
            return use->op;
    }
    return NULL;
}

static void match_users(struct matching *m, const struct block_pair *p)
{
    for (uint32_t i = 0; i < p->b->op_count; i++) {
        const struct stet_op *b = p->b->ops[i], *a;

        if (!b->operand_count || m->b->match[b->id] || !stet_side_counts(m->b, b))
            continue;
        a = user_like(m, b, p->a);
        if (a)
            stet_match_ops(m->a, a, m->b, b);
    }
}

/* ---- the blocks of a program ---- */

static void enqueue(struct matching *m, const struct stet_block *a, const struct stet_block *b)
{
    if (m->queued == m->room) {
        uint32_t room = m->room ? m->room * 2 : 64;
        struct block_pair *bigger = stet_mem_resize(m->queue, room, sizeof *bigger);

        if (!bigger) {
            m->rc = STET_NO_MEMORY;
            return;
        }
        m->queue = bigger;
        m->room = room;
    }
    m->queue[m->queued++] = (struct block_pair){a, b};
}

static void enqueue_regions(struct matching *m, const struct stet_op *a, const struct stet_op *b)
{
    for (unsigned r = 0; r < a->region_count && r < b->region_count; r++)
        for (uint32_t i = 0; i < a->regions[r].block_count && i < b->regions[r].block_count; i++)
            enqueue(m, a->regions[r].blocks[i], b->regions[r].blocks[i]);
}

static void match_functions(struct matching *m, const struct stet_op *a, const struct stet_op *b)
{
    if (m->a->match[a->id] || m->b->match[b->id])
        return;
    stet_match_ops(m->a, a, m->b, b);
    enqueue_regions(m, a, b);
}

static void follow(struct matching *m, const struct stet_block *in_a)
{
    for (uint32_t i = 0; i < in_a->op_count; i++) {
        const struct stet_op *a = in_a->ops[i], *b = m->a->match[a->id], *f, *g;

        if (!b)
            continue;
        enqueue_regions(m, a, b);
        f = stet_side_callee(m->a, a);
        g = f ? stet_side_callee(m->b, b) : NULL;
        if (f && g)
            match_functions(m, f, g);
    }
}

static bool any_free(struct stet_side *s, const struct stet_block *block)
{
    for (uint32_t i = 0; i < block->op_count; i++)
        if (!s->match[block->ops[i]->id] && stet_side_counts(s, block->ops[i]))
            return true;
    return false;
}

/* The last operations end their blocks and stand for each other whatever they return. */
static void match_ends(struct matching *m, const struct block_pair *p)
{
    const struct stet_op *a, *b;

    if (!p->a->op_count || !p->b->op_count)
        return;
    a = p->a->ops[p->a->op_count - 1];
    b = p->b->ops[p->b->op_count - 1];
    if (!m->a->match[a->id] && !m->b->match[b->id] && stet_view_eq(a->name, b->name))
        stet_match_ops(m->a, a, m->b, b);
}

static bool match_block(struct matching *m, const struct block_pair *p, struct stet_err *err)
{
    if (stet_match_arguments(m->a, p->a, m->b, p->b, err) != STET_OK)
        return false;
    match_ends(m, p);
    if (!match_up(m, m->a->exact, m->b->exact, p) ||
        !match_up(m, m->a->signature, m->b->signature, p))
        return false;
    for (int level = 0; level < LEVELS; level++) {
        if (level == BY_NAME && m->same_lines)
            break;
        if (!any_free(m->a, p->a) || !any_free(m->b, p->b))
            break;
        if (!match_in_sequence(m, p, level))
            return false;
    }
    match_operands(m, p->b);
    match_users(m, p);
    if (!stet_match_repair(m->a, p->a, m->b, p->b, m->same_lines))
        return false;
    follow(m, p->a);
    return m->rc == STET_OK;
}

enum stet_rc stet_match_programs(struct stet_side *a, struct stet_side *b, struct stet_err *err)
{
    struct matching m = {.a = a, .b = b};
    bool fine;

    m.up_a = stet_mem_calloc((size_t)a->program->op_count + 1, sizeof *m.up_a);
    m.up_b = stet_mem_calloc((size_t)b->program->op_count + 1, sizeof *m.up_b);
    fine = m.up_a && m.up_b && compare_lines(&m);
    if (fine) {
        stet_match_ops(a, a->program->module, b, b->program->module);
        if (a->program->entry && b->program->entry)
            match_functions(&m, a->program->entry, b->program->entry);
    }
    for (uint32_t i = 0; fine && i < m.queued; i++) {
        struct block_pair p = m.queue[i];

        fine = match_block(&m, &p, err);
    }
    stet_mem_free(m.up_a);
    stet_mem_free(m.up_b);
    stet_mem_free(m.queue);
    return fine ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}

/* ---- equal skeletons ---- */

static void match_arguments_in_order(struct stet_side *a, const struct stet_op *of_a,
                                     struct stet_side *b, const struct stet_op *of_b)
{
    for (unsigned r = 0; r < of_a->region_count && r < of_b->region_count; r++)
        for (uint32_t i = 0; i < of_a->regions[r].block_count && i < of_b->regions[r].block_count;
             i++) {
            const struct stet_block *in_a = of_a->regions[r].blocks[i];
            const struct stet_block *in_b = of_b->regions[r].blocks[i];

            for (uint32_t j = 0; j < in_a->arg_count && j < in_b->arg_count; j++)
                stet_match_values(a, &in_a->args[j], b, &in_b->args[j]);
        }
}

static void match_functions_in_order(struct stet_side *a, const struct stet_op *of_a,
                                     struct stet_side *b, const struct stet_op *of_b)
{
    if (a->match[of_a->id] || b->match[of_b->id])
        return;
    stet_match_ops(a, of_a, b, of_b);
    match_arguments_in_order(a, of_a, b, of_b);
}

static const struct stet_op **order_of(struct stet_side *s, uint32_t *count, struct stet_err *err)
{
    struct stet_sink *sinks = stet_mem_alloc(STET_SINKS * sizeof *sinks);
    struct stet_order order = {0};
    enum stet_rc rc = STET_NO_MEMORY;

    order.ops = STET_NEW_ARRAY(&s->arena, const struct stet_op *, s->program->op_count + 1);
    if (sinks && order.ops) {
        for (unsigned i = 0; i < STET_SINKS; i++)
            stet_sink_init(&sinks[i], NULL);
        rc = stet_facets_make(&s->canon, sinks, &order, err);
    }
    stet_mem_free(sinks);
    *count = order.count;
    return rc == STET_OK ? order.ops : NULL;
}

enum stet_rc stet_match_in_order(struct stet_side *a, struct stet_side *b, struct stet_err *err)
{
    uint32_t n, m;
    const struct stet_op **in_a = order_of(a, &n, err), **in_b = order_of(b, &m, err);

    if (!in_a || !in_b)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    stet_match_ops(a, a->program->module, b, b->program->module);
    if (a->program->entry && b->program->entry)
        match_functions_in_order(a, a->program->entry, b, b->program->entry);
    for (uint32_t i = 0; i < n && i < m; i++) {
        const struct stet_op *f = stet_side_callee(a, in_a[i]);
        const struct stet_op *g = stet_side_callee(b, in_b[i]);

        stet_match_ops(a, in_a[i], b, in_b[i]);
        match_arguments_in_order(a, in_a[i], b, in_b[i]);
        if (f && g)
            match_functions_in_order(a, f, b, g);
    }
    return STET_OK;
}
