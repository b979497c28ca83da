/* Counts operations, lines, constants and repeats of one program. */
#include "session/program_stats.h"

#include "base/known.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>

struct counter {
    STET_VEC(struct stet_session_stats_count) counts;
    struct stet_map places; /* in `counts`, by hash of text and line */
};

static struct stet_session_stats_count *find(const struct counter *c, uint64_t key,
                                             struct stet_view text, uint32_t line)
{
    uint32_t at = 0, i;

    while ((i = stet_map_next(&c->places, key, &at)) != STET_MAP_NONE) {
        STET_KNOWN(c->counts.items); /* each number in the map is a place */
        if (c->counts.items[i].line == line && stet_view_eq(c->counts.items[i].text, text))
            return &c->counts.items[i];
    }
    return NULL;
}

static void count(struct counter *c, struct stet_view text, uint32_t line,
                  struct stet_view function)
{
    uint64_t key = stet_mix(stet_map_text(text), line);
    struct stet_session_stats_count *known = find(c, key, text, line);

    if (known) {
        known->count++;
        return;
    }
    stet_map_add(&c->places, key, (uint32_t)c->counts.count);
    STET_VEC_PUSH(&c->counts, (struct stet_session_stats_count){
                                  .text = text, .line = line, .function = function, .count = 1});
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

/* Moves the counts to the caller, sorted. False if memory ran out while they were made. */
static bool take_counts(struct counter *c, struct stet_session_stats_count **out, uint32_t *count)
{
    bool complete = !c->counts.failed && !c->places.failed;

    if (c->counts.count)
        qsort(c->counts.items, c->counts.count, sizeof *c->counts.items, by_count);
    *out = c->counts.items;
    *count = (uint32_t)c->counts.count;
    stet_map_release(&c->places);
    return complete;
}

static bool is_structure(const struct stet_op *op)
{
    return op->region_count && (!op->parent || !op->parent->parent || !op->parent->parent->parent);
}

static enum stet_rc count_all(struct stet_session_stats *s, struct stet_err *err)
{
    struct counter ops = {0}, lines = {0};
    bool complete;

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
    complete = take_counts(&ops, &s->ops, &s->op_kinds);
    complete &= take_counts(&lines, &s->lines, &s->line_count);
    return complete ? STET_OK
                    : stet_fail(err, STET_NO_MEMORY, "out of memory for counting operations");
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
static uint32_t group(struct stet_session_stats *s, struct stet_map *groups,
                      const struct stet_op *op)
{
    const struct stet_attr *value = stet_canon_value(op);
    uint64_t key = stet_map_text(stet_attr_bytes(value));
    uint32_t at = 0, i;

    while ((i = stet_map_next(groups, key, &at)) != STET_MAP_NONE)
        if (stet_type_eq(s->constants[i].op->results[0].type, op->results[0].type) &&
            stet_attr_eq(s->constants[i].value, value))
            return i + 1;
    stet_map_add(groups, key, s->constant_count);
    s->constants[s->constant_count] =
        (struct stet_session_stats_constant){.op = op, .value = value};
    return ++s->constant_count;
}

static enum stet_rc gather_constants(struct stet_session_stats *s, struct stet_err *err)
{
    uint32_t ops = s->side.program->op_count;
    struct stet_map groups = {0};
    uint32_t *constant_of;
    bool complete;

    constant_of = stet_mem_calloc((size_t)ops + 1, sizeof *constant_of);
    s->constants = stet_mem_calloc((size_t)ops + 1, sizeof *s->constants);
    if (constant_of && s->constants) {
        for (uint32_t i = 0; i < ops; i++) {
            const struct stet_op *op = s->side.ops[i];

            if (op && stet_canon_kind(&s->side.canon, op) == STET_KIND_CONSTANT)
                constant_of[i] = group(s, &groups, op);
        }
        find_users(s, constant_of);
        qsort(s->constants, s->constant_count, sizeof *s->constants, by_size);
    }
    complete = constant_of && s->constants && !groups.failed;
    stet_map_release(&groups);
    stet_mem_free(constant_of);
    if (!complete)
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
