/* The interface of kernels: a function that a planned step calls on checked, placed buffers. */
#ifndef STET_BACKEND_KERNEL_H
#define STET_BACKEND_KERNEL_H

#include "backend/pool.h"
#include "backend/tensor.h"

/* `bufs`: the node's operands, then its results, then its temporary memory (if it requested any). A
 * kernel never fails and allocates nothing. */
struct stet_kernel {
    const char *name;
    void (*run)(const void *params, void *const *bufs, struct stet_pool *pool);
};

/* KERNEL(name): the kernels of kernels/; `k_<name>` with its own params struct. */
#define STET_KERNELS(KERNEL)                                                                       \
    KERNEL(copy)                                                                                   \
    KERNEL(move)                                                                                   \
    KERNEL(dot)                                                                                    \
    KERNEL(conv)                                                                                   \
    KERNEL(reduce)                                                                                 \
    KERNEL(window)                                                                                 \
    KERNEL(scan)                                                                                   \
    KERNEL(select_and_scatter)                                                                     \
    KERNEL(gather)                                                                                 \
    KERNEL(scatter)                                                                                \
    KERNEL(sort)                                                                                   \
    KERNEL(top_k)                                                                                  \
    KERNEL(threefry)                                                                               \
    KERNEL(philox)                                                                                 \
    KERNEL(cholesky)                                                                               \
    KERNEL(triangular_solve)                                                                       \
    KERNEL(lu)                                                                                     \
    KERNEL(qr)                                                                                     \
    KERNEL(reflectors)                                                                             \
    KERNEL(eigh)                                                                                   \
    KERNEL(fft)                                                                                    \
    KERNEL(reduce_precision)
#define KERNEL(name) extern const struct stet_kernel stet_kernel_##name;
STET_KERNELS(KERNEL)
#undef KERNEL

#endif
