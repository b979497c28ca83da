/* Strings are skipped from quote to quote: a settings string of 25 KB with nearly every quote
 * escaped passes at gigabytes a second. */
#include "ingest/jscan.h"

#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void stet_ingest_jscan_init(struct stet_jscan *j, struct stet_view text)
{
    static const char nothing[1];
    const char *p = text.len ? text.ptr : nothing;

    *j = (struct stet_jscan){.next = p, .end = p + text.len};
}

static void fail(struct stet_jscan *j)
{
    j->bad = true;
    j->next = j->end;
}

static void blanks(struct stet_jscan *j)
{
    while (j->next < j->end &&
           (*j->next == ' ' || *j->next == '\n' || *j->next == '\t' || *j->next == '\r'))
        j->next++;
}

static char peek(struct stet_jscan *j)
{
    blanks(j);
    return j->next < j->end ? *j->next : '\0';
}

static bool take(struct stet_jscan *j, char c)
{
    if (peek(j) != c || j->next == j->end)
        return false;
    j->next++;
    return true;
}

enum stet_jkind stet_ingest_jscan_kind(struct stet_jscan *j)
{
    switch (peek(j)) {
    case '{':
        return STET_J_OBJECT;
    case '[':
        return STET_J_ARRAY;
    case '"':
        return STET_J_STRING;
    case 't':
    case 'f':
        return STET_J_BOOL;
    case 'n':
        return STET_J_NULL;
    case '\0':
        return STET_J_NONE;
    default:
        return STET_J_NUMBER;
    }
}

/* Is the quote at `p`, of a string that begins at `from`, escaped? */
static inline bool is_escaped(const char *from, const char *p)
{
    const char *slash = p;

    while (slash > from && slash[-1] == '\\')
        slash--;
    return (p - slash) & 1;
}

/* The quote that ends the string, or NULL. In long strings quotes are close together: a call of
 * memchr for each would cost more than the search. */
static const char *closing_quote(const char *from, const char *end)
{
    const char *p = from;

#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');

    for (; end - p >= 16; p += 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(some, quote));

        for (; found; found &= found - 1) {
            const char *at = p + __builtin_ctz(found);

            if (!is_escaped(from, at))
                return at;
        }
    }
#endif
    while ((p = memchr(p, '"', (size_t)(end - p)))) {
        if (!is_escaped(from, p))
            return p;
        p++;
    }
    return NULL;
}

/* j->next is after the opening quote; moves it after the closing one. */
static struct stet_view string_body(struct stet_jscan *j)
{
    const char *from = j->next, *quote = closing_quote(from, j->end);

    if (!quote) {
        fail(j);
        return (struct stet_view){0};
    }
    j->next = quote + 1;
    return stet_view_of(from, (size_t)(quote - from));
}

struct stet_view stet_ingest_jscan_string(struct stet_jscan *j)
{
    if (take(j, '"'))
        return string_body(j);
    stet_ingest_jscan_skip(j);
    return (struct stet_view){0};
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

static struct stet_view plain(struct stet_jscan *j)
{
    const char *from = j->next;

    while (j->next < j->end && is_plain(*j->next))
        j->next++;
    if (j->next == from)
        fail(j);
    return stet_view_of(from, (size_t)(j->next - from));
}

/* Brackets are counted, not matched by kind: skipped text is not validated. */
static void skip_nested(struct stet_jscan *j)
{
    unsigned depth = 0;

    while (j->next < j->end) {
        char c = *j->next++;

        if (c == '"') {
            string_body(j);
        } else if (c == '{' || c == '[') {
            if (++depth > STET_JSCAN_DEPTH)
                break;
        } else if (c == '}' || c == ']') {
            if (--depth == 0)
                return;
        }
    }
    fail(j);
}

struct stet_view stet_ingest_jscan_skip(struct stet_jscan *j)
{
    char c = peek(j);
    const char *from = j->next;

    if (c == '"') {
        j->next++;
        string_body(j);
    } else if (c == '{' || c == '[') {
        skip_nested(j);
    } else {
        plain(j);
    }
    return stet_view_of(from, j->bad ? 0 : (size_t)(j->next - from));
}

static bool enter(struct stet_jscan *j, char open)
{
    if (take(j, open))
        return j->first = true;
    stet_ingest_jscan_skip(j);
    return false;
}

bool stet_ingest_jscan_object(struct stet_jscan *j)
{
    return enter(j, '{');
}

bool stet_ingest_jscan_array(struct stet_jscan *j)
{
    return enter(j, '[');
}

/* Does another member follow? Takes the comma before it, or the closing bracket. */
static bool more(struct stet_jscan *j, char close)
{
    bool first = j->first;

    j->first = false;
    if (take(j, close) || j->bad)
        return false;
    if (!first && !take(j, ','))
        fail(j);
    return !j->bad;
}

bool stet_ingest_jscan_key(struct stet_jscan *j, struct stet_view *key)
{
    if (!more(j, '}'))
        return false;
    if (!take(j, '"')) {
        fail(j);
        return false;
    }
    *key = string_body(j);
    if (!j->bad && !take(j, ':'))
        fail(j);
    return !j->bad;
}

bool stet_ingest_jscan_element(struct stet_jscan *j)
{
    return more(j, ']');
}

void stet_ingest_jscan_comma(struct stet_jscan *j)
{
    take(j, ',');
}

static struct stet_view scalar(struct stet_jscan *j)
{
    enum stet_jkind kind = stet_ingest_jscan_kind(j);

    if (kind == STET_J_NUMBER || kind == STET_J_BOOL || kind == STET_J_NULL)
        return plain(j);
    stet_ingest_jscan_skip(j);
    return (struct stet_view){0};
}

double stet_ingest_jscan_number(struct stet_jscan *j)
{
    struct stet_view v = scalar(j);
    char text[64], *end;
    double value;
    uint64_t whole = 0;
    size_t i = 0;

    for (; i < v.len && i < 15 && v.ptr[i] >= '0' && v.ptr[i] <= '9'; i++)
        whole = whole * 10 + (uint64_t)(v.ptr[i] - '0');
    if (i == v.len) /* the usual case: a double holds it exactly */
        return (double)whole;
    if (v.len >= sizeof text)
        return 0;
    memcpy(text, v.ptr, v.len);
    text[v.len] = '\0';
    value = strtod(text, &end);
    return *end ? 0 : value;
}

int64_t stet_ingest_jscan_int(struct stet_jscan *j)
{
    double v = stet_ingest_jscan_number(j); /* microseconds since 1970 fit a double's 53 bits */

    return v >= -9e15 && v <= 9e15 ? (int64_t)v : 0;
}

bool stet_ingest_jscan_bool(struct stet_jscan *j)
{
    return stet_view_is(scalar(j), "true");
}

bool stet_ingest_jscan_done(struct stet_jscan *j)
{
    blanks(j);
    return !j->bad && j->next == j->end;
}

static uint32_t hex4(const char *p, const char *end)
{
    uint32_t v = 0;

    if (end - p < 4)
        return UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        char c = p[i], low = (char)(c | 0x20);

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint32_t)(c - '0');
        else if (low >= 'a' && low <= 'f')
            v = v << 4 | (uint32_t)(low - 'a' + 10);
        else
            return UINT32_MAX;
    }
    return v;
}

static void utf8(struct stet_buf *out, uint32_t c)
{
    if (c < 0x80) {
        stet_buf_char(out, (char)c);
    } else if (c < 0x800) {
        stet_buf_char(out, (char)(0xc0 | c >> 6));
        stet_buf_char(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        stet_buf_char(out, (char)(0xe0 | c >> 12));
        stet_buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        stet_buf_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        stet_buf_char(out, (char)(0xf0 | c >> 18));
        stet_buf_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        stet_buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        stet_buf_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* \uXXXX, with `p` after the u; returns how many bytes were used. */
static size_t unicode(struct stet_buf *out, const char *p, const char *end)
{
    uint32_t c = hex4(p, end), low;

    if (c == UINT32_MAX) {
        utf8(out, 0xfffd);
        return 0;
    }
    if (c >= 0xd800 && c < 0xdc00 && end - p >= 10 && p[4] == '\\' && p[5] == 'u') {
        low = hex4(p + 6, end);
        if (low >= 0xdc00 && low < 0xe000) {
            utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
            return 10;
        }
    }
    utf8(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    return 4;
}

void stet_ingest_jscan_unescape(struct stet_buf *out, struct stet_view raw)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *p, *end;

    if (!raw.len)
        return;
    end = raw.ptr + raw.len;
    for (p = raw.ptr; p < end;) {
        const char *slash = memchr(p, '\\', (size_t)(end - p)), *known;

        stet_buf_add(out, p, (size_t)((slash ? slash : end) - p));
        if (!slash || slash + 1 == end)
            return;
        p = slash + 2;
        known = memchr(from, slash[1], sizeof from - 1);
        if (slash[1] == 'u')
            p += unicode(out, p, end);
        else
            stet_buf_char(out, known ? to[known - from] : slash[1]);
    }
}
