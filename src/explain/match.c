/* Matches block by block: arguments first, then operations with equal hashes upstream, then by
 * order and place, then neighbours of what is matched. Functions and regions follow their
 * operations. */
#include "explain/match.h"

#include "base/vec.h"
#include "explain/lcs.h"
#include "explain/match_repair.h"
#include "explain/occurrences.h"

#include <stdlib.h>

struct block_pair {
    const struct stet_block *a, *b;
};

struct matching {
    struct stet_side *a, *b;
    uint64_t *up_a, *up_b; /* by operation id: hash of everything the operation is made from */
    bool same_lines; /* both were traced from the same text, so line numbers may be compared */
    bool places;     /* locations are there at all */
    STET_VEC(struct block_pair) queue;
    enum stet_rc rc;
};

bool stet_match_same(const struct stet_side *a, const struct stet_value *of_a,
                     const struct stet_value *of_b)
{
    if (!stet_value_def(of_a) || !stet_value_def(of_b))
        return stet_value_def(of_a) == stet_value_def(of_b) && a->value_match[of_a->id] == of_b;
    return a->match[stet_value_def(of_a)->id] == stet_value_def(of_b) && of_a->index == of_b->index;
}

/* ---- are line numbers comparable? ---- */

/* If nine tenths of the smaller program's places are in the larger one, the text is the same: an
 * edit moves everything below it. */
static bool compare_lines(struct matching *m)
{
    uint32_t a = 0, b = 0, both = 0;
    struct stet_occurrences t;

    if (!stet_occurrences_init(&t, (uint64_t)m->a->program->op_count + m->b->program->op_count))
        return false;
    for (uint32_t i = 0; i < m->a->program->op_count; i++)
        if (m->a->line[i])
            a += stet_occurrence_of(&t, stet_mix(m->a->line[i], m->a->place[i]))->in_a++ == 0;
    for (uint32_t i = 0; i < m->b->program->op_count; i++)
        if (m->b->line[i]) {
            struct stet_occurrence *n =
                stet_occurrence_of(&t, stet_mix(m->b->line[i], m->b->place[i]));

            if (n->in_b++)
                continue;
            b++;
            both += n->in_a != 0;
        }
    m->places = a && b;
    m->same_lines = m->places && both * (uint64_t)10 >= (uint64_t)(a < b ? a : b) * 9;
    stet_mem_free(t.slots);
    return true;
}

/* ---- hashes from upstream ---- */

/* The identity of a value in terms that both sides share. */
static uint64_t value_token(struct stet_side *s, const uint64_t *up, const struct stet_value *v,
                            const struct stet_block *block, bool in_b)
{
    const struct stet_value *other;

    v = stet_canon_source(&s->canon, v);
    if (!stet_value_def(v)) {
        other = s->value_match[v->id];
        return other ? stet_mix(11, in_b ? other->id : v->id) : stet_mix(in_b ? 13 : 12, v->id);
    }
    if (stet_canon_kind(&s->canon, stet_value_def(v)) == STET_KIND_CONSTANT)
        return 17;
    if (stet_value_def(v)->parent != block) { /* from around this region */
        const struct stet_op *def = s->match[stet_value_def(v)->id];

        return def ? stet_mix(stet_mix(19, in_b ? def->id : stet_value_def(v)->id), v->index)
                   : stet_mix(in_b ? 15 : 14, v->id);
    }
    return stet_mix(up[stet_value_def(v)->id], v->index);
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
            h = stet_mix(h, value_token(s, up, stet_op_operand(op, j), block, in_b));
        up[op->id] = h;
    }
}

static bool is_free(struct stet_side *s, const struct stet_op *op)
{
    return !s->match[op->id] && stet_side_counts(s, op);
}

static void match_certainly(struct matching *m, const struct stet_op *a, const struct stet_op *b)
{
    stet_match_ops(m->a, a, m->b, b);
    m->a->certain[a->id] = m->b->certain[b->id] = 1;
}

/* Chains the free operations of A by hash, then takes from each chain in the order of B. */
static void pair_chains(struct matching *m, const struct block_pair *p, struct stet_occurrences *t,
                        uint32_t *next)
{
    for (uint32_t i = p->a->op_count; i-- > 0;) {
        struct stet_occurrence *n;

        if (!is_free(m->a, p->a->ops[i]))
            continue;
        n = stet_occurrence_of(t, m->up_a[p->a->ops[i]->id]);
        if (n->in_b)
            continue;
        next[i] = n->in_a;
        n->in_a = i + 1;
    }
    for (uint32_t i = 0; i < p->b->op_count; i++) {
        struct stet_occurrence *n;
        uint32_t first;

        if (!is_free(m->b, p->b->ops[i]))
            continue;
        n = stet_occurrence_of(t, m->up_b[p->b->ops[i]->id]);
        first = n->in_a;
        if (!first)
            continue;
        n->in_a = next[first - 1];
        match_certainly(m, p->a->ops[first - 1], p->b->ops[i]);
    }
}

/* Equal hashes correspond to each other only if they occur equally often; `in_b` marks the
 * others. */
static void mark_uneven(struct matching *m, const struct block_pair *p, struct stet_occurrences *t)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < (side ? p->b : p->a)->op_count; i++) {
            const struct stet_op *op = (side ? p->b : p->a)->ops[i];
            struct stet_occurrence *n;

            if (!is_free(side ? m->b : m->a, op))
                continue;
            n = stet_occurrence_of(t, (side ? m->up_b : m->up_a)[op->id]);
            n->in_a += side ? 0 : 1;
            n->in_b += side ? 1 : 0;
        }
    for (uint32_t i = 0; i <= t->mask; i++) {
        bool uneven = t->slots[i].in_a != t->slots[i].in_b;

        t->slots[i].in_a = 0;
        t->slots[i].in_b = uneven;
    }
}

static bool match_up(struct matching *m, const uint64_t *own_a, const uint64_t *own_b,
                     const struct block_pair *p)
{
    uint32_t *next = stet_mem_calloc((size_t)p->a->op_count + 1, sizeof *next);
    struct stet_occurrences t = {0};
    bool fine = next && stet_occurrences_init(&t, (uint64_t)p->a->op_count + p->b->op_count);

    if (fine) {
        hash_up(m->a, m->up_a, own_a, p->a, false);
        hash_up(m->b, m->up_b, own_b, p->b, true);
        mark_uneven(m, p, &t);
        pair_chains(m, p, &t, next);
    }
    stet_mem_free(next);
    stet_mem_free(t.slots);
    return fine;
}

/* ---- order and places ---- */

enum { LEVELS = 7, BY_NAME = LEVELS - 1 };

/* The arguments that an operation uses, which distinguish layers that look alike. Operations would
 * not do: the last one before an insertion has a counterpart, and other users. */
static uint64_t context_of(struct stet_side *s, const struct stet_op *op, bool in_b)
{
    uint64_t h = 3;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_canon_source(&s->canon, stet_op_operand(op, i)), *other;

        if (stet_value_def(v))
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
            const struct stet_op *da =
                stet_value_def(stet_canon_source(&m->a->canon, stet_op_operand(a, j)));
            const struct stet_op *db =
                stet_value_def(stet_canon_source(&m->b->canon, stet_op_operand(b, j)));

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
    const struct stet_value *v = stet_canon_source(&m->b->canon, stet_op_operand(b, 0)), *of_a;
    uint32_t end;

    if (!stet_value_def(v))
        of_a = m->b->value_match[v->id];
    else
        of_a = m->b->match[stet_value_def(v)->id]
                   ? &m->b->match[stet_value_def(v)->id]->results[v->index]
                   : NULL;
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
    STET_VEC_PUSH(&m->queue, (struct block_pair){a, b});
    if (m->queue.failed)
        m->rc = STET_NO_MEMORY;
}

static void enqueue_regions(struct matching *m, const struct stet_op *a, const struct stet_op *b)
{
    for (unsigned r = 0; r < a->region_count && r < b->region_count; r++)
        for (uint32_t i = 0;
             i < stet_op_region(a, r)->block_count && i < stet_op_region(b, r)->block_count; i++)
            enqueue(m, stet_op_region(a, r)->blocks[i], stet_op_region(b, r)->blocks[i]);
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

/* The last operations end their blocks and correspond to each other whatever they return. */
static void match_ends(struct matching *m, const struct block_pair *p)
{
    const struct stet_op *a, *b;

    if (!p->a->op_count || !p->b->op_count)
        return;
    a = p->a->ops[p->a->op_count - 1];
    b = p->b->ops[p->b->op_count - 1];
    if (!m->a->match[a->id] && !m->b->match[b->id] &&
        stet_view_eq(stet_op_name(a), stet_op_name(b)))
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
    for (uint32_t i = 0; fine && i < m.queue.count; i++) {
        struct block_pair p = m.queue.items[i];

        fine = match_block(&m, &p, err);
    }
    stet_mem_free(m.up_a);
    stet_mem_free(m.up_b);
    STET_VEC_RELEASE(&m.queue);
    return fine ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}

/* ---- equal skeletons ---- */

static void match_arguments_in_order(struct stet_side *a, const struct stet_op *of_a,
                                     struct stet_side *b, const struct stet_op *of_b)
{
    for (unsigned r = 0; r < of_a->region_count && r < of_b->region_count; r++)
        for (uint32_t i = 0;
             i < stet_op_region(of_a, r)->block_count && i < stet_op_region(of_b, r)->block_count;
             i++) {
            const struct stet_block *in_a = stet_op_region(of_a, r)->blocks[i];
            const struct stet_block *in_b = stet_op_region(of_b, r)->blocks[i];

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

static bool any_left(struct stet_side *s)
{
    for (uint32_t i = 0; i < s->program->op_count; i++)
        if (s->ops[i] && !s->match[i] && stet_side_counts(s, s->ops[i]))
            return true;
    return false;
}

/* Operations without a counterpart yet, in the order of the text; returns how many. */
static uint32_t list_rest(struct stet_side *s, uint64_t *keys, uint32_t *ids)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->program->op_count; i++) {
        if (!s->ops[i] || s->match[i] || !stet_side_counts(s, s->ops[i]))
            continue;
        keys[count] = stet_canon_op_hash(&s->canon, s->ops[i]);
        ids[count++] = i;
    }
    return count;
}

/* Dead operations are not in the canonical order: equal ones in equal order are the same. */
static bool match_dead(struct stet_side *a, struct stet_side *b)
{
    size_t n = a->program->op_count, k = b->program->op_count;
    uint64_t *keys = stet_mem_calloc(n + k + 1, sizeof *keys);
    uint32_t *ids = stet_mem_calloc(n * 2 + k + 1, sizeof *ids), *pair = ids + n + k;
    bool fine = keys && ids;

    if (fine) {
        uint32_t count_a = list_rest(a, keys, ids), count_b = list_rest(b, keys + n, ids + n);

        fine = stet_lcs(keys, count_a, keys + n, count_b, pair);
        for (uint32_t i = 0; fine && i < count_a; i++)
            if (pair[i] != STET_LCS_NONE)
                stet_match_ops(a, a->ops[ids[i]], b, b->ops[ids[n + pair[i]]]);
    }
    stet_mem_free(keys);
    stet_mem_free(ids);
    return fine;
}

enum stet_rc stet_match_in_order(struct stet_side *a, struct stet_side *b, bool *all,
                                 struct stet_err *err)
{
    stet_match_ops(a, a->program->module, b, b->program->module);
    if (a->program->entry && b->program->entry)
        match_functions_in_order(a, a->program->entry, b, b->program->entry);
    for (uint32_t i = 0; i < a->order.count && i < b->order.count; i++) {
        const struct stet_op *in_a = a->order.ops[i], *in_b = b->order.ops[i];
        const struct stet_op *f, *g;

        stet_match_ops(a, in_a, b, in_b);
        match_arguments_in_order(a, in_a, b, in_b);
        f = stet_side_callee(a, in_a);
        g = f ? stet_side_callee(b, in_b) : NULL;
        if (f && g)
            match_functions_in_order(a, f, b, g);
    }
    *all = a->order.count == b->order.count && !any_left(a) && !any_left(b);
    if (!*all && !match_dead(a, b))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
    return STET_OK;
}
