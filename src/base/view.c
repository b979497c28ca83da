/* The parts of views too long to inline. */
#include "base/view.h"

bool stet_view_contains(struct stet_view v, const char *part)
{
    size_t n = strlen(part);

    return v.len >= n && (n == 0 || memmem(v.ptr, v.len, part, n));
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
