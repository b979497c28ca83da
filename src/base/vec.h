/* Typed growable arrays with a cap.
 *
 *     STET_VEC(struct item) list = {0};
 *     STET_VEC_PUSH(&list, item);
 *     if (list.failed) ...
 *     STET_VEC_RELEASE(&list);
 *
 * The first failure (no memory, or the cap) sticks: later items are not stored and the caller asks
 * `failed` once at the end, as with struct stet_buf. The items that are there stay valid. The
 * macros evaluate `v` more than once. */
#ifndef STET_BASE_VEC_H
#define STET_BASE_VEC_H

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

/* Item numbers are 32 bits wide in Stet, and UINT32_MAX means "none". */
#define STET_VEC_DEFAULT_CAP ((size_t)UINT32_MAX - 1)

#define STET_VEC(type)                                                                             \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
        size_t cap; /* items; 0 means STET_VEC_DEFAULT_CAP */                                      \
        bool failed;                                                                               \
    }

/* For an array that its owner keeps as three variables: makes room for `more` items of `size` bytes
 * after the `count` existing ones. `items` is the address of the owner's pointer. Returns false and
 * changes nothing if memory runs out or count + more exceeds `cap`. */
bool stet_vec_grow(void *items, size_t *room, size_t count, size_t more, size_t size, size_t cap);

/* The same; called only when the array is full. */
static inline bool stet_vec_room(void *items, size_t *room, size_t count, size_t size)
{
    return count < *room || stet_vec_grow(items, room, count, 1, size, 0);
}

/* Makes room for `more` items, or fails. */
#define STET_VEC_RESERVE(v, more)                                                                  \
    (!(v)->failed && ((v)->room - (v)->count >= (size_t)(more) ||                                  \
                      !((v)->failed = !stet_vec_grow(&(v)->items, &(v)->room, (v)->count, (more),  \
                                                     sizeof *(v)->items, (v)->cap))))

/* Appends a copy of the item; a struct literal needs no parentheses. */
#define STET_VEC_PUSH(v, ...)                                                                      \
    (STET_VEC_RESERVE(v, 1) ? (void)((v)->items[(v)->count++] = __VA_ARGS__) : (void)0)

/* Appends a zeroed item and returns it, or NULL. */
#define STET_VEC_ADD(v)                                                                            \
    (STET_VEC_RESERVE(v, 1) ? memset(&(v)->items[(v)->count++], 0, sizeof *(v)->items) : NULL)

/* Frees the items; the array is empty and usable again, with the same cap. */
#define STET_VEC_RELEASE(v)                                                                        \
    (stet_mem_free((v)->items), (v)->items = NULL, (v)->count = (v)->room = 0,                     \
     (void)((v)->failed = false))

#endif
