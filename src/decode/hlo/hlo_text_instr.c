/* Reads one instruction of HLO text. */
#include "base/hash.h"
#include "decode/hlo/hlo_text.h"

enum { MOST_ATTRS = 40 };

/* f32[2]{0} before an operand's name, if it was printed. */
static bool shape_ahead(struct stet_hlo_text *t)
{
    struct stet_view word;

    if (stet_hlo_peek(t) == '(')
        return true;
    if (stet_hlo_peek(t) == '%')
        return false;
    word = stet_hlo_next_word(t);
    return t->at + word.len < t->src.len && t->src.ptr[t->at + word.len] == '[';
}

static uint32_t find(struct stet_hlo_text *t, struct stet_view name)
{
    int64_t at;

    if (t->failed)
        return 0;
    at = stet_decode_hlo_instr_find(&t->b, stet_hash_bytes(name).lo, name);
    if (at < 0)
        stet_decode_hlo_text_fail_at(t, (size_t)(name.ptr - t->src.ptr),
                                     "no earlier instruction of this computation has this name");
    return at < 0 ? 0 : (uint32_t)at;
}

/* Names separated by commas up to `end`, added to the operands. */
static void names(struct stet_hlo_text *t, struct stet_ints *out, const char *end)
{
    while (!t->failed && stet_hlo_peek(t) != *end) {
        if (shape_ahead(t))
            stet_decode_hlo_text_shape(t);
        stet_decode_ints_add(out, &t->b.scratch, find(t, stet_hlo_name(t)));
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, end);
}

static bool allowed(const struct stet_hlo_op *op, enum stet_hlo_attr which)
{
    for (const unsigned char *a = op->attrs; *a; a++)
        if (*a == which)
            return true;
    for (const unsigned char *a = stet_hlo_tail; *a; a++)
        if (*a == which)
            return true;
    return false;
}

struct reading {
    struct stet_named_attr attrs[MOST_ATTRS];
    uint32_t attr_count;
    struct stet_ints operands;
    uint32_t control_count;
    const struct stet_loc *metadata;
    struct stet_view type, order; /* of a comparison */
    bool seen[STET_HLO_ATTRS];
};

static void add(struct stet_hlo_text *t, struct reading *r, enum stet_hlo_attr which,
                const struct stet_attr *v)
{
    stet_decode_hlo_put(t->b.a, r->attrs, &r->attr_count, MOST_ATTRS, which, v);
}

static const struct stet_type *first_type(const struct stet_hlo_text *t, const struct reading *r)
{
    return r->operands.count ? t->b.instrs[r->operands.at[0]].type : NULL;
}

/* type=… or order=… of a comparison, which are one attribute. */
static void comparison(struct stet_hlo_text *t, struct reading *r, struct stet_view name)
{
    bool order = stet_view_is(name, "order");
    struct stet_view *said = order ? &r->order : &r->type;
    size_t at;

    if (said->len)
        stet_decode_hlo_text_fail_at(t, (size_t)(name.ptr - t->src.ptr),
                                     "%.*s is not a second attribute of compare", STET_FMT(name));
    stet_hlo_expect(t, "=");
    *said = stet_hlo_word(t);
    at = t->at - said->len;
    if (order && !stet_view_is(*said, "TOTAL") && !stet_view_is(*said, "PARTIAL"))
        stet_decode_hlo_text_fail_at(t, at, "an order is TOTAL or PARTIAL");
    if (stet_view_is(r->order, "PARTIAL") && stet_view_is(r->type, "TOTALORDER"))
        stet_decode_hlo_text_fail_at(t, at, "a comparison by total order has no partial one");
}

/* `inner` is the operation inside an asynchronous one in short form, or NULL. */
static void attribute(struct stet_hlo_text *t, const struct stet_hlo_op *op, struct reading *r,
                      const struct stet_hlo_op *inner, struct reading *in_it)
{
    struct stet_view name = stet_hlo_word(t);
    size_t at = t->at - name.len;
    enum stet_hlo_attr which =
        stet_view_is(name, "order") ? STET_HLO_A_TYPE : stet_hlo_attr_by_name(name);

    if (t->failed)
        return;
    if (inner && which &&
        (!allowed(op, which) || (which == STET_HLO_A_CALLS && allowed(inner, which)))) {
        op = inner;
        r = in_it;
    }
    if (which == STET_HLO_A_TYPE && strcmp(op->opcode, "compare") == 0) {
        comparison(t, r, name);
        return;
    }
    if (which == STET_HLO_A_NONE || !allowed(op, which) || r->seen[which]) {
        stet_decode_hlo_text_fail_at(t, at, "%s is not %s attribute of %s",
                                     which ? stet_hlo_attr_name(which) : "this",
                                     which && r->seen[which] ? "a second" : "an", op->opcode);
        return;
    }
    r->seen[which] = true;
    stet_hlo_expect(t, "=");
    if (which == STET_HLO_A_METADATA) {
        r->metadata = stet_decode_hlo_text_metadata(t);
    } else if (which == STET_HLO_A_CONTROL_PREDECESSORS) {
        uint32_t before = r->operands.count;

        stet_hlo_expect(t, "{");
        names(t, &r->operands, "}");
        r->control_count = r->operands.count - before;
    } else {
        add(t, r, which, stet_decode_hlo_text_attr(t, which));
    }
}

static void keep(struct stet_hlo_text *t, struct stet_hlo_instr *in, struct reading *r)
{
    if (r->type.len || r->order.len)
        add(t, r, STET_HLO_A_TYPE,
            stet_decode_hlo_comparison(t->b.a, first_type(t, r), r->type, r->order));
    if (r->control_count)
        add(t, r, STET_HLO_A_CONTROL_PREDECESSORS,
            stet_decode_hlo_new_int(t->b.a, r->control_count));
    in->attrs = stet_arena_raw(t->b.a, r->attr_count, sizeof *in->attrs);
    in->operands = stet_arena_raw(&t->b.scratch, r->operands.count, sizeof *in->operands);
    t->b.a->failed |= t->b.scratch.failed;
    if (!in->attrs || !in->operands)
        return;
    memcpy(in->attrs, r->attrs, r->attr_count * sizeof *in->attrs);
    for (uint32_t i = 0; i < r->operands.count; i++)
        in->operands[i] = (uint32_t)r->operands.at[i];
    in->attr_count = r->attr_count;
    in->operand_count = r->operands.count;
    in->control_count = r->control_count;
    in->metadata = r->metadata;
}

/* ---- asynchronous operations in short form ---- */

/* "slice-start" is an async-start around a computation with one slice, and "slice-done" is its end.
 * Makes `in` the async operation and returns the inner opcode; NULL for anything else. */
static const struct stet_hlo_op *unwrap(struct stet_hlo_instr *in)
{
    static const struct {
        struct stet_view ending, opcode;
    } forms[] = {{{"-start", 6}, {"async-start", 11}},
                 {{"-update", 7}, {"async-update", 12}},
                 {{"-done", 5}, {"async-done", 10}}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct stet_hlo_op *inner;

        if (!stet_view_ends(in->opcode, forms[i].ending.ptr))
            continue;
        inner = stet_hlo_op(stet_view_of(in->opcode.ptr, in->opcode.len - forms[i].ending.len));
        if (!inner || stet_view_is(in->opcode, "parameter-start") ||
            stet_view_is(in->opcode, "constant-start"))
            return NULL;
        in->opcode = forms[i].opcode;
        in->op = stet_hlo_op(in->opcode);
        return inner;
    }
    return NULL;
}

/* Attributes that any operation may have apply to both, as in XLA's parser. */
static void share(const struct reading *from, struct reading *to)
{
    to->metadata = from->metadata;
    for (uint32_t i = 0; i < from->attr_count; i++) {
        enum stet_hlo_attr which = stet_hlo_attr_by_name(from->attrs[i].name);

        if (which != STET_HLO_A_ASYNC_EXECUTION_THREAD &&
            which != STET_HLO_A_OUTPUT_TO_OPERAND_ALIASING && to->attr_count < MOST_ATTRS)
            to->attrs[to->attr_count++] = from->attrs[i];
    }
}

static struct stet_view thread_of(const struct reading *r)
{
    for (uint32_t i = 0; i < r->attr_count; i++)
        if (stet_hlo_attr_by_name(r->attrs[i].name) == STET_HLO_A_ASYNC_EXECUTION_THREAD)
            return stet_attr_text(r->attrs[i].value);
    return (struct stet_view){0};
}

/* The computation that an async-start in short form wraps: its operands as parameters, and the
 * operation with its own attributes. */
static void wrap(struct stet_hlo_text *t, const struct stet_hlo_instr *start,
                 const struct stet_hlo_op *inner, const struct reading *r, struct reading *in_it,
                 struct stet_view name)
{
    uint32_t count = r->operands.count - r->control_count;
    struct stet_hlo_open around;
    struct stet_hlo_instr *home;

    share(r, in_it);
    stet_decode_hlo_set_aside(&t->b, &around);
    for (uint32_t i = 0; i < count && (home = stet_decode_hlo_instr_add(&t->b)); i++) {
        *home = (struct stet_hlo_instr){
            .name = stet_arena_printf(t->b.a, "param_%u", i),
            .opcode = STET_VIEW("parameter"),
            .op = stet_hlo_op(STET_VIEW("parameter")),
            .type = around.instrs[r->operands.at[i]].type,
            .parameter = i,
            .offset = start->offset,
        };
        stet_decode_ints_add(&in_it->operands, &t->b.scratch, i);
    }
    home = stet_decode_hlo_instr_add(&t->b);
    if (home) {
        *home = (struct stet_hlo_instr){.name = start->name,
                                        .opcode = stet_view_str(inner->opcode),
                                        .op = inner,
                                        .type = start->type->members[1],
                                        .parameter = -1,
                                        .offset = start->offset};
        keep(t, home, in_it);
    }
    if (!home || t->b.instr_count != count + 1)
        t->b.a->failed = true;
    else if (stet_decode_hlo_computation_end(&t->b, name, count, thread_of(r), start->offset) !=
             STET_OK)
        t->failed = true;
    stet_decode_hlo_take_up(&t->b, &around);
}

/* Gives an async-start in short form its unnamed computation; updates and ends have none. */
static void add_wrapped(struct stet_hlo_text *t, struct stet_hlo_instr *in,
                        const struct stet_hlo_op *inner, struct reading *r, struct reading *in_it)
{
    struct stet_view name;

    if (!stet_view_is(in->opcode, "async-start"))
        return;
    if (!in->type || in->type->kind != STET_TYPE_TUPLE || in->type->member_count < 2) {
        stet_decode_hlo_text_fail_at(t, (size_t)in->offset,
                                     "the shape of %s-start is not a tuple of operands and result",
                                     inner->opcode);
        return;
    }
    name =
        stet_arena_printf(t->b.a, "wrapped_%.*s.%zu", STET_FMT(in->name), t->b.computations.count);
    wrap(t, in, inner, r, in_it, name);
    add(t, r, STET_HLO_A_CALLS, stet_decode_hlo_new_symbol(t->b.a, name));
}

/* name = shape opcode(operands), attribute=value, … */
void stet_decode_hlo_text_instruction(struct stet_hlo_text *t)
{
    struct stet_hlo_instr in = {.parameter = -1}, *home;
    struct reading r = {.attr_count = 0}, in_it = {.attr_count = 0};
    const struct stet_hlo_op *inner;
    size_t opcode_at;

    stet_decode_hlo_skip(t);
    in.offset = t->at;
    in.name = stet_hlo_name(t);
    in.key = stet_hash_bytes(in.name).lo;
    stet_hlo_expect(t, "=");
    in.type = stet_decode_hlo_text_shape(t);
    in.opcode = stet_hlo_word(t);
    opcode_at = t->at - in.opcode.len;
    in.op = stet_hlo_op(in.opcode);
    inner = in.op ? NULL : unwrap(&in);
    if (!in.op && !t->failed)
        stet_decode_hlo_text_fail_at(t, opcode_at, "'%.*s' is not an opcode that this build knows",
                                     (int)(in.opcode.len > 60 ? 60 : in.opcode.len), in.opcode.ptr);
    stet_hlo_expect(t, "(");
    if (stet_view_is(in.opcode, "parameter")) {
        in.parameter = stet_hlo_int(t);
        if (in.parameter < 0)
            stet_decode_hlo_text_fail(t, "a negative parameter number");
        stet_hlo_expect(t, ")");
    } else if (stet_view_is(in.opcode, "constant")) {
        if (stet_hlo_peek(t) != ')')
            add(t, &r, STET_HLO_A_VALUE, stet_decode_hlo_text_literal(t, in.type));
        else if (in.type && in.type->kind == STET_TYPE_TENSOR)
            stet_decode_hlo_text_fail(t, "a constant without a value");
        stet_hlo_expect(t, ")");
    } else {
        names(t, &r.operands, ")");
    }
    while (in.op && !t->failed && stet_hlo_take(t, ","))
        attribute(t, in.op, &r, inner, &in_it);
    if (inner && !t->failed)
        add_wrapped(t, &in, inner, &r, &in_it);
    if (t->failed)
        return;
    keep(t, &in, &r);
    home = stet_decode_hlo_instr_add(&t->b);
    if (!home) {
        t->b.a->failed = true;
        return;
    }
    *home = in;
    if (!stet_decode_hlo_instr_publish(&t->b, true))
        stet_decode_hlo_text_fail_at(t, in.offset,
                                     "two instructions of a computation have this name");
}
