/* After order and places have paired what looks alike, dataflow decides: an unmatched operation
 * takes over a counterpart whose operands agree better with its own. */
#include "explain/match_repair.h"

#include "base/mem.h"

enum { MOST_USERS = 32, CERTAIN = 4 };

struct repair {
    struct stet_side *mine, *theirs; /* `mine` has the unmatched operations */
    bool same_lines;
    const struct stet_op **work;
    uint32_t count, room;
};

/* The value of the other side that `v` corresponds to, or NULL. */
static const struct stet_value *counterpart(struct stet_side *s, const struct stet_value *v)
{
    if (!stet_value_def(v))
        return s->value_match[v->id];
    return s->match[stet_value_def(v)->id] ? &s->match[stet_value_def(v)->id]->results[v->index]
                                           : NULL;
}

static bool is_constant(struct stet_side *s, const struct stet_value *v)
{
    return stet_value_def(v) && stet_canon_kind(&s->canon, stet_value_def(v)) == STET_KIND_CONSTANT;
}

/* Returns how well the operands agree. Certain matches have more weight than matches by
 * appearance. */
static uint32_t agreement(const struct repair *r, const struct stet_op *mine,
                          const struct stet_op *theirs)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < mine->operand_count && i < theirs->operand_count; i++) {
        const struct stet_value *x = stet_canon_source(&r->mine->canon, stet_op_operand(mine, i));
        const struct stet_value *y =
            stet_canon_source(&r->theirs->canon, stet_op_operand(theirs, i));

        if (is_constant(r->mine, x))
            count += is_constant(r->theirs, y);
        else
            count +=
                counterpart(r->mine, x) == y
                    ? (!stet_value_def(x) || r->mine->certain[stet_value_def(x)->id] ? CERTAIN : 1)
                    : 0;
    }
    return count;
}

static bool alike(const struct repair *r, const struct stet_op *mine, const struct stet_op *theirs)
{
    return r->mine->own[mine->id] == r->theirs->own[theirs->id] &&
           mine->result_count == theirs->result_count &&
           (!r->same_lines || r->mine->line[mine->id] == r->theirs->line[theirs->id]);
}

/* The best of the other side's operations that use what `op` uses in the same way, when it agrees
 * with `op` more than with its counterpart. */
static const struct stet_op *better(const struct repair *r, const struct stet_op *op,
                                    const struct stet_block *among)
{
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_canon_source(&r->mine->canon, stet_op_operand(op, i));
        const struct stet_value *other = is_constant(r->mine, v) ? NULL : counterpart(r->mine, v);
        uint32_t at, end;

        if (!other)
            continue;
        at = r->theirs->use_start[other->id];
        end = r->theirs->use_start[other->id + 1];
        if (end - at > MOST_USERS)
            end = at + MOST_USERS;
        for (; at < end; at++) {
            const struct stet_op *theirs = r->theirs->uses[at].op, *now;

            now = r->theirs->match[theirs->id];
            if (r->theirs->uses[at].operand != i || theirs->parent != among ||
                !alike(r, op, theirs))
                continue;
            if (!now || agreement(r, op, theirs) > agreement(r, now, theirs))
                return theirs;
        }
    }
    return NULL;
}

static void take_over(struct repair *r, const struct stet_op *op, const struct stet_op *theirs)
{
    const struct stet_op *before = r->theirs->match[theirs->id];

    if (before) {
        r->mine->match[before->id] = NULL;
        if (r->count < r->room)
            r->work[r->count++] = before;
    }
    r->mine->match[op->id] = theirs;
    r->theirs->match[theirs->id] = op;
}

/* Every step raises the agreement of all pairs together, so this ends; the room bounds it anyway.
 */
static bool sweep(struct stet_side *mine, const struct stet_block *in_mine,
                  struct stet_side *theirs, const struct stet_block *in_theirs, bool same_lines)
{
    struct repair r = {.mine = mine, .theirs = theirs, .same_lines = same_lines};

    for (uint32_t i = 0; i < in_mine->op_count; i++)
        r.count += !mine->match[in_mine->ops[i]->id] && stet_side_counts(mine, in_mine->ops[i]);
    if (!r.count)
        return true;
    r.room = r.count * 4 + 64;
    r.work = stet_mem_calloc(r.room, sizeof *r.work);
    if (!r.work)
        return false;
    r.count = 0;
    for (uint32_t i = 0; i < in_mine->op_count; i++)
        if (!mine->match[in_mine->ops[i]->id] && stet_side_counts(mine, in_mine->ops[i]))
            r.work[r.count++] = in_mine->ops[i];
    for (uint32_t i = 0; i < r.count; i++) {
        const struct stet_op *found = better(&r, r.work[i], in_theirs);

        if (found && !mine->match[r.work[i]->id])
            take_over(&r, r.work[i], found);
    }
    stet_mem_free(r.work);
    return true;
}

bool stet_match_repair(struct stet_side *a, const struct stet_block *in_a, struct stet_side *b,
                       const struct stet_block *in_b, bool same_lines)
{
    return sweep(b, in_b, a, in_a, same_lines) && sweep(a, in_a, b, in_b, same_lines);
}
