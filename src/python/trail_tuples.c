/* Tuples with named fields: Row = namedtuple("Row", "x y"), then Row(a, b).y. */
#include "python/trail.h"

#include <ctype.h>

typedef struct stet_python_verdict verdict;

/* The place of a word among those of a text: "x y", "x, y"; -1 for none. */
static int place_of(struct stet_view text, struct stet_view word)
{
    int place = 0;

    for (size_t at = 0, end; at < text.len; at = end) {
        while (at < text.len && !isalnum((unsigned char)text.ptr[at]) && text.ptr[at] != '_')
            at++;
        for (end = at;
             end < text.len && (isalnum((unsigned char)text.ptr[end]) || text.ptr[end] == '_');)
            end++;
        if (stet_view_eq(stet_view_of(text.ptr + at, end - at), word))
            return place;
        place++;
    }
    return -1;
}

/* The place of a field in the list that defines a tuple. */
static int field_place(const struct stet_python_module *m, stet_python_ref fields,
                       struct stet_view name)
{
    const struct stet_python_ast *a = &m->ast;
    int place = 0;

    fields = fields ? stet_python_bare(a, fields) : 0;
    switch (fields ? stet_python_kind(a, fields) : PY_COMMENT) {
    case PY_STRING:
        return place_of(stet_python_string(a, fields), name);
    case PY_LIST:
    case PY_TUPLE:
        for (stet_python_ref c = stet_python_child(a, fields); c; c = stet_python_next(a, c)) {
            if (stet_view_eq(stet_python_string(a, c), name))
                return place;
            place++;
        }
        return -1;
    default:
        return -1;
    }
}

/* The place of the field in the only definition of a tuple of this name; -1 for none. */
static int defined_place(const struct stet_python_sources *s, struct stet_view tuple,
                         struct stet_view field)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct stet_python_module *m = s->modules[i];
        uint32_t number = m->parsed ? stet_intern_find(&m->ast.names, tuple) : STET_INTERN_NONE;

        for (uint32_t k = number == STET_INTERN_NONE ? 0 : m->first_binding[number]; k;
             k = m->bindings.items[k - 1].next) {
            const struct stet_python_binding *b = &m->bindings.items[k - 1];
            stet_python_ref made =
                b->how == PY_BIND_VALUE && !b->attribute ? stet_python_bare(&m->ast, b->value) : 0;

            if (made && stet_python_kind(&m->ast, made) == PY_CALL &&
                stet_python_meaning(m, stet_python_field(&m->ast, made, PY_FIELD_FUNCTION)) ==
                    PY_MEANS_BY_VALUE)
                return field_place(m, stet_python_argument(m, made, 1), field);
        }
    }
    return -1;
}

bool stet_python_trail_tuple(struct stet_python_trail *t, stet_python_ref call, verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_part kept = t->path[t->parts - 1];
    int place = defined_place(t->x->sources, stet_python_callee(m, call), kept.name);
    stet_python_ref given = place >= 0 ? stet_python_argument(m, call, (uint32_t)place) : 0;

    if (!given)
        return false;
    t->parts--;
    *v = stet_python_trail_of(t, given);
    t->path[t->parts++] = kept;
    return true;
}
