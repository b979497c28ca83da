/* The untyped half of vec.h. */
#include "base/vec.h"

enum { FIRST = 16 };

bool stet_vec_grow(void *items, size_t *room, size_t count, size_t more, size_t size, size_t cap)
{
    size_t need, want = *room > SIZE_MAX / 2 ? SIZE_MAX : *room * 2;
    void *old, *grown;

    if (!cap)
        cap = STET_VEC_DEFAULT_CAP;
    if (stet_add_overflows(count, more, &need) || need > cap)
        return false;
    if (need <= *room)
        return true;
    want = want < FIRST ? FIRST : want;
    want = want < need ? need : want;
    want = want > cap ? cap : want;
    /* The caller's pointer has its own type, so it is read and written as bytes. */
    memcpy(&old, items, sizeof old);
    grown = stet_mem_resize(old, want, size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *room = want;
    return true;
}
