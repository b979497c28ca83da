/* Operations, blocks and regions in MLIR text, and the generic form "name"(…) of any operation. */
#include "decode/mlir_text.h"

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
        stet_mlir_fail(p, use->where, "'%%%.*s' has another type than is said here",
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
    b->args = count ? STET_NEW_ARRAY(p->arena, struct stet_value, count) : NULL;
    if (count && !b->args) {
        stet_mlir_no_memory(p);
        return;
    }
    b->arg_count = count;
    for (uint32_t i = 0; i < count && mlir_ok(p); i++) {
        b->args[i] = (struct stet_value){.type = args[i].type,
                                         .block = b,
                                         .index = i,
                                         .loc = args[i].loc ? args[i].loc : p->unknown};
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
static struct stet_block *labelled_block(struct mlir *p, struct stet_op *parent)
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
    l->block.parent = parent;
    if (stet_mlir_accept(p, "("))
        while (stet_mlir_more(p, ")", &first) && stet_mlir_arg(p, &arg))
            MLIR_PUSH(p, &p->scratch, arg);
    stet_mlir_expect(p, ":");
    args = stet_mlir_pop(p, &p->scratch, mark, sizeof(*args), &n);
    block_args(p, &l->block, args, n);
    block_ops(p, &l->block);
    return &l->block;
}

static struct stet_block *first_block(struct mlir *p, struct stet_op *parent,
                                      const struct mlir_arg *args, uint32_t count)
{
    struct stet_block *b = STET_NEW(p->arena, struct stet_block);

    if (!b) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    b->parent = parent;
    block_args(p, b, args, count);
    block_ops(p, b);
    return b;
}

static void blocks(struct mlir *p, struct stet_op *parent, struct stet_region *region,
                   const struct mlir_arg *args, uint32_t count)
{
    size_t mark = mlir_mark(&p->scratch);
    struct stet_block *b;
    char c;

    stet_mlir_expect(p, "{");
    c = stet_mlir_peek(p);
    if (count || (c != '}' && c != '^')) {
        b = first_block(p, parent, args, count);
        stet_mlir_push_pointer(p, &p->scratch, b);
    }
    while (mlir_ok(p) && stet_mlir_peek(p) == '^') {
        b = labelled_block(p, parent);
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
    p->default_dialect = o->op->known == STET_FUNC_FUNC ? STET_VIEW("func") : (struct stet_view){0};
    if (isolated) {
        p->value_scope = p->scopes;
        p->open_values = NULL;
    }
    blocks(p, o->op, region, args, arg_count);
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
    o->op->regions = STET_NEW_ARRAY(p->arena, struct stet_region, count);
    o->op->region_count = (uint16_t)count;
    if (!o->op->regions)
        stet_mlir_no_memory(p);
    return o->op->regions;
}

bool stet_mlir_isolated(const struct stet_op *op)
{
    switch (op->known) {
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

static void successors(struct mlir *p, struct stet_op *op)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    while (stet_mlir_more(p, "]", &first)) {
        struct stet_block *b = stet_mlir_successor(p);

        stet_mlir_push_pointer(p, &p->scratch, b);
    }
    op->successors = stet_mlir_pop(p, &p->scratch, mark, sizeof(*op->successors), &n);
    if (n > UINT16_MAX)
        stet_mlir_fail_rc(p, STET_LIMIT, p->at, "too many successors");
    op->successor_count = (uint16_t)n;
}

void stet_mlir_region_list(struct mlir *p, struct mlir_op *o)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    while (stet_mlir_more(p, ")", &first)) {
        struct stet_region r = {0};

        stet_mlir_region(p, o, &r, NULL, 0, stet_mlir_isolated(o->op));
        MLIR_PUSH(p, &p->scratch, r);
    }
    o->op->regions = stet_mlir_pop(p, &p->scratch, mark, sizeof(*o->op->regions), &n);
    if (n > UINT16_MAX)
        stet_mlir_fail_rc(p, STET_LIMIT, p->at, "too many regions");
    o->op->region_count = (uint16_t)n;
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
        successors(p, o->op);
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

/* The lists below are read where they pile up: nothing is pushed meanwhile. */
static void operands(struct mlir *p, struct mlir_op *o)
{
    uint32_t n = stet_mlir_operand_count(p, o),
             types = stet_mlir_pointer_count(&p->types, o->types);
    struct mlir_operand operand;

    if (types && types != n) {
        stet_mlir_fail(p, o->where, "%u operands, but types for %u", n, types);
        return;
    }
    if (n == 0)
        return;
    o->op->operands = STET_NEW_ARRAY(p->arena, struct stet_value *, n);
    if (!o->op->operands) {
        stet_mlir_no_memory(p);
        return;
    }
    o->op->operand_count = n;
    for (uint32_t i = 0; i < n && mlir_ok(p); i++) {
        memcpy(&operand, p->operands.ptr + o->operands + i * sizeof(operand), sizeof(operand));
        resolve(p, &operand, types ? stet_mlir_pointer_at(&p->types, o->types, i) : NULL,
                &o->op->operands[i]);
    }
    p->operands.len = o->operands;
    p->types.len = o->types;
}

static void results(struct mlir *p, struct mlir_op *o)
{
    uint32_t n = stet_mlir_pointer_count(&p->results, o->results);

    if (n == 0)
        return;
    o->op->results = STET_NEW_ARRAY(p->arena, struct stet_value, n);
    if (!o->op->results) {
        stet_mlir_no_memory(p);
        return;
    }
    o->op->result_count = n;
    for (uint32_t i = 0; i < n; i++)
        o->op->results[i] = (struct stet_value){
            .type = stet_mlir_pointer_at(&p->results, o->results, i), .def = o->op, .index = i};
    p->results.len = o->results;
}

static void name_results(struct mlir *p, struct mlir_op *o, size_t mark)
{
    uint32_t names = (uint32_t)((p->scratch.len - mark) / sizeof(struct result_name)), next = 0;
    struct result_name r;

    for (uint32_t i = 0; i < names && mlir_ok(p); i++) {
        memcpy(&r, p->scratch.ptr + mark + i * sizeof(r), sizeof(r));
        if (r.count == 0 || r.count > o->op->result_count - next) {
            stet_mlir_fail(p, r.where, "'%.*s' has %u result%s", STET_FMT(o->op->name),
                           o->op->result_count, o->op->result_count == 1 ? "" : "s");
            return;
        }
        define_value(p, r.name, r.where, &o->op->results[next], r.count);
        next += r.count;
    }
    p->scratch.len = mark;
    if (names && next != o->op->result_count)
        stet_mlir_fail(p, o->where, "%u names for %u results", next, o->op->result_count);
}

static void attributes(struct mlir *p, struct mlir_op *o)
{
    struct stet_named_attr *attrs =
        stet_mlir_pop(p, &p->attrs, o->attrs, sizeof(*attrs), &o->op->attr_count);

    if (attrs && !stet_build_sort(attrs, o->op->attr_count))
        stet_mlir_fail(p, o->where, "an attribute is given twice");
    o->op->attrs = attrs;
}

struct stet_op *stet_mlir_operation(struct mlir *p)
{
    size_t names = mlir_mark(&p->scratch);
    struct mlir_op o = {.operands = p->operands.len,
                        .attrs = p->attrs.len,
                        .types = p->types.len,
                        .results = p->results.len};
    bool generic;

    if (stet_mlir_peek(p) == '%')
        result_names(p);
    generic = stet_mlir_peek(p) == '"';
    o.where = p->at;
    o.op = STET_NEW(p->arena, struct stet_op);
    if (!o.op) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    o.op->name = generic ? stet_mlir_string(p)
                         : stet_mlir_op_name(p, stet_mlir_word(p, "the name of an operation"));
    o.op->known = stet_known_op(o.op->name);
    if (o.op->known) /* a constant, so that equal names are the same pointer too */
        o.op->name = stet_view_str(stet_known_op_name(o.op->known));
    if (generic)
        stet_mlir_generic(p, &o);
    else if (mlir_ok(p))
        stet_mlir_custom(p, &o);
    if (!mlir_ok(p))
        return NULL;
    attributes(p, &o);
    operands(p, &o);
    results(p, &o);
    o.op->loc = stet_mlir_optional_loc(p);
    if (!o.op->loc)
        o.op->loc = o.loc ? o.loc : p->unknown;
    name_results(p, &o, names);
    return mlir_ok(p) ? o.op : NULL;
}
