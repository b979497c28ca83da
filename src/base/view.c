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
