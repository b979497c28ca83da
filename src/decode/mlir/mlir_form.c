/* Reads the short form of an operation by its row in mlir_forms.def. */
#include "decode/mlir/mlir_form.h"

#include "program/ops.h"

#include <stdio.h>

/* The word at `form`, with `form` moved past it; empty at the end. */
static struct stet_view next_word(const char **form)
{
    const char *from = *form;
    size_t n;

    while (*from == ' ')
        from++;
    n = strcspn(from, " ");
    *form = from + n;
    return stet_view_of(from, n);
}

/* ---- the types at the end ---- */

static bool has_bracket(struct mlir *p)
{
    return stet_mlir_peek(p) == '(';
}

/* Type lists end where no comma follows. */
static void types_into(struct mlir *p, struct stet_buf *stack)
{
    do {
        stet_mlir_push_pointer(p, stack, stet_mlir_type(p));
    } while (stet_mlir_accept(p, ","));
}

static void same_types(struct mlir *p, struct mlir_op *o)
{
    const struct stet_type *t;

    if (has_bracket(p)) {
        stet_mlir_signature(p);
        return;
    }
    t = stet_mlir_type(p);
    for (uint32_t i = stet_mlir_operand_count(p, o); i > 0; i--)
        stet_mlir_operand_type(p, t);
    stet_mlir_result_type(p, t);
}

static void each_type(struct mlir *p, struct mlir_op *o)
{
    if (stet_mlir_operand_count(p, o) == 0)
        return;
    stet_mlir_expect(p, ":");
    do {
        const struct stet_type *t = stet_mlir_type(p);

        stet_mlir_operand_type(p, t);
        stet_mlir_result_type(p, t);
    } while (stet_mlir_accept(p, ","));
}

static void arrow_types(struct mlir *p)
{
    bool first = true;

    if (has_bracket(p)) {
        stet_mlir_signature(p);
        return;
    }
    types_into(p, &p->types);
    stet_mlir_expect(p, "->");
    if (!stet_mlir_accept(p, "(")) {
        stet_mlir_result_type(p, stet_mlir_type(p));
        return;
    }
    while (stet_mlir_more(p, ")", &first))
        stet_mlir_result_type(p, stet_mlir_type(p));
}

/* The real tensor type of a complex one. */
static void complex_types(struct mlir *p)
{
    const struct stet_type *t;
    struct stet_type *real;

    if (has_bracket(p)) {
        stet_mlir_signature(p);
        return;
    }
    t = stet_mlir_type(p);
    real = mlir_ok(p) ? STET_NEW(p->arena, struct stet_type) : NULL;
    if (!real || !t->element || t->element->kind != STET_TYPE_COMPLEX) {
        stet_mlir_fail(p, p->at, "expected a tensor of complex numbers");
        return;
    }
    *real = *t;
    real->element = t->element->element;
    stet_mlir_operand_type(p, real);
    stet_mlir_operand_type(p, real);
    stet_mlir_result_type(p, t);
}

static void tuple_types(struct mlir *p)
{
    const struct stet_type *t = stet_mlir_type(p);

    if (!t || t->kind != STET_TYPE_TUPLE) {
        stet_mlir_fail(p, p->at, "expected a tuple type");
        return;
    }
    for (uint32_t i = 0; i < t->member_count; i++)
        stet_mlir_operand_type(p, t->members[i]);
    stet_mlir_result_type(p, t);
}

/* The condition's type, then that of the rest. */
static void select_types(struct mlir *p)
{
    const struct stet_type *t;

    if (has_bracket(p)) {
        stet_mlir_signature(p);
        return;
    }
    stet_mlir_operand_type(p, stet_mlir_type(p));
    stet_mlir_expect(p, ",");
    t = stet_mlir_type(p);
    stet_mlir_operand_type(p, t);
    stet_mlir_operand_type(p, t);
    stet_mlir_result_type(p, t);
}

/* tensor.from_elements: the operands have the element type. */
static void element_types(struct mlir *p, struct mlir_op *o)
{
    const struct stet_type *t = stet_mlir_type(p);

    for (uint32_t i = t && t->element ? stet_mlir_operand_count(p, o) : 0; i > 0; i--)
        stet_mlir_operand_type(p, t->element);
    stet_mlir_result_type(p, t);
}

static void types(struct mlir *p, struct mlir_op *o, struct stet_view kind)
{
    if (stet_view_is(kind, ":each")) {
        each_type(p, o);
        return;
    }
    if (stet_view_is(kind, ":operands") && stet_mlir_operand_count(p, o) == 0)
        return;
    stet_mlir_expect(p, ":");
    if (stet_view_is(kind, ":fn")) {
        stet_mlir_signature(p);
    } else if (stet_view_is(kind, ":same")) {
        same_types(p, o);
    } else if (stet_view_is(kind, ":result")) {
        stet_mlir_result_type(p, stet_mlir_type(p));
    } else if (stet_view_is(kind, ":operands") || stet_view_is(kind, ":more")) {
        types_into(p, &p->types);
    } else if (stet_view_is(kind, ":arrow")) {
        arrow_types(p);
    } else if (stet_view_is(kind, ":select")) {
        select_types(p);
    } else if (stet_view_is(kind, ":complex")) {
        complex_types(p);
    } else if (stet_view_is(kind, ":tuple")) {
        tuple_types(p);
    } else if (stet_view_is(kind, ":elements")) {
        element_types(p, o);
    } else { /* :to */
        stet_mlir_operand_type(p, stet_mlir_type(p));
        stet_mlir_expect_word(p, "to");
        stet_mlir_result_type(p, stet_mlir_type(p));
    }
}

/* ---- attributes ---- */

/* sdy's direction is an i32 under a name. */
static const struct stet_attr *direction(struct mlir *p)
{
    static const char *const names[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
    const char *where = p->at;
    struct stet_view word = stet_mlir_word(p, "a direction");

    for (int i = 0; i < 4; i++)
        if (stet_view_is(word, names[i]))
            return stet_mlir_make_int(p, stet_type_integer(p->arena, 32, STET_SIGNLESS), i);
    stet_mlir_fail(p, where, "unknown direction");
    return NULL;
}

static const struct stet_attr *attribute(struct mlir *p, const struct mlir_op *o,
                                         struct stet_view kind)
{
    uint32_t width = stet_view_is(kind, "i32") ? 32 : 64;
    struct stet_view dialect = o->name;

    if (stet_view_is(kind, "i32") || stet_view_is(kind, "i64"))
        return stet_mlir_make_int(p, stet_type_integer(p->arena, width, STET_SIGNLESS),
                                  stet_mlir_int(p));
    if (stet_view_is(kind, "ints"))
        return stet_mlir_bare_array(p, stet_type_integer(p->arena, 64, STET_SIGNLESS));
    if (stet_view_is(kind, "str"))
        return stet_mlir_make_string(p, stet_mlir_string(p));
    if (stet_view_is(kind, "sym"))
        return stet_mlir_make_string(p, stet_mlir_symbol(p));
    if (stet_view_is(kind, "per_value"))
        return stet_mlir_sdy_per_value(p);
    if (stet_view_is(kind, "direction"))
        return direction(p);
    if (stet_view_starts(kind, "sdy:"))
        return stet_mlir_sdy_attr(p, stet_view_of(kind.ptr + 4, kind.len - 4));
    if (stet_view_starts(kind, "mpmd:"))
        return stet_mlir_mpmd_attr(p, stet_view_of(kind.ptr + 5, kind.len - 5));
    if (stet_view_starts(kind, "enum:")) {
        dialect.len = (size_t)((const char *)memchr(dialect.ptr, '.', dialect.len) - dialect.ptr);
        return stet_mlir_known_attr(p, dialect, stet_view_of(kind.ptr + 5, kind.len - 5), false);
    }
    return stet_mlir_attr(p); /* attr, ref */
}

static void named_attribute(struct mlir *p, const struct mlir_op *o, struct stet_view word)
{
    const char *slash = memchr(word.ptr, '/', word.len);
    struct stet_named_attr a;

    a.name = stet_view_of(word.ptr + 1, (size_t)(slash - word.ptr) - 1);
    a.value = attribute(p, o, stet_view_of(slash + 1, word.len - (size_t)(slash - word.ptr) - 1));
    MLIR_PUSH(p, &p->attrs, a);
}

/* ---- the row ---- */

static void some_operands(struct mlir *p, struct stet_view word)
{
    if (word.len == 1) {
        stet_mlir_operand(p);
    } else if (word.ptr[1] == ',') {
        while (stet_mlir_optional_operand(p))
            stet_mlir_expect(p, ",");
    } else if (stet_mlir_optional_operand(p)) {
        while (stet_mlir_accept(p, ","))
            stet_mlir_operand(p);
    }
}

static void literal(struct mlir *p, struct stet_view v)
{
    if (stet_mlir_at_view(p, v))
        p->at += v.len;
    else
        stet_mlir_fail(p, p->at, "expected '%.*s'", STET_FMT(v));
}

void stet_mlir_read_form(struct mlir *p, struct mlir_op *o, const char *form)
{
    struct stet_view word;

    while (mlir_ok(p) && (word = next_word(&form)).len) {
        if (stet_view_is(word, "?(")) {
            const char *inside = form;

            if (!stet_mlir_at_view(p, next_word(&inside)))
                form = strstr(form, ")?") + 2;
        } else if (stet_view_is(word, ")?")) {
            continue;
        } else if (stet_view_is(word, "{}")) {
            if (stet_mlir_at(p, "{"))
                stet_mlir_dict_entries(p, &p->attrs);
        } else if (word.ptr[0] == '%') {
            some_operands(p, word);
        } else if (word.ptr[0] == '$') {
            named_attribute(p, o, word);
        } else if (word.ptr[0] == '@') {
            stet_mlir_form_part(p, o, word);
        } else if (word.ptr[0] == ':' && word.len > 1) {
            types(p, o, word);
        } else {
            literal(p, word);
        }
    }
}

/* ---- finding it ---- */

struct form {
    const char *row;
    mlir_form_code *code;
};

static const struct form forms[STET_KNOWN_OPS] = {
#define FORM(op, text)     [STET_##op] = {text, NULL},
#define CODE(op, function) [STET_##op] = {NULL, function},
#define OTHER(name, text)
#include "decode/mlir/mlir_forms.def"
#undef FORM
#undef CODE
#undef OTHER
};

static const struct {
    const char *name, *row;
} others[] = {
#define FORM(op, text)
#define CODE(op, function)
#define OTHER(name, text) {name, text},
#include "decode/mlir/mlir_forms.def"
#undef FORM
#undef CODE
#undef OTHER
};

/* MHLO prints like StableHLO, which was derived from it. */
static const struct form *find(const struct mlir_op *o, struct form *scratch)
{
    char name[64];

    if (o->known)
        return &forms[o->known];
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (stet_view_is(o->name, others[i].name)) {
            *scratch = (struct form){others[i].row, NULL};
            return scratch;
        }
    if (!stet_view_starts(o->name, "mhlo.") || o->name.len > 50)
        return NULL;
    snprintf(name, sizeof(name), "stablehlo.%.*s", (int)o->name.len - 5, o->name.ptr + 5);
    return &forms[stet_known_op(stet_view_str(name))];
}

void stet_mlir_custom(struct mlir *p, struct mlir_op *o)
{
    struct form scratch;
    const struct form *f = find(o, &scratch);

    if (f && f->code)
        f->code(p, o);
    else if (f && f->row)
        stet_mlir_read_form(p, o, f->row);
    else
        stet_mlir_fail_rc(p, STET_UNSUPPORTED, o->where,
                          "no short form is known for '%.*s' (print it in generic form)",
                          STET_FMT(o->name));
}

struct stet_view stet_mlir_op_name(struct mlir *p, struct stet_view name)
{
    struct stet_view dialect = p->default_dialect, full;

    if (memchr(name.ptr, '.', name.len) || name.len == 0)
        return name;
    if (stet_view_is(dialect, "func") && stet_view_is(name, "return"))
        return STET_VIEW("func.return");
    if (stet_view_is(dialect, "func") && stet_view_is(name, "call"))
        return STET_VIEW("func.call");
    if (stet_view_is(name, "module"))
        return STET_VIEW("builtin.module");
    if (stet_view_is(name, "func")) /* before func had a dialect */
        return STET_VIEW("func.func");
    if (dialect.len == 0)
        dialect = STET_VIEW("builtin");
    full = stet_arena_printf(p->arena, "%.*s.%.*s", STET_FMT(dialect), STET_FMT(name));
    if (!full.ptr)
        stet_mlir_no_memory(p);
    return full;
}
