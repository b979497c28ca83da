/* Prints an HLO program as XLA's own text (facts: HloModule::Print, HloInstruction::Print). */
#include "program/print_hlo.h"

#include "program/ops.h"

const struct stet_hlo_print stet_hlo_print_long = {
    .percent = true, .metadata = true, .index_notes = true, .control = true, .frame_ids = true};
const struct stet_hlo_print stet_hlo_print_short = {.large_constants = true};

struct printer {
    struct stet_buf *out;
    const struct stet_hlo_print *how;
};

static void name(struct printer *p, struct stet_view v)
{
    stet_buf_str(p->out, p->how->percent ? "%" : "");
    stet_buf_view(p->out, v);
}

static struct stet_view value_name(const struct stet_value *v)
{
    const struct stet_loc *loc = stet_value_def(v) ? stet_value_def(v)->loc : stet_value_loc(v);

    return loc ? loc->text : (struct stet_view){0};
}

/* ---- instructions ---- */

static void operands(struct printer *p, struct stet_value *const *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i && i % 5 == 0 && p->how->index_notes)
            stet_buf_printf(p->out, ", /*index=%u*/", i);
        else if (i)
            stet_buf_str(p->out, ", ");
        if (p->how->operand_shapes) {
            stet_print_hlo_type(p->out, values[i]->type, true);
            stet_buf_char(p->out, ' ');
        }
        name(p, value_name(values[i]));
    }
}

static void constant(struct printer *p, const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "value");
    uint64_t n = 0;
    bool small =
        a && a->kind == STET_ATTR_DENSE && stet_type_elements(stet_attr_type(a), &n) && n <= 10;

    if (a && (small || p->how->large_constants))
        stet_print_hlo_literal(p->out, a, false);
    else
        stet_buf_str(p->out, "{...}");
}

/* From the innermost frame outwards. */
static void stack(struct printer *p, const struct stet_loc *loc)
{
    stet_buf_str(p->out, "stack={");
    for (unsigned depth = 0; loc && depth < STET_MAX_DEPTH; depth++) {
        bool more = loc->kind == STET_LOC_CALLSITE;
        const struct stet_loc *at = more ? loc->parts[0] : loc;
        struct stet_view function = stet_loc_frame(at);
        bool file = at->kind == STET_LOC_FILE;

        stet_buf_str(p->out, depth ? ", " : "");
        stet_buf_view(p->out, at->text);
        stet_buf_printf(p->out, ":%u:%u:", file ? at->line : 0, file ? at->column : 0);
        stet_buf_view(p->out, function);
        loc = more ? loc->parts[1] : NULL;
    }
    stet_buf_char(p->out, '}');
}

static void metadata(struct printer *p, const struct stet_loc *loc)
{
    const struct stet_attr *m = stet_loc_metadata(loc);
    bool shown = false, first = true;

    for (uint32_t i = 0; m && i < m->count; i++) {
        struct stet_view n = m->named[i].name;

        shown |= stet_view_starts(n, "op_") || stet_view_is(n, "source_file") ||
                 stet_view_is(n, "scheduling_name") || stet_view_is(n, "metadata_payload") ||
                 (stet_view_is(n, "stack_frame_id") && (p->how->frame_ids || p->how->stack));
    }
    if (!shown)
        return;
    stet_buf_str(p->out, ", metadata={");
    for (uint32_t i = 0; i < m->count; i++) {
        const struct stet_attr *v = m->named[i].value;
        bool frame = stet_view_is(m->named[i].name, "stack_frame_id");

        if (frame && !p->how->frame_ids && !p->how->stack)
            continue;
        stet_buf_str(p->out, first ? "" : " ");
        first = false;
        if (frame && p->how->stack) {
            stack(p, loc->count ? loc->parts[0] : NULL);
            continue;
        }
        stet_buf_view(p->out, m->named[i].name);
        stet_buf_char(p->out, '=');
        stet_print_hlo_attr(p->out,
                            v->kind == STET_ATTR_STRING    ? STET_HLO_F_STRING
                            : v->kind == STET_ATTR_INTEGER ? STET_HLO_F_INT
                                                           : STET_HLO_F_INTS,
                            v, false);
    }
    stet_buf_char(p->out, '}');
}

/* The FUSED location with XLA's metadata inside the instruction's name, or NULL. */
static const struct stet_loc *metadata_of(const struct stet_loc *loc)
{
    const struct stet_loc *l = loc && loc->count ? loc->parts[0] : NULL;

    if (l && stet_attr_field(stet_loc_metadata(l), "order"))
        l = l->count ? l->parts[0] : NULL;
    return l && l->kind == STET_LOC_FUSED ? l : NULL;
}

static void control(struct printer *p, const struct stet_op *op, uint32_t count)
{
    if (!count || !p->how->control)
        return;
    stet_buf_str(p->out, ", control-predecessors={");
    for (uint32_t i = op->operand_count - count; i < op->operand_count; i++) {
        if (i > op->operand_count - count)
            stet_buf_str(p->out, ", ");
        name(p, value_name(stet_op_operand(op, i)));
    }
    stet_buf_char(p->out, '}');
}

static void attrs(struct printer *p, const struct stet_op *op, const struct stet_attr *dict,
                  const unsigned char *list, const struct stet_loc *loc, uint32_t controls)
{
    for (; *list; list++) {
        const char *label = stet_hlo_attr_name(*list);
        const struct stet_attr *a = op ? stet_op_attr(op, label) : stet_attr_field(dict, label);
        const struct stet_loc *m = metadata_of(loc);

        if (*list == STET_HLO_A_METADATA && m && p->how->metadata)
            metadata(p, m);
        if (*list == STET_HLO_A_CONTROL_PREDECESSORS && op)
            control(p, op, controls);
        if (op && stet_print_hlo_parts(p->out, *list, op))
            continue;
        if (!a || *list == STET_HLO_A_CONTROL_PREDECESSORS || *list == STET_HLO_A_VALUE)
            continue;
        stet_buf_printf(p->out, ", %s=", label);
        stet_print_hlo_attr(p->out, stet_hlo_attr_form(*list), a, p->how->percent);
    }
}

static uint32_t control_count(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "control-predecessors");

    return a ? (uint32_t)stet_attr_int(a) : 0;
}

static void instruction(struct printer *p, const struct stet_op *op, bool root)
{
    const struct stet_hlo_op *entry = stet_hlo_op_of(op);
    uint32_t controls = control_count(op);

    stet_buf_str(p->out, root ? "  ROOT " : "  ");
    name(p, op->loc->text);
    stet_buf_str(p->out, " = ");
    stet_print_hlo_type(p->out, op->results->type, true);
    stet_buf_printf(p->out, " %.*s(", (int)stet_op_name(op).len - 4, stet_op_name(op).ptr + 4);
    if (op->known == STET_HLO_CONSTANT)
        constant(p, op);
    else
        operands(p, stet_op_operands(op), op->operand_count - controls);
    stet_buf_char(p->out, ')');
    if (entry)
        attrs(p, op, NULL, entry->attrs, op->loc, controls);
    attrs(p, op, NULL, stet_hlo_tail, op->loc, controls);
    stet_buf_char(p->out, '\n');
}

static void parameter(struct printer *p, const struct stet_value *v, const struct stet_attr *dict,
                      bool root)
{
    stet_buf_str(p->out, root ? "  ROOT " : "  ");
    name(p, value_name(v));
    stet_buf_str(p->out, " = ");
    stet_print_hlo_type(p->out, v->type, true);
    stet_buf_printf(p->out, " parameter(%u)", v->index);
    attrs(p, NULL, dict, stet_hlo_op(STET_VIEW("parameter"))->attrs, stet_value_loc(v), 0);
    attrs(p, NULL, dict, stet_hlo_tail, stet_value_loc(v), 0);
    stet_buf_char(p->out, '\n');
}

/* ---- computations ---- */

static void signature(struct printer *p, const struct stet_block *block,
                      const struct stet_type *result)
{
    stet_buf_char(p->out, '(');
    for (uint32_t i = 0; i < block->arg_count; i++) {
        stet_buf_str(p->out, i ? ", " : "");
        stet_buf_view(p->out, value_name(&block->args[i]));
        stet_buf_str(p->out, ": ");
        stet_print_hlo_type(p->out, block->args[i].type, false);
    }
    stet_buf_str(p->out, ") -> ");
    stet_print_hlo_type(p->out, result, false);
    stet_buf_char(p->out, ' ');
}

/* The parameter at `position` among the instructions, or NULL. */
static const struct stet_value *parameter_at(const struct stet_block *block, uint32_t position)
{
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const struct stet_loc *loc = stet_block_locs(block)[i];
        const struct stet_attr *order =
            loc && loc->count ? stet_attr_field(stet_loc_metadata(loc->parts[0]), "order") : NULL;

        if (order && stet_attr_int(order) == position)
            return &block->args[i];
    }
    return NULL;
}

static void print_thread(struct stet_buf *out, struct stet_view name)
{
    stet_buf_str(out, ", execution_thread=\"");
    stet_print_hlo_escaped(out, name);
    stet_buf_str(out, "\"");
}

static void computation(struct printer *p, const struct stet_op *op, bool entry)
{
    const struct stet_block *block = stet_op_region(op, 0)->blocks[0];
    const struct stet_value *root = stet_op_operand(block->ops[block->op_count - 1], 0), *arg;
    const struct stet_attr *dicts = stet_op_attr(op, "arg_attrs");
    const struct stet_attr *thread = stet_op_attr(op, "execution_thread");
    uint32_t next = 0, left = block->arg_count;

    stet_buf_str(p->out, entry ? "ENTRY " : "");
    name(p, stet_op_symbol(op));
    stet_buf_char(p->out, ' ');
    if (p->how->percent)
        signature(p, block, root->type);
    stet_buf_str(p->out, "{\n");
    for (uint32_t i = 0; next < block->op_count - 1 || left; i++) {
        arg = left ? parameter_at(block, i) : NULL;
        if (arg) {
            parameter(p, arg, dicts->items[arg->index], arg == root);
            left--;
        } else if (next < block->op_count - 1) {
            const struct stet_op *o = block->ops[next++];

            instruction(p, o, o->results == root);
        } else {
            break;
        }
    }
    stet_buf_char(p->out, '}');
    if (thread)
        print_thread(p->out, stet_attr_text(thread));
    stet_buf_str(p->out, "\n\n");
}

/* ---- the module ---- */

static void index_of(struct stet_buf *out, const struct stet_attr *a)
{
    stet_print_hlo_attr(out, STET_HLO_F_INTS, a, false);
}

static void alias(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, ", input_output_alias={ ");
    for (uint32_t i = 0; i < a->count; i++) {
        stet_buf_str(out, i ? ", " : "");
        index_of(out, stet_attr_field(a->items[i], "output"));
        stet_buf_printf(out, ": (%lld, ",
                        (long long)stet_attr_int(stet_attr_field(a->items[i], "parameter")));
        index_of(out, stet_attr_field(a->items[i], "index"));
        stet_buf_printf(out, ", %.*s)",
                        STET_FMT(stet_attr_text(stet_attr_field(a->items[i], "kind"))));
    }
    stet_buf_str(out, " }");
}

static void donors(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, ", buffer_donor={ ");
    for (uint32_t i = 0; i < a->count; i++) {
        stet_buf_printf(out, "%s(%lld, ", i ? ", " : "",
                        (long long)stet_attr_int(stet_attr_field(a->items[i], "parameter")));
        index_of(out, stet_attr_field(a->items[i], "index"));
        stet_buf_char(out, ')');
    }
    stet_buf_str(out, " }");
}

/* "{1,0}" or "{1,0:T(8)}" with as many entries as the shape has dimensions. */
static bool is_layout_of(struct stet_view layout, const struct stet_type *t)
{
    uint32_t entries = 0;

    for (size_t i = 1; i < layout.len && layout.ptr[i] != ':' && layout.ptr[i] != '}'; i++)
        entries += i == 1 || layout.ptr[i] == ',';
    return t->kind == STET_TYPE_TENSOR && entries == t->rank;
}

/* A type of the entry with the layouts that the module assigns to its leaves. */
static void laid_out(struct stet_buf *out, const struct stet_type *t,
                     const struct stet_attr *leaves, uint32_t *next)
{
    struct stet_view layout;

    if (t->kind == STET_TYPE_TUPLE) {
        stet_buf_char(out, '(');
        for (uint32_t i = 0; i < t->member_count; i++) {
            stet_print_hlo_comma(out, i);
            laid_out(out, t->members[i], leaves, next);
        }
        stet_buf_char(out, ')');
        return;
    }
    stet_print_hlo_type(out, t, false);
    layout = *next < leaves->count ? stet_attr_text(leaves->items[*next]) : (struct stet_view){0};
    *next += 1;
    if (!stet_view_is(layout, "none") && !is_layout_of(layout, t))
        layout = (struct stet_view){0}; /* of another shape: the module contradicts its entry */
    if (layout.len && !stet_view_is(layout, "none"))
        stet_buf_view(out, layout);
    if (layout.len || t->kind != STET_TYPE_TENSOR || !t->rank)
        return;
    for (uint32_t i = t->rank; i-- > 0;)
        stet_buf_printf(out, "%s%u", i + 1 == t->rank ? "{" : ",", i);
    stet_buf_char(out, '}');
}

static void entry_layout(struct stet_buf *out, const struct stet_attr *leaves,
                         const struct stet_op *entry)
{
    const struct stet_block *block = stet_op_region(entry, 0)->blocks[0];
    uint32_t next = 0;

    stet_buf_str(out, ", entry_computation_layout={(");
    for (uint32_t i = 0; i < block->arg_count; i++) {
        if (i && i % 5 == 0)
            stet_buf_printf(out, ", /*index=%u*/", i);
        else if (i)
            stet_buf_str(out, ", ");
        laid_out(out, block->args[i].type, leaves, &next);
    }
    stet_buf_str(out, ")->");
    laid_out(out, stet_op_operand(block->ops[block->op_count - 1], 0)->type, leaves, &next);
    stet_buf_char(out, '}');
}

static void header(struct printer *p, const struct stet_op *m, const struct stet_op *entry)
{
    static const struct {
        const char *name;
        enum stet_hlo_form form;
    } rest[] = {
        {"allow_spmd_sharding_propagation_to_parameters", STET_HLO_F_BOOLS},
        {"allow_spmd_sharding_propagation_to_output", STET_HLO_F_BOOLS},
        {"replica_count", STET_HLO_F_INT},
        {"num_partitions", STET_HLO_F_INT},
        {"frontend_attributes", STET_HLO_F_STRINGS},
    };
    const struct stet_attr *a;

    stet_buf_str(p->out, "HloModule ");
    stet_buf_view(p->out, stet_op_symbol(m));
    if (stet_op_attr(m, "is_scheduled"))
        stet_buf_str(p->out, ", is_scheduled=true");
    if ((a = stet_op_attr(m, "input_output_alias")))
        alias(p->out, a);
    if ((a = stet_op_attr(m, "buffer_donor")))
        donors(p->out, a);
    if (stet_op_attr(m, "alias_passthrough_params"))
        stet_buf_str(p->out, ", alias_passthrough_params=true");
    if ((a = stet_op_attr(m, "entry_computation_layout")))
        entry_layout(p->out, a, entry);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if ((a = stet_op_attr(m, rest[i].name))) {
            stet_buf_printf(p->out, ", %s=", rest[i].name);
            stet_print_hlo_attr(p->out, rest[i].form, a, false);
        }
    stet_buf_str(p->out, "\n\n");
}

/* ---- names ---- */

/* XLA's own names have no other characters, and its text cannot express others. */
static bool is_sayable(struct stet_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '.' || c == '-'))
            return false;
    }
    return true;
}

static bool names_are_sayable(const struct stet_program *prog)
{
    if (!is_sayable(stet_op_symbol(prog->module)))
        return false;
    for (uint32_t f = 0; f < prog->function_count; f++) {
        const struct stet_op *op = prog->functions[f];
        const struct stet_block *body = op->region_count && stet_op_region(op, 0)->block_count
                                            ? stet_op_region(op, 0)->blocks[0]
                                            : NULL;

        if (!is_sayable(stet_op_symbol(op)))
            return false;
        for (uint32_t i = 0; body && i < body->arg_count; i++)
            if (!is_sayable(value_name(&body->args[i])))
                return false;
        for (uint32_t i = 0; body && i < body->op_count; i++)
            if (body->ops[i]->loc && !is_sayable(body->ops[i]->loc->text))
                return false;
    }
    return true;
}

enum stet_rc stet_print_hlo(const struct stet_program *prog, const struct stet_hlo_print *how,
                            struct stet_buf *out, struct stet_err *err)
{
    struct printer p = {out, how};
    size_t begin = out->len;

    if (!prog->module || prog->module->known != STET_HLO_MODULE)
        return stet_fail(err, STET_UNSUPPORTED, "not an HLO program");
    if (!names_are_sayable(prog))
        return stet_fail(err, STET_UNSUPPORTED, "a name that HLO text cannot express");
    header(&p, prog->module, prog->entry);
    for (uint32_t i = 0; i < prog->function_count; i++)
        computation(&p, prog->functions[i], prog->functions[i] == prog->entry);
    if (out->failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory while printing HLO");
    if (memchr(out->ptr + begin, 0, out->len - begin)) /* a NUL cannot be in a text */
        return stet_fail(err, STET_UNSUPPORTED, "a zero byte, which HLO text cannot express");
    return STET_OK;
}
