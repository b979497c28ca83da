/* Assigns offsets in scratch memory: buffers in order of their first use, each in the smallest gap
 * that fits. */
#include "backend/plan_steps.h"

#include <stdlib.h>

#include "backend/lower.h"

enum { ALIGN = 64 };

struct hole {
    uint64_t offset, size;
};

struct heap {
    struct stet_buffer **live; /* by end, a binary heap */
    struct hole *holes;        /* by offset */
    uint32_t live_count, hole_count;
    uint64_t top;
};

static int by_start(const void *a, const void *b)
{
    const struct stet_buffer *x = *(struct stet_buffer *const *)a,
                             *y = *(struct stet_buffer *const *)b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->size != y->size ? (x->size > y->size ? -1 : 1) : 0;
}

static void heap_push(struct heap *h, struct stet_buffer *b)
{
    uint32_t i = h->live_count++;

    for (; i && h->live[(i - 1) / 2]->end > b->end; i = (i - 1) / 2)
        h->live[i] = h->live[(i - 1) / 2];
    h->live[i] = b;
}

static struct stet_buffer *heap_pop(struct heap *h)
{
    struct stet_buffer *top = h->live[0], *last = h->live[--h->live_count];
    uint32_t i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= h->live_count)
            break;
        if (child + 1 < h->live_count && h->live[child + 1]->end < h->live[child]->end)
            child++;
        if (h->live[child]->end >= last->end)
            break;
        h->live[i] = h->live[child];
        i = child;
    }
    h->live[i] = last;
    return top;
}

static void give_back(struct heap *h, uint64_t offset, uint64_t size)
{
    uint32_t i = 0, high = h->hole_count;

    while (i < high) {
        uint32_t mid = (i + high) / 2;

        if (h->holes[mid].offset < offset)
            i = mid + 1;
        else
            high = mid;
    }
    memmove(h->holes + i + 1, h->holes + i, (h->hole_count - i) * sizeof *h->holes);
    h->holes[i] = (struct hole){offset, size};
    h->hole_count++;
    if (i + 1 < h->hole_count && h->holes[i].offset + h->holes[i].size == h->holes[i + 1].offset) {
        h->holes[i].size += h->holes[i + 1].size;
        memmove(h->holes + i + 1, h->holes + i + 2, (h->hole_count - i - 2) * sizeof *h->holes);
        h->hole_count--;
    }
    if (i && h->holes[i - 1].offset + h->holes[i - 1].size == h->holes[i].offset) {
        h->holes[i - 1].size += h->holes[i].size;
        memmove(h->holes + i, h->holes + i + 1, (h->hole_count - i - 1) * sizeof *h->holes);
        h->hole_count--;
    }
}

static uint64_t take(struct heap *h, uint64_t size)
{
    uint32_t best = UINT32_MAX;
    uint64_t at;

    for (uint32_t i = 0; i < h->hole_count; i++)
        if (h->holes[i].size >= size &&
            (best == UINT32_MAX || h->holes[i].size < h->holes[best].size))
            best = i;
    if (best == UINT32_MAX) {
        /* the last gap, at the top, may grow */
        if (h->hole_count &&
            h->holes[h->hole_count - 1].offset + h->holes[h->hole_count - 1].size == h->top) {
            at = h->holes[--h->hole_count].offset;
            h->top = at + size;
            return at;
        }
        at = h->top;
        h->top += size;
        return at;
    }
    at = h->holes[best].offset;
    h->holes[best].offset += size;
    h->holes[best].size -= size;
    if (h->holes[best].size == 0) {
        memmove(h->holes + best, h->holes + best + 1,
                (h->hole_count - best - 1) * sizeof *h->holes);
        h->hole_count--;
    }
    return at;
}

enum stet_rc stet_backend_placement_offsets(struct stet_placement *p)
{
    struct stet_buffer **all;
    struct heap h = {0};
    uint32_t n = 0;

    for (struct stet_buffer *b = p->buffers; b; b = b->next)
        n += !b->same && b->space == STET_SPACE_SCRATCH;
    all = STET_NEW_ARRAY(p->l->arena, struct stet_buffer *, 2 * (size_t)n + 2);
    h.holes = STET_NEW_ARRAY(p->l->arena, struct hole, (size_t)n + 2);
    if (!all || !h.holes)
        return stet_lower_memory(p->l);
    h.live = all + n + 1;
    n = 0;
    for (struct stet_buffer *b = p->buffers; b; b = b->next)
        if (!b->same && b->space == STET_SPACE_SCRATCH)
            all[n++] = b;
    qsort(all, n, sizeof *all, by_start);
    for (uint32_t i = 0; i < n; i++) {
        struct stet_buffer *b = all[i];
        uint64_t size = (b->size + ALIGN - 1) / ALIGN * ALIGN;

        while (h.live_count && h.live[0]->end < b->start) {
            struct stet_buffer *dead = heap_pop(&h);

            give_back(&h, dead->offset, (dead->size + ALIGN - 1) / ALIGN * ALIGN);
        }
        if (size == 0)
            size = ALIGN, b->size = ALIGN;
        b->offset = take(&h, size);
        heap_push(&h, b);
        if (h.top > (uint64_t)1 << 46) {
            p->l->op = NULL;
            return stet_lower_fail(p->l, STET_LIMIT,
                                   "the program needs more memory than can be addressed");
        }
    }
    p->scratch_bytes = h.top;
    return STET_OK;
}
