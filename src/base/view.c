/* The parts of views too long to inline. */
#include "base/view.h"

size_t stet_view_find(struct stet_view v, const char *part)
{
    const char *at = v.len ? memmem(v.ptr, v.len, part, strlen(part)) : NULL;

    return at ? (size_t)(at - v.ptr) : v.len;
}

bool stet_view_in(struct stet_view v, const char *const *list)
{
    char first = v.len ? v.ptr[0] : '\0';

    for (; *list; list++) {
        if ((*list)[0] == first && stet_view_is(v, *list))
            return true;
    }
    return false;
}

bool stet_view_contains(struct stet_view v, const char *part)
{
    size_t n = strlen(part);

    return v.len >= n && (n == 0 || memmem(v.ptr, v.len, part, n));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct stet_view stet_view_trim(struct stet_view v)
{
    while (v.len && is_blank(v.ptr[v.len - 1]))
        v.len--;
    while (v.len && is_blank(*v.ptr))
        v.ptr++, v.len--;
    return v;
}

int stet_view_cmp(struct stet_view a, struct stet_view b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;

    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

int stet_view_sort(const void *a, const void *b)
{
    return stet_view_cmp(*(const struct stet_view *)a, *(const struct stet_view *)b);
}

size_t stet_utf8_length(const void *text, size_t left)
{
    const unsigned char *p = text;
    size_t n = !left         ? 0
               : p[0] < 0x80 ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;

    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

uint32_t stet_utf8_decode(const void *text, size_t n)
{
    const unsigned char *p = text;
    uint32_t code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));

    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3f);
    return code;
}

bool stet_utf8_is_control(const void *text, size_t n)
{
    uint32_t code = stet_utf8_decode(text, n);

    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}
