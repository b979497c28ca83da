/* Which uses become arguments, and the values of these arguments for one program. */
#include "base/known.h"
#include "lift/lift_internal.h"
#include "program/build.h"

/* ---- the plan ---- */

static bool is_splat(const struct stet_lift_use *u)
{
    return u->value[0]->splat && u->value[1]->splat && stet_attr_type(u->value[0])->rank;
}

/* Once a tensor was not filled with one number, it stays whole. */
static enum stet_lift_kind kind_of(const struct stet_lift_use *u,
                                   const struct stet_lift_argument *earlier)
{
    if (u->is_start)
        return STET_LIFT_START;
    if (earlier && earlier->kind == STET_LIFT_WHOLE)
        return STET_LIFT_WHOLE;
    return is_splat(u) ? STET_LIFT_SPLAT : STET_LIFT_WHOLE;
}

static const struct stet_type *type_of(struct stet_arena *a, enum stet_lift_kind kind,
                                       const struct stet_lift_use *u)
{
    if (kind == STET_LIFT_START)
        return stet_type_tensor(a, stet_type_integer(a, 32, STET_SIGNLESS), NULL, 0);
    if (kind == STET_LIFT_WHOLE)
        return stet_op_operand(u->op, u->index)->type;
    return stet_type_tensor(a, stet_op_operand(u->op, u->index)->type->element, NULL, 0);
}

static bool same_side(const struct stet_lift_use *a, const struct stet_lift_use *b, unsigned side)
{
    if (a->is_start)
        return a->start[side] == b->start[side];
    return a->value[side]->splat == b->value[side]->splat &&
           stet_view_eq(stet_attr_bytes(a->value[side]), stet_attr_bytes(b->value[side]));
}

struct planner {
    struct stet_lift_plan *plan;
    const struct stet_lift_match *match;
    const struct stet_lift_plan *earlier;
    const struct stet_lift_use *first[STET_LIFT_ARGUMENTS]; /* a use of each argument */
    struct stet_err *err;
};

static uint8_t earlier_of(const struct planner *p, size_t use)
{
    return p->earlier ? p->earlier->argument_of[use] : STET_LIFT_NONE;
}

/* An argument that has had the same value as this use in all programs. */
static uint8_t find_shared(const struct planner *p, size_t i, enum stet_lift_kind kind,
                           const struct stet_type *type)
{
    const struct stet_lift_use *u = &p->match->uses.items[i];

    for (uint32_t a = 0; a < p->plan->argument_count; a++) {
        const struct stet_lift_argument *at = &p->plan->arguments[a];
        size_t first = (size_t)(p->first[a] - p->match->uses.items);

        if (at->kind == kind && earlier_of(p, first) == earlier_of(p, i) &&
            stet_type_eq(at->type, type) && same_side(p->first[a], u, 0) &&
            same_side(p->first[a], u, 1))
            return (uint8_t)a;
    }
    return STET_LIFT_NONE;
}

static enum stet_rc plan_use(struct planner *p, size_t i)
{
    const struct stet_lift_use *u = &p->match->uses.items[i];
    uint8_t before = earlier_of(p, i), at;
    enum stet_lift_kind kind;
    const struct stet_type *type;

    if (!u->differs && before == STET_LIFT_NONE)
        return STET_OK;
    if (stet_lift_allows(u, p->err) != STET_OK)
        return STET_REFUSED;
    kind = kind_of(u, before == STET_LIFT_NONE ? NULL : &p->earlier->arguments[before]);
    type = type_of(&p->plan->arena, kind, u);
    if (!type)
        return stet_fail(p->err, STET_NO_MEMORY, "out of memory for a plan");
    at = find_shared(p, i, kind, type);
    if (at == STET_LIFT_NONE) {
        if (p->plan->argument_count == STET_LIFT_ARGUMENTS)
            return stet_fail(p->err, STET_REFUSED, "more than %d values differ",
                             STET_LIFT_ARGUMENTS);
        at = (uint8_t)p->plan->argument_count++;
        p->plan->arguments[at] = (struct stet_lift_argument){kind, type};
        p->first[at] = u;
    }
    p->plan->argument_of[i] = at;
    return STET_OK;
}

enum stet_rc stet_lift_plan_make(struct stet_lift_plan *out, const struct stet_lift_match *m,
                                 const struct stet_lift_plan *earlier, struct stet_err *err)
{
    struct planner p = {.plan = out, .match = m, .earlier = earlier, .err = err};
    enum stet_rc rc = STET_OK;

    if (earlier && earlier->use_count != m->uses.count)
        return stet_fail(err, STET_REFUSED, "the earlier plan is of another base");
    *out = (struct stet_lift_plan){.use_count = (uint32_t)m->uses.count};
    stet_arena_init(&out->arena, (size_t)16 << 20);
    out->argument_of = STET_NEW_ARRAY(&out->arena, uint8_t, m->uses.count);
    if (!out->argument_of)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for a plan");
    else
        memset(out->argument_of, STET_LIFT_NONE, m->uses.count);
    for (size_t i = 0; rc == STET_OK && i < m->uses.count; i++)
        rc = plan_use(&p, i);
    if (rc == STET_OK && stet_lift_becomes_integer(m, out->argument_of))
        rc = stet_fail(err, STET_REFUSED, "the value, a float, is converted to an integer");
    if (rc == STET_OK && !out->argument_count)
        rc = stet_fail(err, STET_REFUSED, "no value differs");
    if (rc != STET_OK)
        stet_lift_plan_release(out);
    return rc;
}

enum stet_rc stet_lift_plan_recall(struct stet_lift_plan *out, struct stet_view kinds,
                                   struct stet_view argument_of, struct stet_err *err)
{
    bool valid = kinds.len && kinds.len <= STET_LIFT_ARGUMENTS && argument_of.len <= UINT32_MAX;

    for (size_t i = 0; valid && i < kinds.len; i++)
        valid = (uint8_t)kinds.ptr[i] <= STET_LIFT_START;
    for (size_t i = 0; valid && i < argument_of.len; i++)
        valid = (uint8_t)argument_of.ptr[i] == STET_LIFT_NONE ||
                (uint8_t)argument_of.ptr[i] < kinds.len;
    if (!valid)
        return stet_fail(err, STET_REFUSED, "this is not a plan of a lifted program");
    *out = (struct stet_lift_plan){.use_count = (uint32_t)argument_of.len,
                                   .argument_count = (uint32_t)kinds.len};
    stet_arena_init(&out->arena, (size_t)16 << 20);
    out->argument_of = STET_NEW_ARRAY(&out->arena, uint8_t, argument_of.len + 1);
    if (!out->argument_of)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a plan");
    memcpy(out->argument_of, argument_of.ptr, argument_of.len);
    for (size_t i = 0; i < kinds.len; i++)
        out->arguments[i].kind = (enum stet_lift_kind)kinds.ptr[i];
    return STET_OK;
}

void stet_lift_plan_release(struct stet_lift_plan *p)
{
    stet_arena_release(&p->arena);
    *p = (struct stet_lift_plan){0};
}

/* ---- values ---- */

/* All elements of a constant; one number is repeated. */
static struct stet_view expand(struct stet_arena *arena, const struct stet_attr *value)
{
    struct stet_view one = stet_attr_bytes(value);
    uint64_t n;
    char *to;

    if (!value->splat || !one.len || !stet_type_elements(stet_attr_type(value), &n) || n == 1)
        return one;
    to = stet_arena_raw(arena, n, one.len);
    STET_KNOWN(one.ptr);
    for (uint64_t i = 0; to && i < n; i++)
        memcpy(to + i * one.len, one.ptr, one.len);
    return stet_view_of(to, to ? n * one.len : 0);
}

static bool read_use(const struct stet_lift_use *u, enum stet_lift_side side,
                     enum stet_lift_kind kind, struct stet_arena *arena, struct stet_view *out)
{
    int32_t start;
    char *to;

    if (kind == STET_LIFT_START) {
        start = (int32_t)u->start[side];
        to = stet_arena_raw(arena, 1, sizeof start);
        if (to)
            memcpy(to, &start, sizeof start);
        *out = stet_view_of(to, sizeof start);
        return to != NULL;
    }
    if (kind == STET_LIFT_SPLAT && !u->value[side]->splat)
        return false;
    *out =
        kind == STET_LIFT_SPLAT ? stet_attr_bytes(u->value[side]) : expand(arena, u->value[side]);
    return out->ptr != NULL;
}

/* Is this the value that an earlier use gave to their argument? */
static bool same_value(const struct stet_lift_use *u, enum stet_lift_side side,
                       enum stet_lift_kind kind, struct stet_view known)
{
    struct stet_view bytes;
    int32_t start;

    if (kind == STET_LIFT_START) {
        memcpy(&start, known.ptr, sizeof start);
        return start == u->start[side];
    }
    bytes = stet_attr_bytes(u->value[side]);
    if (kind == STET_LIFT_SPLAT || !u->value[side]->splat)
        return u->value[side]->splat == (kind == STET_LIFT_SPLAT) && stet_view_eq(bytes, known);
    if (!bytes.len)
        return !known.len;
    STET_KNOWN(bytes.ptr && known.ptr);
    for (size_t i = 0; i < known.len; i += bytes.len) {
        if (known.len - i < bytes.len || memcmp(known.ptr + i, bytes.ptr, bytes.len) != 0)
            return false;
    }
    return true;
}

enum stet_rc stet_lift_values(const struct stet_lift_plan *plan, const struct stet_lift_match *m,
                              enum stet_lift_side side, struct stet_arena *arena,
                              struct stet_lift_value **out, struct stet_err *err)
{
    struct stet_lift_value *values =
        STET_NEW_ARRAY(arena, struct stet_lift_value, plan->argument_count);

    if (!values)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for values");
    if (plan->use_count != m->uses.count)
        return stet_fail(err, STET_NOT_FOUND, "the plan is of another base");
    for (size_t i = 0; i < m->uses.count; i++) {
        const struct stet_lift_use *u = &m->uses.items[i];
        uint8_t a = plan->argument_of[i];

        if (a == STET_LIFT_NONE && u->differs)
            return stet_fail(err, STET_NOT_FOUND, "another value differs");
        if (a == STET_LIFT_NONE)
            continue;
        if (values[a].bytes.ptr
                ? !same_value(u, side, plan->arguments[a].kind, values[a].bytes)
                : !read_use(u, side, plan->arguments[a].kind, arena, &values[a].bytes))
            return stet_fail(err, STET_NOT_FOUND, "values that were equal differ now");
    }
    *out = values;
    return STET_OK;
}

/* ---- functions ---- */

uint32_t stet_lift_function_of(const struct stet_program *p, const struct stet_op *op)
{
    while (op && op->known != STET_FUNC_FUNC)
        op = op->parent ? op->parent->parent : NULL;
    for (uint32_t i = 0; op && i < p->function_count; i++) {
        if (p->functions[i] == op)
            return i;
    }
    return UINT32_MAX;
}

struct calls {
    const struct stet_program *program;
    uint64_t *masks;
    bool changed;
};

static bool pass_on(const struct stet_op *op, void *context)
{
    struct calls *c = context;
    uint32_t caller, callee;
    uint64_t before;

    if (op->known != STET_FUNC_CALL)
        return true;
    caller = stet_lift_function_of(c->program, op);
    callee = stet_lift_callee(c->program, op);
    if (caller == UINT32_MAX || callee == UINT32_MAX)
        return true;
    before = c->masks[caller];
    c->masks[caller] |= c->masks[callee];
    c->changed |= before != c->masks[caller];
    return true;
}

uint64_t *stet_lift_masks(const struct stet_program *base, const struct stet_lift_match *m,
                          const struct stet_lift_plan *plan, struct stet_arena *arena)
{
    struct calls c = {base, STET_NEW_ARRAY(arena, uint64_t, base->function_count), true};

    for (size_t i = 0; c.masks && i < m->uses.count; i++) {
        uint32_t f = plan->argument_of[i] == STET_LIFT_NONE
                         ? UINT32_MAX
                         : stet_lift_function_of(base, m->uses.items[i].op);

        if (f != UINT32_MAX)
            c.masks[f] |= UINT64_C(1) << plan->argument_of[i];
    }
    while (c.masks && c.changed) {
        c.changed = false;
        stet_program_walk(base, pass_on, &c);
    }
    for (uint32_t i = 0; c.masks && i < base->function_count; i++) {
        if (base->functions[i] == base->entry)
            c.masks[i] =
                plan->argument_count == 64 ? UINT64_MAX : (UINT64_C(1) << plan->argument_count) - 1;
    }
    return c.masks;
}
