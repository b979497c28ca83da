/* The parts of views too long to inline. */
#include "base/view.h"

int stet_view_cmp(struct stet_view a, struct stet_view b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;

    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}
