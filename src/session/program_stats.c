/* Counts operations, lines, constants and repeats of one program. */
#include "session/program_stats.h"

#include "base/mem.h"

#include <stdlib.h>

struct counter {
    struct stet_session_stats_count *slots;
    uint32_t mask, used;
};

static bool counter_init(struct counter *c, uint32_t most)
{
    uint64_t room = 16;

    while (room < (uint64_t)most * 2)
        room *= 2;
    c->slots = stet_mem_calloc(room, sizeof *c->slots);
    c->mask = (uint32_t)(room - 1);
    c->used = 0;
    return c->slots != NULL;
}

static void count(struct counter *c, struct stet_view text, uint32_t line,
                  struct stet_view function)
{
    uint64_t h = stet_mix(stet_hash_bytes(text).lo, line);
    uint32_t slot = (uint32_t)h & c->mask;

    while (c->slots[slot].count &&
           (c->slots[slot].line != line || !stet_view_eq(c->slots[slot].text, text)))
        slot = (slot + 1) & c->mask;
    if (!c->slots[slot].count) {
        c->slots[slot] =
            (struct stet_session_stats_count){.text = text, .line = line, .function = function};
        c->used++;
    }
    c->slots[slot].count++;
}

static int by_count(const void *left, const void *right)
{
    const struct stet_session_stats_count *l = left, *r = right;
    int order;

    if (l->count != r->count)
        return l->count > r->count ? -1 : 1;
    order = stet_view_cmp(l->text, r->text);
    return order ? order : l->line < r->line ? -1 : l->line > r->line;
}

/* Empty slots have count 0 and sort to the end. */
static struct stet_session_stats_count *sorted(struct counter *c, uint32_t *used)
{
    qsort(c->slots, (size_t)c->mask + 1, sizeof *c->slots, by_count);
    *used = c->used;
    return c->slots;
}

static bool is_structure(const struct stet_op *op)
{
    return op->region_count && (!op->parent || !op->parent->parent || !op->parent->parent->parent);
}

static enum stet_rc count_all(struct stet_session_stats *s, struct stet_err *err)
{
    struct counter ops, lines;

    if (!counter_init(&ops, s->side.program->op_count))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for counting operations");
    if (!counter_init(&lines, s->side.program->op_count)) {
        stet_mem_free(ops.slots);
        return stet_fail(err, STET_NO_MEMORY, "out of memory for counting lines");
    }
    for (uint32_t i = 0; i < s->side.program->op_count; i++) {
        const struct stet_op *op = s->side.ops[i];
        const struct stet_loc *file;

        if (!op || is_structure(op))
            continue;
        count(&ops, stet_op_name(op), 0, (struct stet_view){0});
        file = stet_side_counts(&s->side, op) ? stet_loc_file(op->loc) : NULL;
        if (file)
            count(&lines, file->text, file->line, stet_loc_function(op->loc));
    }
    s->ops = sorted(&ops, &s->op_kinds);
    s->lines = sorted(&lines, &s->line_count);
    return STET_OK;
}

/* ---- constants ---- */

static int by_size(const void *left, const void *right)
{
    const struct stet_session_stats_constant *l = left, *r = right;

    if (stet_attr_bytes(l->value).len != stet_attr_bytes(r->value).len)
        return stet_attr_bytes(l->value).len > stet_attr_bytes(r->value).len ? -1 : 1;
    if (l->uses != r->uses)
        return l->uses > r->uses ? -1 : 1;
    return l->op->id < r->op->id ? -1 : l->op->id > r->op->id;
}

static void find_users(struct stet_session_stats *s, const uint32_t *constant_of)
{
    for (uint32_t i = 0; i < s->side.program->op_count; i++) {
        const struct stet_op *op = s->side.ops[i];

        if (!op || !stet_side_counts(&s->side, op))
            continue;
        for (uint32_t j = 0; j < op->operand_count; j++) {
            const struct stet_value *v = stet_canon_source(&s->side.canon, stet_op_operand(op, j));
            struct stet_session_stats_constant *c;

            if (!stet_value_def(v) || !constant_of[stet_value_def(v)->id])
                continue;
            c = &s->constants[constant_of[stet_value_def(v)->id] - 1];
            c->uses++;
            if (!c->user || (!stet_loc_file(c->user->loc) && stet_loc_file(op->loc)))
                c->user = op;
        }
    }
}

/* Returns the number of an equal earlier constant, or the next free number: programs repeat their
 * ones and zeros. */
static uint32_t group(struct stet_session_stats *s, uint32_t *groups, uint32_t mask,
                      const struct stet_op *op)
{
    const struct stet_attr *value = stet_canon_value(op);
    uint32_t slot = (uint32_t)stet_hash_bytes(stet_attr_bytes(value)).lo & mask;

    for (; groups[slot]; slot = (slot + 1) & mask) {
        const struct stet_session_stats_constant *c = &s->constants[groups[slot] - 1];

        if (stet_type_eq(c->op->results[0].type, op->results[0].type) &&
            stet_attr_eq(c->value, value))
            return groups[slot];
    }
    s->constants[s->constant_count] =
        (struct stet_session_stats_constant){.op = op, .value = value};
    groups[slot] = ++s->constant_count;
    return groups[slot];
}

static enum stet_rc gather_constants(struct stet_session_stats *s, struct stet_err *err)
{
    uint32_t ops = s->side.program->op_count, room = 16;
    uint32_t *constant_of, *groups;

    while (room < 2 * (uint64_t)ops && room < 1u << 31)
        room *= 2;
    groups = stet_mem_calloc(room, sizeof *groups);
    constant_of = stet_mem_calloc((size_t)ops + 1, sizeof *constant_of);
    s->constants = stet_mem_calloc((size_t)ops + 1, sizeof *s->constants);
    if (groups && constant_of && s->constants) {
        for (uint32_t i = 0; i < ops; i++) {
            const struct stet_op *op = s->side.ops[i];

            if (op && stet_canon_kind(&s->side.canon, op) == STET_KIND_CONSTANT)
                constant_of[i] = group(s, groups, room - 1, op);
        }
        find_users(s, constant_of);
        qsort(s->constants, s->constant_count, sizeof *s->constants, by_size);
    }
    stet_mem_free(groups);
    stet_mem_free(constant_of);
    if (!groups || !constant_of || !s->constants)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for %u constants", ops);
    return STET_OK;
}

enum stet_rc stet_session_stats_gather(struct stet_session_stats *s,
                                       const struct stet_session_program *l, struct stet_err *err)
{
    enum stet_rc rc;

    memset(s, 0, sizeof *s);
    s->loaded = l;
    rc = stet_side_init(&s->side, &l->program, err);
    if (rc != STET_OK)
        return rc;
    rc = count_all(s, err);
    if (rc == STET_OK)
        rc = gather_constants(s, err);
    if (rc == STET_OK)
        s->repeat_count = stet_repeat_find(&s->side, s->repeats, STET_SHOW_REPEATS);
    if (rc == STET_OK && s->repeat_count < 0)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for finding repeats");
    if (rc != STET_OK)
        stet_session_stats_release(s);
    return rc;
}

void stet_session_stats_release(struct stet_session_stats *s)
{
    stet_side_release(&s->side);
    stet_mem_free(s->ops);
    stet_mem_free(s->lines);
    stet_mem_free(s->constants);
}
