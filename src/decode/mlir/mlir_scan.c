/* The scanner of the MLIR text reader: words, numbers, strings, and the position of a failure. */
#include "decode/mlir/mlir_text.h"

#include <stdarg.h>
#include <stdio.h>

/* Computed only for an error message. */
static void line_and_column(const struct mlir *p, const char *where, uint64_t *line,
                            uint64_t *column)
{
    const char *last = p->start;

    *line = 1;
    for (const char *c = p->start; c < where; c++) {
        c = memchr(c, '\n', (size_t)(where - c));
        if (!c)
            break;
        ++*line;
        last = c + 1;
    }
    *column = (uint64_t)(where - last) + 1;
}

static bool fail(struct mlir *p, enum stet_rc rc, const char *where, const char *fmt, va_list args)
{
    char text[200];
    uint64_t line, column;

    if (p->rc != STET_OK)
        return false;
    p->rc = rc;
    vsnprintf(text, sizeof(text), fmt, args);
    line_and_column(p, where, &line, &column);
    stet_fail_at(p->err, rc, (uint64_t)(where - p->start), "line %llu column %llu: %s",
                 (unsigned long long)line, (unsigned long long)column, text);
    p->at = p->end;
    return false;
}

bool stet_mlir_fail(struct mlir *p, const char *where, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fail(p, STET_BAD_INPUT, where, fmt, args);
    va_end(args);
    return false;
}

bool stet_mlir_fail_rc(struct mlir *p, enum stet_rc rc, const char *where, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fail(p, rc, where, fmt, args);
    va_end(args);
    return false;
}

bool stet_mlir_no_memory(struct mlir *p)
{
    /* The arena's cap is a multiple of the text's length that real programs stay far below. */
    if (p->arena->used > p->arena->cap / 2)
        return stet_mlir_fail_rc(p, STET_LIMIT, p->at, "the program needs too much memory");
    return stet_mlir_fail_rc(p, STET_NO_MEMORY, p->at, "out of memory");
}

bool stet_mlir_enter(struct mlir *p)
{
    if (++p->depth > p->deepest)
        p->deepest = p->depth;
    if (p->depth <= STET_MAX_DEPTH)
        return mlir_ok(p);
    return stet_mlir_fail_rc(p, STET_LIMIT, p->at, "nested deeper than %d", STET_MAX_DEPTH);
}

void stet_mlir_space(struct mlir *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')
            continue;
        if (*p->at != '/' || p->end - p->at < 2 || p->at[1] != '/')
            return;
        p->at = memchr(p->at, '\n', (size_t)(p->end - p->at));
        if (!p->at) {
            p->at = p->end;
            return;
        }
    }
}

char stet_mlir_peek(struct mlir *p)
{
    stet_mlir_space(p);
    return p->at < p->end ? *p->at : '\0';
}

bool stet_mlir_at(struct mlir *p, const char *punctuation)
{
    size_t n = strlen(punctuation);

    stet_mlir_space(p);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, punctuation, n) == 0;
}

bool stet_mlir_accept(struct mlir *p, const char *punctuation)
{
    if (!stet_mlir_at(p, punctuation))
        return false;
    p->at += strlen(punctuation);
    return true;
}

bool stet_mlir_expect(struct mlir *p, const char *punctuation)
{
    return stet_mlir_accept(p, punctuation) ||
           stet_mlir_fail(p, p->at, p->at < p->end ? "expected '%s'" : "expected '%s', not the end",
                          punctuation);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool in_word(char c)
{
    return stet_is_word(c) || c == '$' || c == '.';
}

bool stet_mlir_at_view(struct mlir *p, struct stet_view v)
{
    const char *after;

    stet_mlir_space(p);
    if ((size_t)(p->end - p->at) < v.len || memcmp(p->at, v.ptr, v.len) != 0)
        return false;
    after = p->at + v.len;
    return after == p->end || !in_word(v.ptr[0]) || !in_word(*after);
}

bool stet_mlir_at_word(struct mlir *p, const char *word)
{
    return stet_mlir_at_view(p, stet_view_str(word));
}

bool stet_mlir_accept_word(struct mlir *p, const char *word)
{
    if (!stet_mlir_at_word(p, word))
        return false;
    p->at += strlen(word);
    return true;
}

bool stet_mlir_expect_word(struct mlir *p, const char *word)
{
    return stet_mlir_accept_word(p, word) || stet_mlir_fail(p, p->at, "expected '%s'", word);
}

struct stet_view stet_mlir_optional_word(struct mlir *p)
{
    const char *from;

    stet_mlir_space(p);
    from = p->at;
    if (from < p->end && (is_letter(*from) || *from == '_'))
        for (p->at++; p->at < p->end && in_word(*p->at); p->at++)
            ;
    return stet_view_of(from, (size_t)(p->at - from));
}

struct stet_view stet_mlir_word(struct mlir *p, const char *what)
{
    struct stet_view v = stet_mlir_optional_word(p);

    if (v.len == 0)
        stet_mlir_fail(p, p->at, "expected %s", what);
    return v;
}

struct stet_view stet_mlir_suffix(struct mlir *p, const char *what)
{
    const char *from = p->at;

    if (p->at < p->end && is_digit(*p->at)) {
        while (p->at < p->end && is_digit(*p->at))
            p->at++;
    } else {
        while (p->at < p->end && (in_word(*p->at) || *p->at == '-')) {
            if (*p->at == '-' && p->end - p->at > 1 && p->at[1] == '>')
                break;
            p->at++;
        }
    }
    if (p->at == from)
        stet_mlir_fail(p, from, "expected %s", what);
    return stet_view_of(from, (size_t)(p->at - from));
}

int64_t stet_mlir_int(struct mlir *p)
{
    const char *where;
    bool negative = stet_mlir_accept(p, "-"), over = false;
    uint64_t v = 0;

    stet_mlir_space(p);
    where = p->at;
    for (; p->at < p->end && is_digit(*p->at); p->at++) {
        over |= __builtin_mul_overflow(v, 10, &v);
        over |= __builtin_add_overflow(v, (uint64_t)(*p->at - '0'), &v);
    }
    if (p->at == where)
        stet_mlir_fail(p, where, "expected an integer");
    else if (over || v > (uint64_t)INT64_MAX + negative)
        stet_mlir_fail(p, where, "integer too large");
    return negative ? (int64_t)(0 - v) : (int64_t)v;
}

uint32_t stet_mlir_u32(struct mlir *p)
{
    const char *where = p->at;
    int64_t v = stet_mlir_int(p);

    if (v < 0 || v > UINT32_MAX) {
        stet_mlir_fail(p, where, "expected a number below 2^32");
        return 0;
    }
    return (uint32_t)v;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* `raw` is the text between the quotes. */
static struct stet_view unescape(struct mlir *p, struct stet_view raw)
{
    char *out = stet_arena_raw(p->arena, raw.len, 1);
    size_t n = 0;

    if (!out) {
        stet_mlir_no_memory(p);
        return (struct stet_view){0};
    }
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.ptr[i] != '\\') {
            out[n++] = raw.ptr[i];
            continue;
        }
        char c = i + 1 < raw.len ? raw.ptr[++i] : '\0';
        int high = hex_digit(c), low = i + 1 < raw.len ? hex_digit(raw.ptr[i + 1]) : -1;

        if (c == '"' || c == '\\') {
            out[n++] = c;
        } else if (c == 'n' || c == 't') {
            out[n++] = c == 'n' ? '\n' : '\t';
        } else if (high >= 0 && low >= 0) {
            out[n++] = (char)(high * 16 + low);
            i++;
        } else {
            stet_mlir_fail(p, raw.ptr + i, "unknown escape in a string");
            break;
        }
    }
    return stet_view_of(out, n);
}

struct stet_view stet_mlir_string(struct mlir *p)
{
    const char *from, *quote;
    bool escapes = false;

    if (!stet_mlir_accept(p, "\"")) {
        stet_mlir_fail(p, p->at, "expected a string");
        return (struct stet_view){0};
    }
    from = p->at;
    quote = memchr(from, '"', (size_t)(p->end - from));
    if (quote && !memchr(from, '\\', (size_t)(quote - from)) &&
        !memchr(from, '\n', (size_t)(quote - from)))
        p->at = quote; /* a long run of plain text: megabytes in large constants */
    for (; p->at < p->end && *p->at != '"' && *p->at != '\n'; p->at++) {
        if (*p->at == '\\') {
            escapes = true;
            p->at++;
            if (p->at == p->end)
                break;
        }
    }
    if (p->at >= p->end || *p->at != '"') {
        stet_mlir_fail(p, from - 1, "string without an end");
        return (struct stet_view){0};
    }
    struct stet_view raw = stet_view_of(from, (size_t)(p->at - from));

    p->at++;
    return escapes ? unescape(p, raw) : raw;
}

struct stet_view stet_mlir_symbol(struct mlir *p)
{
    if (!stet_mlir_expect(p, "@"))
        return (struct stet_view){0};
    if (p->at < p->end && *p->at == '"')
        return stet_mlir_string(p);
    return stet_mlir_suffix(p, "a symbol name");
}

static char partner(char open)
{
    return open == '<' ? '>' : open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '\0';
}

struct stet_view stet_mlir_balanced(struct mlir *p)
{
    char waiting[STET_MAX_DEPTH];
    size_t depth = 0;
    const char *from = p->at;

    while (mlir_ok(p)) {
        if (p->at >= p->end) {
            stet_mlir_fail(p, from, "bracket without an end");
            break;
        }
        char c = *p->at, close = partner(c);

        if (c == '"') {
            stet_mlir_string(p);
            continue;
        }
        p->at++;
        if (c == '-' && p->at < p->end && *p->at == '>') {
            p->at++;
        } else if (close) {
            if (depth == STET_MAX_DEPTH)
                stet_mlir_fail_rc(p, STET_LIMIT, from, "nested deeper than %d", STET_MAX_DEPTH);
            else
                waiting[depth++] = close;
        } else if (c == '>' || c == ')' || c == ']' || c == '}') {
            if (c == '>' && p->at < p->end && *p->at == '=' && depth && waiting[depth - 1] != c)
                p->at++; /* of an affine set: at least */
            else if (depth == 0 || waiting[depth - 1] != c)
                stet_mlir_fail(p, p->at - 1, "'%c' closes nothing", c);
            else if (--depth == 0)
                break;
        }
    }
    return mlir_ok(p) ? stet_view_of(from, (size_t)(p->at - from)) : (struct stet_view){0};
}

bool stet_mlir_more(struct mlir *p, const char *close, bool *first)
{
    if (stet_mlir_accept(p, close) || !mlir_ok(p))
        return false;
    if (!*first)
        stet_mlir_expect(p, ",");
    *first = false;
    return mlir_ok(p);
}

void stet_mlir_push(struct mlir *p, struct stet_buf *stack, const void *item, size_t size)
{
    stet_buf_add(stack, item, size);
    if (stack->failed)
        stet_mlir_no_memory(p);
}

void stet_mlir_push_pointer(struct mlir *p, struct stet_buf *stack, const void *item)
{
    stet_mlir_push(p, stack, &item, sizeof(void *));
}

void *stet_mlir_pop(struct mlir *p, struct stet_buf *stack, size_t mark, size_t size,
                    uint32_t *count)
{
    size_t n = stack->len > mark ? (stack->len - mark) / size : 0;
    void *out = NULL;

    *count = 0;
    if (n && mlir_ok(p) && !stack->failed) {
        out = n <= UINT32_MAX ? stet_arena_raw(p->arena, n, size) : NULL;
        if (out) {
            memcpy(out, stack->ptr + mark, n * size);
            *count = (uint32_t)n;
        } else {
            stet_mlir_no_memory(p);
        }
    }
    stack->len = mark < stack->len ? mark : stack->len;
    return out;
}

const void *stet_mlir_pointer_at(const struct stet_buf *stack, size_t mark, uint32_t i)
{
    const void *p;

    memcpy(&p, stack->ptr + mark + i * sizeof(void *), sizeof(void *));
    return p;
}

uint32_t stet_mlir_pointer_count(const struct stet_buf *stack, size_t mark)
{
    return (uint32_t)((stack->len - mark) / sizeof(void *));
}
