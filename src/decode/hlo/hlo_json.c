/* Normalises backend configurations. XLA keeps the JSON that it was given, and its dumps print it
 * with the fields of each object sorted and without spaces. Both must give the same program. */
#include "decode/hlo/hlo_build.h"

#include "base/buf.h"

#include <stdlib.h>

enum { DEEPEST = 64 };

struct sorter {
    const char *at, *end;
    struct stet_buf out;
    struct stet_buf fields; /* a stack of struct field: those of an inner object are on top */
    struct stet_buf aside;  /* the fields of one object, in order */
};

struct field {
    size_t at, len; /* in `out` */
    const char *base;
};

static char next(struct sorter *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

/* After a member of a list that ends with `close`: skips a comma, or stops at that end. */
static bool separated(struct sorter *s, char close)
{
    if (next(s) != ',')
        return next(s) == close;
    s->at++;
    return true;
}

/* A string, a number or a word, unchanged. */
static bool literal(struct sorter *s)
{
    const char *delimiters = " \t\r\n,:{}[]\"";
    bool string = next(s) == '"'; /* skips blanks */
    const char *from = s->at;

    if (s->at == s->end)
        return false;
    if (!string) {
        while (s->at < s->end && *s->at && !strchr(delimiters, *s->at))
            s->at++;
    } else {
        for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
            s->at += *s->at == '\\' && s->at + 1 < s->end;
        if (s->at == s->end)
            return false;
        s->at++;
    }
    stet_buf_view(&s->out, stet_view_of(from, (size_t)(s->at - from)));
    return s->at > from;
}

static int by_text(const void *a, const void *b)
{
    const struct field *x = a, *y = b;

    return stet_view_cmp(stet_view_of(x->base + x->at, x->len),
                         stet_view_of(y->base + y->at, y->len));
}

/* The fields written since `first`, which begin at `from`, sorted and with commas between them. */
static void sort_fields(struct sorter *s, size_t first, size_t from)
{
    size_t n = (s->fields.len - first) / sizeof(struct field);
    struct field *f;

    if (s->out.failed || s->fields.failed || !n)
        return;
    f = (struct field *)(uintptr_t)(s->fields.ptr + first);
    for (size_t i = 0; i < n; i++)
        f[i].base = s->out.ptr;
    qsort(f, n, sizeof *f, by_text);
    s->aside.len = 0;
    for (size_t i = 0; i < n; i++) {
        stet_buf_str(&s->aside, i ? "," : "");
        stet_buf_add(&s->aside, f[i].base + f[i].at, f[i].len);
    }
    s->out.len = from;
    stet_buf_view(&s->out, stet_buf_as_view(&s->aside));
    s->out.failed |= s->aside.failed;
}

static bool value(struct sorter *s, unsigned depth);

static bool field(struct sorter *s, unsigned depth)
{
    struct field f = {.at = s->out.len};

    if (next(s) != '"' || !literal(s) || next(s) != ':')
        return false;
    s->at++;
    stet_buf_char(&s->out, ':');
    if (!value(s, depth))
        return false;
    f.len = s->out.len - f.at;
    stet_buf_add(&s->fields, &f, sizeof f);
    return true;
}

static bool object(struct sorter *s, unsigned depth)
{
    size_t first = s->fields.len, from;

    s->at++;
    stet_buf_char(&s->out, '{');
    from = s->out.len;
    while (next(s) != '}') {
        if (!field(s, depth) || !separated(s, '}'))
            return false;
    }
    s->at++;
    sort_fields(s, first, from);
    s->fields.len = first;
    stet_buf_char(&s->out, '}');
    return true;
}

static bool array(struct sorter *s, unsigned depth)
{
    s->at++;
    stet_buf_char(&s->out, '[');
    for (bool first = true; next(s) != ']'; first = false) {
        if (!first)
            stet_buf_char(&s->out, ',');
        if (!value(s, depth) || !separated(s, ']'))
            return false;
    }
    s->at++;
    stet_buf_char(&s->out, ']');
    return true;
}

static bool value(struct sorter *s, unsigned depth)
{
    char c = next(s);

    if (depth == DEEPEST || s->out.failed || s->fields.failed)
        return false;
    return c == '{' ? object(s, depth + 1) : c == '[' ? array(s, depth + 1) : literal(s);
}

struct stet_view stet_decode_hlo_sorted_json(struct stet_arena *a, struct stet_view json)
{
    struct sorter s = {.at = json.ptr};
    struct stet_view sorted = json;

    if (!json.len || *json.ptr != '{')
        return json;
    s.end = json.ptr + json.len;
    if (value(&s, 0) && !next(&s) && s.at == s.end && !s.out.failed && !s.fields.failed &&
        !stet_view_eq(stet_buf_as_view(&s.out), json))
        sorted = stet_arena_copy(a, stet_buf_as_view(&s.out));
    if (s.out.failed || s.fields.failed || !sorted.ptr)
        a->failed = true;
    stet_buf_release(&s.out);
    stet_buf_release(&s.fields);
    stet_buf_release(&s.aside);
    return sorted.ptr ? sorted : json;
}
