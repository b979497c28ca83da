/* An object that the caller makes anew: a library's wrapper may take it as static. */
#include "explain/moved.h"

#include <string.h>

static bool is_word(struct stet_view path)
{
    return path.len && stet_view_word(path).len == path.len;
}

/* Is there an array in the object? Then it is data, which is new each time. */
static bool holds_array(struct stet_view bytes, struct stet_view object)
{
    struct stet_journal_value v;
    struct stet_reader r;

    stet_reader_init(&r, bytes, 0);
    while (stet_journal_values_next(&r, &v))
        if (v.kind == STET_VALUE_ARRAY && v.path.len > object.len &&
            !memcmp(v.path.ptr, object.ptr, object.len) &&
            (v.path.ptr[object.len] == '.' || v.path.ptr[object.len] == '['))
            return true;
    return false;
}

static bool was_another(struct stet_view before, const struct stet_journal_value *is)
{
    struct stet_journal_value v;
    struct stet_reader r;

    stet_reader_init(&r, before, 0);
    while (stet_journal_values_next(&r, &v))
        if (v.scope == is->scope && stet_view_eq(v.path, is->path))
            return v.kind == STET_VALUE_OBJECT && stet_view_eq(v.type, is->type) &&
                   v.address != is->address;
    return false;
}

bool stet_explain_new_object(struct stet_view before, struct stet_view now, uint32_t *at,
                             struct stet_view *variable)
{
    struct stet_journal_value v;
    struct stet_reader r;
    uint32_t number = 0;

    stet_reader_init(&r, now, 0);
    while (stet_journal_values_next(&r, &v))
        if (number++ >= *at && v.scope == STET_SCOPE_LOCAL && v.kind == STET_VALUE_OBJECT &&
            v.address && is_word(v.path) && was_another(before, &v) && !holds_array(now, v.path)) {
            *at = number;
            *variable = v.path;
            return true;
        }
    return false;
}
