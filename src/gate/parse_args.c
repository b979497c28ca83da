/* The arguments of a family: names, dtypes, sizes. */
#include "gate/scan.h"
#include "program/build.h"
#include "program/hlo.h"

#include <stdio.h>

enum { MOST_VALUES = 4096, MOST_RANK = 64 };

/* batch.tokens, params['w'][0], params*: up to the colon outside brackets and quotes. */
static bool arg_name(struct stet_scan *s, struct stet_clause_arg *a)
{
    const char *from, *last;
    unsigned depth = 0;
    char quote = 0;

    stet_gate_scan_skip(s);
    if (s->at < s->end && *s->at == '"') {
        if (!stet_gate_scan_quoted(s, &a->name))
            return false;
    } else {
        for (from = s->at; s->at < s->end && (unsigned char)*s->at >= ' ' && *s->at != 0x7f;
             s->at++) {
            char ch = *s->at;

            if (quote)
                quote = ch == quote ? 0 : quote;
            else if (ch == '\'' || ch == '"')
                quote = ch;
            else if (ch == '[')
                depth++;
            else if (ch == ']' && depth)
                depth--;
            else if (!depth && strchr(":,(){}#]", ch))
                break;
        }
        for (last = s->at; last > from && (last[-1] == ' ' || last[-1] == '\t');)
            last--;
        if (last == from)
            return stet_scan_fail(s, from, "the name of an argument is missing here");
        a->name = stet_arena_copy(&s->c->arena, stet_view_of(from, (size_t)(last - from)));
        if (!a->name.ptr)
            return stet_gate_scan_no_memory(s);
    }
    if (!a->name.len)
        return stet_scan_fail(s, s->at, "an argument needs a name");
    a->many = a->name.ptr[a->name.len - 1] == '*';
    a->name.len -= a->many;
    return stet_gate_scan_expect_char(s, ':');
}

/* "int8" for HLO's s8 and MLIR's i8; NULL for what neither has. */
static const char *long_name(struct stet_view v)
{
    char hlo[16];
    enum stet_float flavour;
    bool signless;

    if (stet_float_by_name(v, &flavour))
        return stet_hlo_element_python(stet_type_float(flavour));
    if (stet_view_is(v, "i1"))
        return stet_hlo_element_python_of(STET_VIEW("pred"));
    if (v.len < 2 || v.len >= sizeof hlo || (v.ptr[0] != 'i' && !stet_view_starts(v, "ui")))
        return stet_hlo_element_python_of(v);
    signless = v.ptr[0] == 'i';
    snprintf(hlo, sizeof hlo, "%c%.*s", signless ? 's' : 'u', (int)v.len - (signless ? 1 : 2),
             v.ptr + (signless ? 1 : 2));
    return stet_hlo_element_python_of(stet_view_str(hlo));
}

static bool arg_type(struct stet_scan *s, struct stet_clause_arg *a)
{
    do {
        struct stet_view v = stet_gate_scan_peek(s);
        const char *known = long_name(v);

        if (!v.len)
            return stet_scan_fail(s, s->at, "a dtype is missing here");
        s->at += v.len;
        if (known)
            v = stet_view_str(known);
        a->type = stet_arena_printf(&s->c->arena, "%.*s%s%.*s", STET_FMT(a->type),
                                    a->type.len ? "|" : "", STET_FMT(v));
        if (!a->type.ptr)
            return stet_gate_scan_no_memory(s);
    } while (stet_gate_scan_accept_char(s, '|'));
    return true;
}

static bool dim_set(struct stet_scan *s, struct stet_dim *d)
{
    do {
        int64_t v;
        const char *from = s->at;

        if (stet_gate_scan_accept(s, "?"))
            v = INT64_MIN;
        else if (!stet_gate_scan_number(s, &v))
            return false;
        if (d->count >= MOST_VALUES)
            return stet_scan_fail(s, from, "more than %d sizes: use a range", MOST_VALUES);
        if (!stet_gate_dim_add(d, v, &s->c->arena))
            return stet_gate_scan_no_memory(s);
    } while (stet_gate_scan_accept_char(s, ','));
    return stet_gate_scan_expect_char(s, '}');
}

static bool dim(struct stet_scan *s, struct stet_dim *d)
{
    const char *from;
    int64_t v;

    *d = (struct stet_dim){.kind = STET_DIM_SET};
    if (stet_gate_scan_accept(s, "*")) {
        d->kind = STET_DIM_ANY;
        return true;
    }
    if (stet_gate_scan_accept_char(s, '{'))
        return dim_set(s, d);
    stet_gate_scan_skip(s);
    from = s->at;
    if (stet_gate_scan_accept(s, "?"))
        v = INT64_MIN;
    else if (!stet_gate_scan_number(s, &v))
        return false;
    if (s->end - s->at < 2 || memcmp(s->at, "..", 2) != 0)
        return stet_gate_dim_add(d, v, &s->c->arena) || stet_gate_scan_no_memory(s);
    s->at += 2;
    *d = (struct stet_dim){.kind = STET_DIM_RANGE, .low = v, .step = 1};
    if (v < 0 || !stet_gate_scan_number(s, &d->high) ||
        (stet_gate_scan_accept(s, "step") && !stet_gate_scan_number(s, &d->step)))
        return stet_scan_fail(s, from, "a range reads LOW..HIGH step STEP");
    if (d->high < d->low || d->step < 1)
        return stet_scan_fail(s, from, "this range is empty");
    return true;
}

static bool arg_dims(struct stet_scan *s, struct stet_clause_arg *a)
{
    struct stet_dim dims[MOST_RANK];

    if (!stet_gate_scan_expect_char(s, '['))
        return false;
    if (stet_gate_scan_accept_dots(s)) {
        a->any_shape = true;
        return stet_gate_scan_expect_char(s, ']');
    }
    if (stet_gate_scan_accept_char(s, ']'))
        return true;
    do {
        if (a->rank == MOST_RANK)
            return stet_scan_fail(s, s->at, "more than %d dimensions", MOST_RANK);
        if (!dim(s, &dims[a->rank++]))
            return false;
    } while (stet_gate_scan_accept_char(s, ','));
    a->dims = STET_NEW_ARRAY(&s->c->arena, struct stet_dim, a->rank);
    if (!a->dims)
        return stet_gate_scan_no_memory(s);
    memcpy(a->dims, dims, a->rank * sizeof *dims);
    return stet_gate_scan_expect_char(s, ']');
}

static bool argument(struct stet_scan *s, struct stet_family *f)
{
    struct stet_clause_arg *a = stet_gate_family_add_arg(f, &s->c->arena);
    const char *from;

    if (!a)
        return stet_gate_scan_no_memory(s);
    stet_gate_scan_skip(s);
    from = s->at;
    a->line = stet_gate_scan_line(s, from);
    if (!arg_name(s, a) || !arg_type(s, a))
        return false;
    stet_gate_scan_skip(s);
    if (s->at < s->end && *s->at == '[') {
        if (!arg_dims(s, a))
            return false;
    } else {
        a->any_shape = true;
    }
    for (;;) {
        if (stet_gate_scan_accept(s, "donated"))
            a->donated = true;
        else if (stet_gate_scan_accept(s, "sharded"))
            s->failed |= !stet_gate_scan_text(s, &a->sharding, "a sharding");
        else if (stet_gate_scan_accept(s, "layout"))
            s->failed |= !stet_gate_scan_text(s, &a->layout, "a layout");
        else
            return !s->failed;
        if (s->failed)
            return false;
    }
}

/* Separated by commas or line ends. */
bool stet_gate_scan_arguments(struct stet_scan *s, struct stet_family *f)
{
    bool fine = stet_gate_scan_expect_char(s, '(');

    s->depth++;
    while (fine && !stet_gate_scan_accept_char(s, ')')) {
        if (stet_gate_scan_accept_dots(s))
            f->open = true;
        else
            fine = argument(s, f);
        stet_gate_scan_accept_char(s, ',');
        stet_gate_scan_skip(s);
        if (fine && s->at == s->end)
            fine = stet_scan_fail(s, s->at, "')' is missing here");
    }
    s->depth--;
    return fine;
}
