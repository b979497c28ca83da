/* Values as text for people, and as JSON. */
#include "journal/values_record.h"

static void array_text(struct stet_buf *out, const struct stet_journal_value *v)
{
    stet_buf_view(out, v->text);
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < v->rank; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)v->dims[i]);
    stet_buf_str(out, v->weak ? "] (weak type)" : "]");
    if (stet_view_is(v->type, "ndarray"))
        stet_buf_str(out, " (NumPy)");
    if (v->place.len)
        stet_buf_printf(out, " with %.*s", STET_FMT(v->place));
}

/* NumPy's scalars are printed with their type, because a compiler treats them differently from
 * Python's. */
static void number_text(struct stet_buf *out, const struct stet_journal_value *v)
{
    if (!stet_view_is(v->type, "int") && !stet_view_is(v->type, "float"))
        stet_buf_printf(out, "%.*s ", STET_FMT(v->type));
    if (v->kind == STET_VALUE_INT)
        stet_buf_printf(out, "%lld", (long long)v->number);
    else
        stet_buf_printf(out, "%.9g", v->real);
}

void stet_journal_value_text(struct stet_buf *out, const struct stet_journal_value *v)
{
    switch (v->kind) {
    case STET_VALUE_NONE:
        stet_buf_str(out, "None");
        break;
    case STET_VALUE_BOOL:
        stet_buf_str(out, v->number ? "True" : "False");
        break;
    case STET_VALUE_INT:
    case STET_VALUE_FLOAT:
        number_text(out, v);
        break;
    case STET_VALUE_WORD:
        stet_buf_printf(out, "'%.*s'", STET_FMT(v->text));
        break;
    case STET_VALUE_HIDDEN:
        stet_buf_printf(out, "another %.*s", STET_FMT(v->type));
        break;
    case STET_VALUE_ARRAY:
        array_text(out, v);
        break;
    case STET_VALUE_FUNCTION:
        stet_buf_printf(out, "%.*s of line %u", STET_FMT(v->text), v->line);
        break;
    case STET_VALUE_OBJECT:
        stet_buf_printf(out, "%.*s object", STET_FMT(v->type));
        break;
    case STET_VALUE_LENGTH:
        stet_buf_printf(out, "%lld items", (long long)v->number);
        break;
    case STET_VALUE_CONTAINER:
        stet_buf_printf(out, "%.*s object", STET_FMT(v->type));
        break;
    }
}

const char *stet_journal_value_kind_name(enum stet_journal_value_kind kind)
{
    switch (kind) {
#define KIND(id, number, name)                                                                     \
    case STET_VALUE_##id:                                                                          \
        return name;
        STET_JOURNAL_VALUE_KINDS
#undef KIND
    }
    return NULL;
}

const char *stet_journal_value_scope_name(enum stet_journal_value_scope scope)
{
    switch (scope) {
#define SCOPE(id, number, name)                                                                    \
    case STET_SCOPE_##id:                                                                          \
        return name;
        STET_JOURNAL_VALUE_SCOPES
#undef SCOPE
    }
    return NULL;
}

static void array_json(struct stet_json *j, const struct stet_journal_value *v)
{
    stet_json_string(j, "dtype", v->text);
    stet_json_array(j, "shape");
    for (uint32_t i = 0; i < v->rank; i++)
        stet_json_int(j, NULL, v->dims[i]);
    stet_json_end_array(j);
    stet_json_bool(j, "weak", v->weak);
    if (v->place.len)
        stet_json_string(j, "sharding", v->place);
}

static void payload_json(struct stet_json *j, const struct stet_journal_value *v)
{
    switch (v->kind) {
    case STET_VALUE_NONE:
        break;
    case STET_VALUE_BOOL:
        stet_json_bool(j, "value", v->number != 0);
        break;
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        stet_json_int(j, "value", v->number);
        break;
    case STET_VALUE_FLOAT:
        stet_json_number(j, "value", v->real);
        break;
    case STET_VALUE_WORD:
        stet_json_string(j, "value", v->text);
        break;
    case STET_VALUE_HIDDEN:
        stet_json_uint(j, "hash", v->hash);
        break;
    case STET_VALUE_ARRAY:
        array_json(j, v);
        break;
    case STET_VALUE_FUNCTION:
        stet_json_string(j, "name", v->text);
        stet_json_string(j, "file", v->file);
        stet_json_uint(j, "line", v->line);
        stet_json_uint(j, "address", v->address);
        break;
    case STET_VALUE_OBJECT:
    case STET_VALUE_CONTAINER:
        stet_json_uint(j, "address", v->address);
        break;
    }
}

void stet_journal_values_json(struct stet_json *j, const char *name, struct stet_view bytes)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;

    stet_journal_values_open(&r, bytes);
    stet_json_array(j, name);
    while (stet_journal_values_next(&r, &v)) {
        stet_json_object(j, NULL);
        stet_json_string(j, "path", v.path);
        stet_json_cstr(j, "scope", stet_journal_value_scope_name(v.scope));
        stet_json_uint(j, "frame", v.frame);
        stet_json_cstr(j, "kind", stet_journal_value_kind_name(v.kind));
        stet_json_string(j, "type", v.type);
        payload_json(j, &v);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}
