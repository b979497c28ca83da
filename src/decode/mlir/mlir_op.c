/* Operations, blocks and regions in MLIR text, and the generic form "name"(…) of any operation. */
#include "decode/mlir/mlir_text.h"

#include "program/ops.h"

struct result_name {
    struct stet_view name;
    uint32_t count;
    const char *where;
};

struct mlir_label {
    struct stet_block block;
    bool defined;
    struct stet_view name;
    const char *where;
    struct mlir_label *next;
};

/* ---- values ---- */

static struct mlir_value *value_slot(struct mlir *p, struct stet_view name, const char *where)
{
    bool made = false;
    struct mlir_name *n =
        mlir_ok(p) ? stet_mlir_name(p, MLIR_VALUES, p->value_scope, name, &made) : NULL;
    struct mlir_value *v;

    if (!n)
        return NULL;
    if (!made)
        return n->value;
    v = STET_NEW(&p->temporary, struct mlir_value);
    if (!v) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    v->where = where;
    v->name = name;
    n->value = v;
    return v;
}

static void use_value(struct mlir *p, const struct mlir_value *v, const struct mlir_use *use)
{
    if (use->number >= v->count)
        stet_mlir_fail(p, use->where, "'%%%.*s' has %u result%s", STET_FMT(v->name), v->count,
                       v->count == 1 ? "" : "s");
    else if (use->type && !stet_type_eq(use->type, v->values[use->number].type))
        stet_mlir_fail(p, use->where, "'%%%.*s' has another type than the one given here",
                       STET_FMT(v->name));
    else
        *use->slot = &v->values[use->number];
}

static void define_value(struct mlir *p, struct stet_view name, const char *where,
                         struct stet_value *values, uint32_t count)
{
    struct mlir_value *v = value_slot(p, name, where);

    if (!v)
        return;
    if (v->values) {
        stet_mlir_fail(p, where, "'%%%.*s' is defined twice", STET_FMT(name));
        return;
    }
    v->values = values;
    v->count = count;
    for (struct mlir_use *use = v->uses; use; use = use->next)
        use_value(p, v, use);
}

static void resolve(struct mlir *p, const struct mlir_operand *o, const struct stet_type *type,
                    struct stet_value **slot)
{
    struct mlir_use now = {.slot = slot, .type = type, .number = o->number, .where = o->where},
                    *use;
    struct mlir_value *v = value_slot(p, o->name, o->where);

    if (!v)
        return;
    if (v->values) {
        use_value(p, v, &now);
        return;
    }
    use = STET_NEW(&p->temporary, struct mlir_use);
    if (!use) {
        stet_mlir_no_memory(p);
        return;
    }
    if (!v->uses) {
        v->next_open = p->open_values;
        p->open_values = v;
    }
    now.next = v->uses;
    *use = now;
    v->uses = use;
}

void stet_mlir_check_values(struct mlir *p)
{
    const struct mlir_value *first = NULL;

    for (const struct mlir_value *v = p->open_values; v; v = v->next_open)
        if (!v->values)
            first = v;
    if (first)
        stet_mlir_fail(p, first->where, "'%%%.*s' is not defined", STET_FMT(first->name));
}

bool stet_mlir_optional_operand(struct mlir *p)
{
    struct mlir_operand o = {0};

    if (stet_mlir_peek(p) != '%')
        return false;
    o.where = p->at++;
    o.name = stet_mlir_suffix(p, "the name of a value");
    if (p->at < p->end && *p->at == '#') {
        p->at++;
        o.number = stet_mlir_u32(p);
    }
    MLIR_PUSH(p, &p->operands, o);
    return true;
}

void stet_mlir_operand(struct mlir *p)
{
    if (!stet_mlir_optional_operand(p))
        stet_mlir_fail(p, p->at, "expected a value, '%%…'");
}

uint32_t stet_mlir_operand_count(const struct mlir *p, const struct mlir_op *o)
{
    return (uint32_t)((p->operands.len - o->operands) / sizeof(struct mlir_operand));
}

void stet_mlir_add_attr(struct mlir *p, const char *name, const struct stet_attr *value)
{
    struct stet_named_attr a = {stet_view_str(name), value};

    MLIR_PUSH(p, &p->attrs, a);
}

void stet_mlir_operand_type(struct mlir *p, const struct stet_type *t)
{
    stet_mlir_push_pointer(p, &p->types, t);
}

void stet_mlir_result_type(struct mlir *p, const struct stet_type *t)
{
    stet_mlir_push_pointer(p, &p->results, t);
}

/* ---- blocks and regions ---- */

static struct mlir_label *label(struct mlir *p, struct stet_view name, const char *where)
{
    bool made = false;
    struct mlir_name *n =
        mlir_ok(p) ? stet_mlir_name(p, MLIR_BLOCKS, p->region_scope, name, &made) : NULL;
    struct mlir_label *l;

    if (!n || !made)
        return n ? n->value : NULL;
    l = STET_NEW(p->arena, struct mlir_label);
    if (!l) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    l->name = name;
    l->where = where;
    l->next = p->labels;
    n->value = p->labels = l;
    return l;
}

static struct stet_view label_name(struct mlir *p)
{
    return stet_mlir_expect(p, "^") ? stet_mlir_suffix(p, "the name of a block")
                                    : (struct stet_view){0};
}

bool stet_mlir_arg(struct mlir *p, struct mlir_arg *out)
{
    *out = (struct mlir_arg){0};
    stet_mlir_space(p);
    out->where = p->at;
    if (!stet_mlir_expect(p, "%"))
        return false;
    out->name = stet_mlir_suffix(p, "the name of a value");
    stet_mlir_expect(p, ":");
    out->type = stet_mlir_type(p);
    out->loc = stet_mlir_optional_loc(p);
    return mlir_ok(p);
}

static void block_args(struct mlir *p, struct stet_block *b, const struct mlir_arg *args,
                       uint32_t count)
{
    if (count && !stet_build_args(p->arena, b, count)) {
        stet_mlir_no_memory(p);
        return;
    }
    for (uint32_t i = 0; i < count && mlir_ok(p); i++) {
        b->args[i].type = args[i].type;
        stet_block_locs(b)[i] = args[i].loc ? args[i].loc : p->unknown;
        if (args[i].name.len)
            define_value(p, args[i].name, args[i].where, &b->args[i], 1);
    }
}

static void block_ops(struct mlir *p, struct stet_block *b)
{
    size_t mark = mlir_mark(&p->scratch);

    for (char c = stet_mlir_peek(p); mlir_ok(p) && c != '}' && c != '^'; c = stet_mlir_peek(p)) {
        struct stet_op *op = stet_mlir_operation(p);

        if (op)
            op->parent = b;
        stet_mlir_push_pointer(p, &p->scratch, op);
    }
    b->ops = stet_mlir_pop(p, &p->scratch, mark, sizeof(*b->ops), &b->op_count);
}

/* ^name(%a: type, …): and what follows. */
static struct stet_block *labelled_block(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    const char *where = p->at;
    struct stet_view name = label_name(p);
    struct mlir_label *l = label(p, name, where);
    struct mlir_arg *args, arg;
    bool first = true;
    uint32_t n;

    if (!l || l->defined) {
        stet_mlir_fail(p, where, "block '^%.*s' is defined twice", STET_FMT(name));
        return NULL;
    }
    l->defined = true;
    if (stet_mlir_accept(p, "("))
        while (stet_mlir_more(p, ")", &first) && stet_mlir_arg(p, &arg))
            MLIR_PUSH(p, &p->scratch, arg);
    stet_mlir_expect(p, ":");
    args = stet_mlir_pop(p, &p->scratch, mark, sizeof(*args), &n);
    block_args(p, &l->block, args, n);
    block_ops(p, &l->block);
    return &l->block;
}

static struct stet_block *first_block(struct mlir *p, const struct mlir_arg *args, uint32_t count)
{
    struct stet_block *b = STET_NEW(p->arena, struct stet_block);

    if (!b) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    block_args(p, b, args, count);
    block_ops(p, b);
    return b;
}

static void blocks(struct mlir *p, struct stet_region *region, const struct mlir_arg *args,
                   uint32_t count)
{
    size_t mark = mlir_mark(&p->scratch);
    struct stet_block *b;
    char c;

    stet_mlir_expect(p, "{");
    c = stet_mlir_peek(p);
    if (count || (c != '}' && c != '^')) {
        b = first_block(p, args, count);
        stet_mlir_push_pointer(p, &p->scratch, b);
    }
    while (mlir_ok(p) && stet_mlir_peek(p) == '^') {
        b = labelled_block(p);
        stet_mlir_push_pointer(p, &p->scratch, b);
    }
    stet_mlir_expect(p, "}");
    region->blocks =
        stet_mlir_pop(p, &p->scratch, mark, sizeof(*region->blocks), &region->block_count);
    for (const struct mlir_label *l = p->labels; l; l = l->next)
        if (!l->defined)
            stet_mlir_fail(p, l->where, "block '^%.*s' is not defined", STET_FMT(l->name));
}

void stet_mlir_region(struct mlir *p, struct mlir_op *o, struct stet_region *region,
                      const struct mlir_arg *args, uint32_t arg_count, bool isolated)
{
    struct stet_view dialect = p->default_dialect;
    struct mlir_value *open = p->open_values;
    struct mlir_label *labels = p->labels;
    uint32_t mark = p->names.count, values = p->value_scope, scope = p->region_scope;

    if (!region || !stet_mlir_enter(p))
        return;
    p->region_scope = ++p->scopes;
    p->labels = NULL;
    p->default_dialect = o->known == STET_FUNC_FUNC ? STET_VIEW("func") : (struct stet_view){0};
    if (isolated) {
        p->value_scope = p->scopes;
        p->open_values = NULL;
    }
    blocks(p, region, args, arg_count);
    if (isolated) {
        stet_mlir_check_values(p);
        p->open_values = open;
    }
    if (mlir_ok(p))
        stet_mlir_names_drop(p, mark);
    p->value_scope = values;
    p->region_scope = scope;
    p->labels = labels;
    p->default_dialect = dialect;
    mlir_leave(p);
}

struct stet_region *stet_mlir_regions(struct mlir *p, struct mlir_op *o, uint32_t count)
{
    o->regions = STET_NEW_ARRAY(&p->temporary, struct stet_region, count);
    o->region_count = count;
    if (!o->regions)
        stet_mlir_no_memory(p);
    return o->regions;
}

bool stet_mlir_isolated(const struct mlir_op *o)
{
    switch (o->known) {
    case STET_BUILTIN_MODULE:
    case STET_FUNC_FUNC:
    case STET_MPMD_FRAGMENT:
    case STET_MPMD_NAMED_COMPUTATION:
    case STET_SDY_MANUAL_COMPUTATION:
    case STET_SDY_NAMED_COMPUTATION:
    case STET_STABLEHLO_ASYNC_START:
        return true;
    default:
        return false;
    }
}

/* ---- the generic form ---- */

struct stet_block *stet_mlir_successor(struct mlir *p)
{
    const char *where;
    struct mlir_label *l;

    stet_mlir_space(p);
    where = p->at;
    l = label(p, label_name(p), where);
    return l ? &l->block : NULL;
}

static void successors(struct mlir *p, struct mlir_op *o)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;

    while (stet_mlir_more(p, "]", &first)) {
        struct stet_block *b = stet_mlir_successor(p);

        stet_mlir_push_pointer(p, &p->scratch, b);
    }
    o->successors =
        stet_mlir_pop(p, &p->scratch, mark, sizeof(*o->successors), &o->successor_count);
}

void stet_mlir_region_list(struct mlir *p, struct mlir_op *o)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;

    while (stet_mlir_more(p, ")", &first)) {
        struct stet_region r = {0};

        stet_mlir_region(p, o, &r, NULL, 0, stet_mlir_isolated(o));
        MLIR_PUSH(p, &p->scratch, r);
    }
    o->regions = stet_mlir_pop(p, &p->scratch, mark, sizeof(*o->regions), &o->region_count);
}

void stet_mlir_signature(struct mlir *p)
{
    bool first = true;

    stet_mlir_expect(p, "(");
    while (stet_mlir_more(p, ")", &first))
        stet_mlir_operand_type(p, stet_mlir_type(p));
    stet_mlir_expect(p, "->");
    if (!stet_mlir_accept(p, "(")) {
        stet_mlir_result_type(p, stet_mlir_type(p));
        return;
    }
    for (first = true; stet_mlir_more(p, ")", &first);)
        stet_mlir_result_type(p, stet_mlir_type(p));
}

void stet_mlir_generic(struct mlir *p, struct mlir_op *o)
{
    bool first = true;

    stet_mlir_expect(p, "(");
    while (stet_mlir_more(p, ")", &first))
        stet_mlir_operand(p);
    if (stet_mlir_accept(p, "["))
        successors(p, o);
    if (stet_mlir_accept(p, "<")) {
        stet_mlir_dict_entries(p, &p->attrs);
        stet_mlir_expect(p, ">");
    }
    if (stet_mlir_accept(p, "("))
        stet_mlir_region_list(p, o);
    if (stet_mlir_at(p, "{"))
        stet_mlir_dict_entries(p, &p->attrs);
    stet_mlir_expect(p, ":");
    stet_mlir_signature(p);
}

/* ---- one operation ---- */

/* %a, %b:2 = onto the scratch stack. */
static void result_names(struct mlir *p)
{
    while (stet_mlir_peek(p) == '%') {
        struct result_name r = {.count = 1, .where = p->at++};

        r.name = stet_mlir_suffix(p, "the name of a value");
        if (stet_mlir_accept(p, ":"))
            r.count = stet_mlir_u32(p);
        MLIR_PUSH(p, &p->scratch, r);
        if (!stet_mlir_accept(p, ","))
            break;
    }
    stet_mlir_expect(p, "=");
}

/* The lists below are read directly from the stacks; nothing is pushed meanwhile. */
static void operands(struct mlir *p, const struct mlir_op *o, struct stet_op *op)
{
    uint32_t types = stet_mlir_pointer_count(&p->types, o->types);
    struct mlir_operand operand;

    for (uint32_t i = 0; i < op->operand_count && mlir_ok(p); i++) {
        memcpy(&operand, p->operands.ptr + o->operands + i * sizeof(operand), sizeof(operand));
        resolve(p, &operand, types ? stet_mlir_pointer_at(&p->types, o->types, i) : NULL,
                &stet_op_operands(op)[i]);
    }
    p->operands.len = o->operands;
    p->types.len = o->types;
}

/* Creates the operation with its results, and its operands once they are known. */
static struct stet_op *make_op(struct mlir *p, const struct mlir_op *o)
{
    uint32_t types = stet_mlir_pointer_count(&p->types, o->types);
    struct stet_op_parts parts = {
        .known = o->known,
        .name = o->name,
        .regions = o->regions,
        .region_count = o->region_count,
        .successors = o->successors,
        .successor_count = o->successor_count,
        .operand_count = stet_mlir_operand_count(p, o),
        .result_count = stet_mlir_pointer_count(&p->results, o->results),
    };
    struct stet_named_attr *attrs =
        stet_mlir_pop(p, &p->attrs, o->attrs, sizeof(*attrs), &parts.attr_count);
    struct stet_op *op;

    if (attrs && !stet_build_sort(attrs, parts.attr_count))
        stet_mlir_fail(p, o->where, "an attribute is given twice");
    parts.attrs = attrs;
    if (types && types != parts.operand_count)
        stet_mlir_fail(p, o->where, "%u operands, but types for %u", parts.operand_count, types);
    if (!stet_build_op_size(&parts))
        stet_mlir_fail_rc(p, STET_LIMIT, o->where, "too many attributes or regions");
    if (!mlir_ok(p))
        return NULL;
    op = stet_build_op(p->arena, &parts);
    if (!op) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i].type = stet_mlir_pointer_at(&p->results, o->results, i);
    p->results.len = o->results;
    operands(p, o, op);
    return op;
}

static void name_results(struct mlir *p, const struct mlir_op *o, struct stet_op *op, size_t mark)
{
    uint32_t names = (uint32_t)((p->scratch.len - mark) / sizeof(struct result_name)), next = 0;
    struct result_name r;

    for (uint32_t i = 0; i < names && mlir_ok(p); i++) {
        memcpy(&r, p->scratch.ptr + mark + i * sizeof(r), sizeof(r));
        if (r.count == 0 || r.count > op->result_count - next) {
            stet_mlir_fail(p, r.where, "'%.*s' has %u result%s", STET_FMT(o->name),
                           op->result_count, op->result_count == 1 ? "" : "s");
            return;
        }
        define_value(p, r.name, r.where, &op->results[next], r.count);
        next += r.count;
    }
    p->scratch.len = mark;
    if (names && next != op->result_count)
        stet_mlir_fail(p, o->where, "%u names for %u results", next, op->result_count);
}

struct stet_op *stet_mlir_operation(struct mlir *p)
{
    size_t names = mlir_mark(&p->scratch);
    struct mlir_op o = {.operands = p->operands.len,
                        .attrs = p->attrs.len,
                        .types = p->types.len,
                        .results = p->results.len};
    struct stet_op *op;
    bool generic;

    if (stet_mlir_peek(p) == '%')
        result_names(p);
    generic = stet_mlir_peek(p) == '"';
    o.where = p->at;
    o.name = generic ? stet_mlir_string(p)
                     : stet_mlir_op_name(p, stet_mlir_word(p, "the name of an operation"));
    o.known = stet_known_op(o.name);
    if (generic)
        stet_mlir_generic(p, &o);
    else if (mlir_ok(p))
        stet_mlir_custom(p, &o);
    op = mlir_ok(p) ? make_op(p, &o) : NULL;
    if (!op)
        return NULL;
    op->loc = stet_mlir_optional_loc(p);
    if (!op->loc)
        op->loc = o.loc ? o.loc : p->unknown;
    name_results(p, &o, op, names);
    return mlir_ok(p) ? op : NULL;
}
