/* Runs a body (the region of a reduce, sort or scatter) on a few scalars at a time, from and to
 * memory. Kernels call it where no specialised kernel fits. */
#ifndef STET_BACKEND_BODY_RUN_H
#define STET_BACKEND_BODY_RUN_H

#include "backend/graph.h"

/* Converts elements of memory to the form in registers, and back. */
static inline void stet_to_register(void *d, const void *s, enum stet_dtype t, size_t n)
{
    const struct stet_tile_set *k = stet_tile_kernels();

    if (k->load[t])
        k->load[t](d, s, NULL, NULL, n);
    else
        memcpy(d, s, n * stet_dtype_bytes(t));
}

static inline void stet_from_register(void *d, const void *s, enum stet_dtype t, size_t n)
{
    const struct stet_tile_set *k = stet_tile_kernels();

    if (k->store[t])
        k->store[t](d, s, NULL, NULL, n);
    else
        memmove(d, s, n * stet_dtype_bytes(t));
}

/* Sets argument i for the next stet_body_apply; `at` must stay valid until then. */
static inline void stet_body_arg(const struct stet_body *b, struct stet_tile_state *s, uint32_t i,
                                 void *at)
{
    s->regs[b->arg_regs[i]] = at;
}

static inline const void *stet_body_result(const struct stet_body *b,
                                           const struct stet_tile_state *s, uint32_t i)
{
    return s->regs[b->result_regs[i]];
}

#endif
