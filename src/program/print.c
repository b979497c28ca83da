/* Prints a whole program in MLIR's generic form. */
#include "program/print.h"

#include "program/props.h"

struct printer {
    struct stet_buf *out;
    const struct stet_program *program;
    struct stet_print_options options;
    const struct stet_attr *unprintable; /* the first attribute or type without text */
    bool unprintable_type;
    uint32_t resources;
    struct stet_view last_op;
};

/* ---- values ---- */

/* One name per definition: results after the first are %name#index. */
static void print_value(struct printer *p, const struct stet_value *v)
{
    const struct stet_op *def = stet_value_def(v);

    if (def && def->result_count > 1)
        stet_buf_printf(p->out, "%%%u#%u", def->results[0].id, v->index);
    else
        stet_buf_printf(p->out, "%%%u", v->id);
}

static void indent(struct printer *p, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        stet_buf_str(p->out, "  ");
}

static void print_location(struct printer *p, const struct stet_loc *loc)
{
    if (!p->options.locations)
        return;
    stet_buf_char(p->out, ' ');
    stet_print_loc(p->out, loc);
}

/* ---- attributes ---- */

static bool type_has_text(const struct stet_type *t, unsigned depth)
{
    if (!t || depth == STET_MAX_DEPTH)
        return true;
    if (t->kind == STET_TYPE_OPAQUE && !stet_type_rest(t)->text.len)
        return false;
    if (!type_has_text(t->element, depth + 1))
        return false;
    for (uint32_t i = 0; i < t->member_count; i++)
        if (!type_has_text(t->members[i], depth + 1))
            return false;
    return true;
}

static bool attr_has_text(const struct stet_attr *a, unsigned depth)
{
    if (depth == STET_MAX_DEPTH)
        return true;
    if ((a->kind == STET_ATTR_OPAQUE || a->kind == STET_ATTR_AFFINE_MAP) && !stet_attr_text(a).len)
        return false;
    if (!type_has_text(stet_attr_type(a), depth + 1))
        return false;
    if (a->kind == STET_ATTR_ARRAY)
        for (uint32_t i = 0; i < a->count; i++)
            if (!attr_has_text(a->items[i], depth + 1))
                return false;
    if (a->kind == STET_ATTR_DICT || a->kind == STET_ATTR_RECORD)
        for (uint32_t i = 0; i < a->count; i++)
            if (!attr_has_text(a->named[i].value, depth + 1))
                return false;
    return true;
}

enum { SMALL_CONSTANT = 16 };

static bool elide(const struct printer *p, const struct stet_attr *a)
{
    uint64_t n;

    return p->options.elide_large && a->kind == STET_ATTR_DENSE && !a->splat &&
           stet_type_elements(stet_attr_type(a), &n) && n > SMALL_CONSTANT;
}

static void print_named(struct printer *p, const struct stet_named_attr *n)
{
    if (!attr_has_text(n->value, 0) && !p->unprintable)
        p->unprintable = n->value;
    if (n->value->kind == STET_ATTR_RESOURCE)
        p->resources++;
    stet_print_name(p->out, n->name);
    if (n->value->kind == STET_ATTR_UNIT)
        return;
    stet_buf_str(p->out, " = ");
    if (elide(p, n->value)) {
        stet_buf_str(p->out, "dense_resource<__elided__> : ");
        stet_print_type(p->out, stet_attr_type(n->value));
    } else {
        stet_print_attr(p->out, n->value);
    }
}

/* Attributes that an operation declares go between <{ }>, the others after the regions between {
 * }. */
static void print_attrs(struct printer *p, const struct stet_op *op, bool declared)
{
    const struct stet_props *props = stet_props_find(stet_op_name(op));
    bool any = false;

    for (uint32_t i = 0; i < op->attr_count; i++) {
        if (stet_props_has(props, op->attrs[i].name) != declared)
            continue;
        stet_buf_str(p->out, any ? ", " : declared ? " <{" : " {");
        print_named(p, &op->attrs[i]);
        any = true;
    }
    if (any)
        stet_buf_str(p->out, declared ? "}>" : "}");
}

/* ---- operations ---- */

static void print_op(struct printer *p, const struct stet_op *op, unsigned depth);

static void print_type(struct printer *p, const struct stet_type *t)
{
    p->unprintable_type |= !type_has_text(t, 0);
    stet_print_type(p->out, t);
}

static void print_block_header(struct printer *p, const struct stet_block *block, uint32_t index,
                               unsigned depth)
{
    if (!block->arg_count && index == 0)
        return;
    indent(p, depth);
    stet_buf_printf(p->out, "^bb%u", index);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        stet_buf_str(p->out, i ? ", " : "(");
        print_value(p, &block->args[i]);
        stet_buf_str(p->out, ": ");
        print_type(p, block->args[i].type);
        print_location(p, stet_block_locs(block)[i]);
    }
    stet_buf_str(p->out, block->arg_count ? "):\n" : ":\n");
}

static void print_region(struct printer *p, const struct stet_region *region, unsigned depth)
{
    stet_buf_str(p->out, "{\n");
    for (uint32_t b = 0; b < region->block_count; b++) {
        print_block_header(p, region->blocks[b], b, depth);
        for (uint32_t i = 0; i < region->blocks[b]->op_count; i++)
            print_op(p, region->blocks[b]->ops[i], depth + 1);
    }
    indent(p, depth);
    stet_buf_char(p->out, '}');
}

static uint32_t block_index(const struct stet_op *op, const struct stet_block *block)
{
    const struct stet_op *parent = op->parent ? op->parent->parent : NULL;

    for (unsigned r = 0; parent && r < parent->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(parent, r)->block_count; b++)
            if (stet_op_region(parent, r)->blocks[b] == block)
                return b;
    return 0;
}

static void print_signature(struct printer *p, const struct stet_op *op)
{
    stet_buf_str(p->out, " : (");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        stet_buf_str(p->out, i ? ", " : "");
        print_type(p, stet_op_operand(op, i)->type);
    }
    stet_buf_str(p->out, op->result_count == 1 ? ") -> " : ") -> (");
    for (uint32_t i = 0; i < op->result_count; i++) {
        stet_buf_str(p->out, i ? ", " : "");
        print_type(p, op->results[i].type);
    }
    if (op->result_count != 1)
        stet_buf_char(p->out, ')');
}

static void print_op(struct printer *p, const struct stet_op *op, unsigned depth)
{
    bool fine = !p->unprintable && !p->unprintable_type;

    indent(p, depth);
    if (op->result_count == 1)
        stet_buf_printf(p->out, "%%%u = ", op->results[0].id);
    else if (op->result_count)
        stet_buf_printf(p->out, "%%%u:%u = ", op->results[0].id, op->result_count);
    stet_print_string(p->out, stet_op_name(op));
    stet_buf_char(p->out, '(');
    for (uint32_t i = 0; i < op->operand_count; i++) {
        stet_buf_str(p->out, i ? ", " : "");
        print_value(p, stet_op_operand(op, i));
    }
    stet_buf_char(p->out, ')');
    for (unsigned i = 0; i < stet_op_successor_count(op); i++)
        stet_buf_printf(p->out, "%s^bb%u", i ? ", " : "[",
                        block_index(op, stet_op_successors(op)[i]));
    if (stet_op_successor_count(op))
        stet_buf_char(p->out, ']');
    print_attrs(p, op, true);
    for (unsigned r = 0; r < op->region_count; r++) {
        stet_buf_str(p->out, r ? ", " : " (");
        print_region(p, stet_op_region(op, r), depth);
    }
    if (op->region_count)
        stet_buf_char(p->out, ')');
    print_attrs(p, op, false);
    print_signature(p, op);
    print_location(p, op->loc);
    stet_buf_char(p->out, '\n');
    if (fine && (p->unprintable || p->unprintable_type) && !p->last_op.len)
        p->last_op = stet_op_name(op);
}

/* ---- resources ---- */

static void print_blob(struct printer *p, const struct stet_attr *a)
{
    static const char digits[] = "0123456789ABCDEF";

    stet_print_name(p->out, stet_attr_text(a));
    stet_buf_str(p->out, ": \"0x04000000"); /* alignment 4, then the bytes */
    for (size_t i = 0; i < stet_attr_bytes(a).len; i++) {
        stet_buf_char(p->out, digits[(unsigned char)stet_attr_bytes(a).ptr[i] >> 4]);
        stet_buf_char(p->out, digits[stet_attr_bytes(a).ptr[i] & 15]);
    }
    stet_buf_char(p->out, '"');
}

struct blobs {
    struct printer *printer;
    const struct stet_program *program;
    bool any;
};

/* Does an operation before `limit`, or an attribute of it before `index`, have the same key? Files
 * have few. */
struct earlier {
    struct stet_view key;
    const struct stet_op *limit;
    uint32_t index;
    bool found;
};

static bool visit_earlier(const struct stet_op *op, void *context)
{
    struct earlier *e = context;
    uint32_t n = op == e->limit ? e->index : op->attr_count;

    for (uint32_t i = 0; i < n; i++)
        e->found |= op->attrs[i].value->kind == STET_ATTR_RESOURCE &&
                    stet_view_eq(stet_attr_text(op->attrs[i].value), e->key);
    return op != e->limit && !e->found;
}

static bool written_before(const struct blobs *blobs, const struct stet_op *op, uint32_t index)
{
    struct earlier e = {.key = stet_attr_text(op->attrs[index].value), .limit = op, .index = index};

    stet_program_walk(blobs->program, visit_earlier, &e);
    return e.found;
}

static bool visit_blobs(const struct stet_op *op, void *context)
{
    struct blobs *blobs = context;
    struct printer *p = blobs->printer;

    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr *a = op->attrs[i].value;

        if (a->kind != STET_ATTR_RESOURCE || !stet_attr_bytes(a).len ||
            written_before(blobs, op, i))
            continue;
        stet_buf_str(p->out, blobs->any ? ",\n      " : "      ");
        print_blob(p, a);
        blobs->any = true;
    }
    return true;
}

static void print_resources(struct printer *p)
{
    struct blobs blobs = {.printer = p, .program = p->program};

    stet_buf_str(p->out, "\n{-#\n  dialect_resources: {\n    builtin: {\n");
    stet_program_walk(p->program, visit_blobs, &blobs);
    stet_buf_str(p->out, "\n    }\n  }\n#-}\n");
}

enum stet_rc stet_print_program(struct stet_buf *out, const struct stet_program *program,
                                const struct stet_print_options *options, struct stet_err *err)
{
    struct printer p = {.out = out, .program = program};

    if (options)
        p.options = *options;
    if (!program->module)
        return stet_fail(err, STET_BAD_INPUT, "nothing to print: the program has no module");
    print_op(&p, program->module, 0);
    if (p.resources)
        print_resources(&p);
    if (out->failed)
        return stet_fail(err, STET_NO_MEMORY, "no memory for the text of a program");
    if (p.unprintable || p.unprintable_type)
        return stet_fail(err, STET_UNSUPPORTED,
                         "%.*s has an attribute or type of an unknown dialect, which has no text",
                         STET_FMT(p.last_op));
    return STET_OK;
}
