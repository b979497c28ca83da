/* The cursor of the HLO text reader (facts: xla/hlo/parser/hlo_lexer.cc). */
#include "decode/hlo/hlo_text.h"

#include <stdarg.h>
#include <stdio.h>

static void position(struct stet_view src, size_t at, size_t *line, size_t *column)
{
    size_t start = 0;

    *line = 1;
    for (size_t i = 0; i < at && i < src.len; i++)
        if (src.ptr[i] == '\n') {
            *line += 1;
            start = i + 1;
        }
    *column = (at < src.len ? at : src.len) - start + 1;
}

static void fail_at(struct stet_hlo_text *t, size_t at, const char *fmt, va_list ap)
{
    char what[160];
    size_t line, column;

    if (t->failed)
        return;
    t->failed = true;
    if (at > t->src.len)
        at = t->src.len;
    position(t->src, at, &line, &column);
    vsnprintf(what, sizeof what, fmt, ap);
    stet_fail_at(t->b.err, STET_BAD_INPUT, at, "HLO text, line %zu column %zu: %s", line, column,
                 what);
}

enum stet_rc stet_decode_hlo_text_retell(const struct stet_hlo_text *t, const struct stet_err *own,
                                         struct stet_err *err)
{
    size_t line, column;

    if (own->offset == STET_NO_OFFSET || strncmp(own->text, "HLO: ", 5) != 0)
        return stet_fail_at(err, own->rc, own->offset, "%s", own->text);
    position(t->src, (size_t)own->offset, &line, &column);
    return stet_fail_at(err, own->rc, own->offset, "HLO text, line %zu column %zu: %.180s", line,
                        column, own->text + 5);
}

void stet_decode_hlo_text_fail_at(struct stet_hlo_text *t, size_t at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_at(t, at, fmt, ap);
    va_end(ap);
    t->at = t->src.len;
}

void stet_decode_hlo_text_fail(struct stet_hlo_text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail_at(t, t->at, fmt, ap);
    va_end(ap);
    t->at = t->src.len;
}

static bool starts(const struct stet_hlo_text *t, const char *literal)
{
    size_t n = strlen(literal);

    return t->src.len - t->at >= n && memcmp(t->src.ptr + t->at, literal, n) == 0;
}

static void skip_comment(struct stet_hlo_text *t)
{
    const char *end = t->src.ptr + t->src.len, *p = t->src.ptr + t->at + 2;

    for (; p + 1 < end; p++)
        if (p[0] == '*' && p[1] == '/') {
            t->at = (size_t)(p + 2 - t->src.ptr);
            return;
        }
    stet_decode_hlo_text_fail(t, "a comment does not end");
}

void stet_decode_hlo_skip(struct stet_hlo_text *t)
{
    while (t->at < t->src.len) {
        char c = t->src.ptr[t->at];

        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            t->at++;
        } else if (c == '/' && starts(t, "/*")) {
            skip_comment(t);
        } else if (c == '/' && starts(t, "//")) {
            while (t->at < t->src.len && t->src.ptr[t->at] != '\n')
                t->at++;
        } else {
            return;
        }
    }
}

char stet_hlo_peek(struct stet_hlo_text *t)
{
    stet_decode_hlo_skip(t);
    return t->at < t->src.len ? t->src.ptr[t->at] : '\0';
}

bool stet_hlo_take(struct stet_hlo_text *t, const char *literal)
{
    stet_decode_hlo_skip(t);
    if (!starts(t, literal))
        return false;
    t->at += strlen(literal);
    return true;
}

void stet_hlo_expect(struct stet_hlo_text *t, const char *literal)
{
    if (!stet_hlo_take(t, literal))
        stet_decode_hlo_text_fail(t, "expected '%s'", literal);
}

static bool is_word(char c)
{
    return stet_is_word(c) || c == '.' || c == '-';
}

struct stet_view stet_hlo_next_word(struct stet_hlo_text *t)
{
    size_t end;

    stet_decode_hlo_skip(t);
    for (end = t->at; end < t->src.len && is_word(t->src.ptr[end]);)
        end++;
    return stet_view_of(t->src.ptr + t->at, end - t->at);
}

struct stet_view stet_hlo_word(struct stet_hlo_text *t)
{
    struct stet_view v = stet_hlo_next_word(t);

    if (!v.len)
        stet_decode_hlo_text_fail(t, "expected a name");
    else
        t->at += v.len;
    return v;
}

struct stet_view stet_hlo_name(struct stet_hlo_text *t)
{
    stet_hlo_take(t, "%");
    return stet_hlo_word(t);
}

int64_t stet_hlo_int(struct stet_hlo_text *t)
{
    bool negative = stet_hlo_take(t, "-");
    uint64_t v = 0, limit = (uint64_t)INT64_MAX + negative;
    size_t start = t->at;

    while (t->at < t->src.len && t->src.ptr[t->at] >= '0' && t->src.ptr[t->at] <= '9') {
        unsigned digit = (unsigned)(t->src.ptr[t->at] - '0');

        if (v > (limit - digit) / 10) {
            stet_decode_hlo_text_fail_at(t, start, "a number too large");
            return 0;
        }
        v = v * 10 + digit;
        t->at++;
    }
    if (t->at == start)
        stet_decode_hlo_text_fail(t, "expected a number");
    return negative ? (int64_t)(0 - v) : (int64_t)v;
}

bool stet_hlo_bool(struct stet_hlo_text *t)
{
    struct stet_view v = stet_hlo_word(t);

    if (!stet_view_is(v, "true") && !stet_view_is(v, "false") && !t->failed)
        stet_decode_hlo_text_fail_at(t, t->at - v.len, "expected true or false");
    return stet_view_is(v, "true");
}

static int octal(char c)
{
    return c >= '0' && c <= '7' ? c - '0' : -1;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* absl::CUnescape: the letters of C, octal of up to three digits, hex. */
static size_t unescape(const char *p, const char *end, char *to)
{
    static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v\\\\'\'\"\"??";
    size_t used = 1;
    int v;

    for (size_t i = 0; letters[i]; i += 2)
        if (*p == letters[i]) {
            *to = letters[i + 1];
            return 1;
        }
    if (*p == 'x' && p + 1 < end && hex(p[1]) >= 0) {
        for (v = 0; used < 3 && p + used < end && hex(p[used]) >= 0; used++)
            v = v * 16 + hex(p[used]);
        *to = (char)v;
        return used;
    }
    if (octal(*p) < 0)
        return 0;
    for (v = 0, used = 0; used < 3 && p + used < end && octal(p[used]) >= 0; used++)
        v = v * 8 + octal(p[used]);
    *to = (char)v;
    return used;
}

struct stet_view stet_decode_hlo_string(struct stet_hlo_text *t)
{
    const char *start, *end = t->src.ptr + t->src.len, *p;
    size_t len = 0, from;
    bool escapes = false;
    char *copy;

    if (stet_hlo_peek(t) != '"') {
        stet_decode_hlo_text_fail(t, "expected a string");
        return (struct stet_view){0};
    }
    from = t->at++;
    start = t->src.ptr + t->at;
    for (p = start; p < end && *p != '"'; p++)
        if (*p == '\\') {
            escapes = true;
            p++;
        }
    if (p >= end) {
        stet_decode_hlo_text_fail_at(t, from, "a string does not end");
        return (struct stet_view){0};
    }
    t->at = (size_t)(p + 1 - t->src.ptr);
    if (!escapes)
        return stet_view_of(start, (size_t)(p - start));
    copy = stet_arena_raw(t->b.a, (size_t)(p - start) + 1, 1);
    end = p;
    for (p = start; copy && p < end; len++) {
        size_t used;

        if (*p != '\\') {
            copy[len] = *p++;
            continue;
        }
        used = unescape(p + 1, end, &copy[len]);
        if (!used) {
            stet_decode_hlo_text_fail_at(t, (size_t)(p - t->src.ptr), "an unknown escape");
            return (struct stet_view){0};
        }
        p += 1 + used;
    }
    return stet_view_of(copy, copy ? len : 0);
}

/* The position after the brace that matches the one at `at`, or 0. */
static size_t closing(const struct stet_hlo_text *t, size_t at)
{
    size_t depth = 0;

    for (size_t i = at; i < t->src.len; i++) {
        char c = t->src.ptr[i];

        if (c == '"') {
            for (i++; i < t->src.len && t->src.ptr[i] != '"'; i++)
                if (t->src.ptr[i] == '\\')
                    i++;
        } else if (c == '{') {
            depth++;
        } else if (c == '}' && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

struct stet_view stet_decode_hlo_braces(struct stet_hlo_text *t)
{
    struct stet_view v = {0};
    size_t end;

    if (stet_hlo_peek(t) != '{') {
        stet_decode_hlo_text_fail(t, "expected '{'");
        return v;
    }
    end = closing(t, t->at);
    if (!end) {
        stet_decode_hlo_text_fail(t, "a brace is not closed");
        return v;
    }
    v = stet_view_of(t->src.ptr + t->at + 1, end - t->at - 2);
    t->at = end;
    return v;
}

struct stet_view stet_decode_hlo_raw(struct stet_hlo_text *t)
{
    size_t start, depth = 0;

    stet_decode_hlo_skip(t);
    for (start = t->at; t->at < t->src.len; t->at++) {
        char c = t->src.ptr[t->at];

        if (c == '{' || c == '[' || c == '(')
            depth++;
        else if ((c == '}' || c == ']' || c == ')') && depth)
            depth--;
        else if (c == '\n' || (c == ',' && !depth))
            break;
    }
    return stet_view_of(t->src.ptr + start, t->at - start);
}

struct stet_ints stet_decode_hlo_int_list(struct stet_hlo_text *t)
{
    struct stet_ints v = {0};

    stet_hlo_expect(t, "{");
    if (stet_hlo_take(t, "}"))
        return v;
    do
        stet_decode_ints_add(&v, t->b.a, stet_hlo_int(t));
    while (!t->failed && !t->b.a->failed && stet_hlo_take(t, ","));
    stet_hlo_expect(t, "}");
    return v;
}

struct stet_ints stet_decode_hlo_bool_list(struct stet_hlo_text *t)
{
    struct stet_ints v = {0};

    stet_hlo_expect(t, "{");
    while (!t->failed && stet_hlo_peek(t) != '}') {
        stet_decode_ints_add(&v, t->b.a, stet_hlo_bool(t));
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, "}");
    return v;
}
