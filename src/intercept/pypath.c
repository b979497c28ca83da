/* See pypath.h. */
#include "intercept/pypath.h"

enum { KEY_MAX = 48, NAME_MAX_LENGTH = 96 };

static void append(struct stet_pyread *r, struct stet_view text)
{
    size_t room = sizeof r->path - r->length, n = text.len < room ? text.len : room;

    if (n)
        memcpy(r->path + r->length, text.ptr, n);
    r->length += (uint32_t)n;
}

static void push_cut(struct stet_pyread *r, const char *before, struct stet_view text,
                     const char *after)
{
    append(r, stet_view_str(before));
    append(r, text);
    append(r, stet_view_str(after));
}

/* The marks are literals: their lengths are known where this is inlined. */
static inline void push(struct stet_pyread *r, const char *before, struct stet_view text,
                        const char *after)
{
    size_t head = strlen(before), tail = strlen(after), n = text.len < KEY_MAX ? text.len : KEY_MAX;
    char *to = r->path + r->length;

    if (sizeof r->path - r->length < head + n + tail) {
        push_cut(r, before, stet_view_of(text.ptr, n), after);
        return;
    }
    memcpy(to, before, head);
    if (n)
        memcpy(to + head, text.ptr, n);
    memcpy(to + head + n, after, tail);
    r->length += (uint32_t)(head + n + tail);
}

void stet_intercept_pypath_name(struct stet_pyread *r, struct stet_view name)
{
    append(r, stet_view_of(name.ptr, name.len < NAME_MAX_LENGTH ? name.len : NAME_MAX_LENGTH));
}

void stet_intercept_pypath_field(struct stet_pyread *r, PyObject *name)
{
    push(r, ".", stet_intercept_pyread_text(r->py, name), "");
}

void stet_intercept_pypath_index(struct stet_pyread *r, long long i)
{
    char digits[24];
    size_t at = sizeof digits;
    unsigned long long rest = i < 0 ? 0 - (unsigned long long)i : (unsigned long long)i;

    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (i < 0)
        digits[--at] = '-';
    push(r, "[", stet_view_of(digits + at, sizeof digits - at), "]");
}

void stet_intercept_pypath_key(struct stet_pyread *r, PyObject *key)
{
    const struct stet_intercept_python *py = r->py;
    int overflow = 0;

    if (stet_intercept_pyread_is(py, key, py->PyUnicode_Type))
        push(r, "['", stet_intercept_pyread_text(py, key), "']");
    else if (stet_intercept_pyread_is(py, key, py->PyLong_Type))
        stet_intercept_pypath_index(r, py->PyLong_AsLongLongAndOverflow(key, &overflow));
    else
        push(r, "[", STET_VIEW("?"), "]");
}
