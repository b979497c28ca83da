/* The words of a contract's text, and the position of an error. */
#include "gate/scan.h"

#include <stdarg.h>
#include <stdio.h>

/* Called in the order of the text, so each byte is read once. */
uint32_t stet_gate_scan_line(struct stet_scan *s, const char *at)
{
    if (at < s->counted) {
        s->counted = s->start;
        s->line = 1;
    }
    for (; s->counted < at; s->counted++)
        s->line += *s->counted == '\n';
    return s->line;
}

__attribute__((format(printf, 3, 4))) bool stet_scan_fail(struct stet_scan *s, const char *at,
                                                          const char *fmt, ...)
{
    const char *from = at;
    char what[160];
    va_list ap;

    if (s->failed)
        return false;
    s->failed = true;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    while (from > s->start && from[-1] != '\n')
        from--;
    stet_fail(s->err, STET_BAD_INPUT, "%s:%u:%u: %s", s->file, stet_gate_scan_line(s, at),
              (unsigned)(at - from) + 1, what);
    return false;
}

bool stet_gate_scan_no_memory(struct stet_scan *s)
{
    if (!s->failed)
        stet_fail(s->err, STET_NO_MEMORY, "%s: out of memory", s->file);
    s->failed = true;
    return false;
}

/* Skips spaces, comments, and line ends without meaning here. */
void stet_gate_scan_skip(struct stet_scan *s)
{
    for (; s->at < s->end; s->at++) {
        if (*s->at == '#') {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
            if (s->at == s->end)
                return;
        }
        if (*s->at == '\n' && !s->depth) {
            const char *next = s->at + 1;

            if (next == s->end || (*next != ' ' && *next != '\t'))
                return;
        } else if (*s->at != ' ' && *s->at != '\t' && *s->at != '\r' && *s->at != '\n') {
            return;
        }
    }
}

bool stet_gate_scan_at_end(struct stet_scan *s)
{
    stet_gate_scan_skip(s);
    return s->at == s->end || *s->at == '\n';
}

static bool is_word(unsigned char c)
{
    return c > ' ' && c != 0x7f && !strchr(",(){}[]:\"#|", c);
}

/* The next word without taking it; empty at punctuation. */
struct stet_view stet_gate_scan_peek(struct stet_scan *s)
{
    const char *p;

    stet_gate_scan_skip(s);
    for (p = s->at; p < s->end && is_word((unsigned char)*p); p++)
        continue;
    return stet_view_of(s->at, (size_t)(p - s->at));
}

bool stet_gate_scan_accept(struct stet_scan *s, const char *word)
{
    struct stet_view v = stet_gate_scan_peek(s);

    if (!stet_view_is(v, word))
        return false;
    s->at += v.len;
    return true;
}

bool stet_gate_scan_accept_char(struct stet_scan *s, char c)
{
    stet_gate_scan_skip(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

bool stet_gate_scan_expect(struct stet_scan *s, const char *word)
{
    return stet_gate_scan_accept(s, word) || stet_scan_fail(s, s->at, "'%s' is missing here", word);
}

bool stet_gate_scan_expect_char(struct stet_scan *s, char c)
{
    return stet_gate_scan_accept_char(s, c) || stet_scan_fail(s, s->at, "'%c' is missing here", c);
}

/* "program" or "programs" */
bool stet_gate_scan_expect_plural(struct stet_scan *s, const char *word)
{
    char plural[24];

    snprintf(plural, sizeof plural, "%ss", word);
    return stet_gate_scan_accept(s, word) || stet_gate_scan_accept(s, plural) ||
           stet_scan_fail(s, s->at, "'%s' is missing here", plural);
}

bool stet_gate_scan_number(struct stet_scan *s, int64_t *out)
{
    const char *from;
    int64_t v = 0;

    stet_gate_scan_skip(s);
    from = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s->at - '0', &v))
            return stet_scan_fail(s, from, "this number is too large");
    *out = v;
    return s->at > from || stet_scan_fail(s, from, "a number is missing here");
}

bool stet_gate_scan_budget(struct stet_scan *s, uint64_t *out)
{
    int64_t v = 0;

    if (!stet_gate_scan_number(s, &v))
        return false;
    *out = (uint64_t)v;
    return true;
}

/* "…" with \" and \\ in it. */
bool stet_gate_scan_quoted(struct stet_scan *s, struct stet_view *out)
{
    const char *from = s->at++;
    char *copy;
    size_t n = 0;

    for (const char *p = s->at; p < s->end && *p != '"' && *p != '\n'; p += 1 + (*p == '\\'))
        n++;
    copy = stet_arena_alloc(&s->c->arena, n + 1, 1);
    if (!copy)
        return stet_gate_scan_no_memory(s);
    for (n = 0; s->at < s->end && *s->at != '"' && *s->at != '\n'; s->at++) {
        if (*s->at == '\\' && s->at + 1 < s->end && s->at[1] != '\n')
            s->at++;
        copy[n++] = *s->at;
    }
    *out = stet_view_of(copy, n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
            return stet_scan_fail(s, from, "a control character in this text");
    return (s->at < s->end && *s->at++ == '"') || stet_scan_fail(s, from, "this text has no end");
}

/* A word or a text in quotes. */
bool stet_gate_scan_text(struct stet_scan *s, struct stet_view *out, const char *what)
{
    struct stet_view v = stet_gate_scan_peek(s);

    if (s->at < s->end && *s->at == '"')
        return stet_gate_scan_quoted(s, out);
    if (!v.len)
        return stet_scan_fail(s, s->at, "%s is missing here", what);
    *out = stet_arena_copy(&s->c->arena, v);
    s->at += v.len;
    return out->ptr || stet_gate_scan_no_memory(s);
}

bool stet_gate_scan_accept_dots(struct stet_scan *s)
{
    return stet_gate_scan_accept(s, "...") || stet_gate_scan_accept(s, "\xe2\x80\xa6");
}
