/* Canonical batches: copies arrays into arrays of fixed shapes and dtypes, and fills the rest. The
 * Python module `stet` calls these functions through libstet_batch.so; sizes and strides are
 * checked by the caller. Nothing is allocated and nothing is kept. */
#ifndef STET_BATCH_BATCH_H
#define STET_BATCH_BATCH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The order is part of the interface: python/stet/batch_library.py has the same. */
enum stet_batch_type {
    STET_BATCH_BOOL,
    STET_BATCH_I8,
    STET_BATCH_I16,
    STET_BATCH_I32,
    STET_BATCH_I64,
    STET_BATCH_U8,
    STET_BATCH_U16,
    STET_BATCH_U32,
    STET_BATCH_U64,
    STET_BATCH_F32,
    STET_BATCH_F64,
    /* Copied, never converted: 1, 2, 4, 8 and 16 bytes. */
    STET_BATCH_RAW1,
    STET_BATCH_RAW2,
    STET_BATCH_RAW4,
    STET_BATCH_RAW8,
    STET_BATCH_RAW16,
    STET_BATCH_TYPES
};

enum { STET_BATCH_RANK = 8 };

/* The answers of the functions below. */
enum stet_batch_answer {
    STET_BATCH_FINE,
    STET_BATCH_RANGE, /* an integer does not fit into the wanted dtype */
    STET_BATCH_TYPE,  /* these two dtypes are not converted */
    STET_BATCH_SHAPE, /* the array is larger than its place, or has too many dimensions */
};

/* An array in memory: strides in bytes. */
struct stet_batch_array {
    const void *data;
    const int64_t *dims, *strides;
};

/* Writes `in` to the beginning of `out`, which is contiguous with `dims`, converts it, and fills
 * the rest with copies of the element at `fill` (NULL: zeros). */
enum stet_batch_answer stet_batch_pad(void *out, const int64_t *dims, int rank,
                                      enum stet_batch_type out_type,
                                      const struct stet_batch_array *in,
                                      enum stet_batch_type in_type, const void *fill);

/* Writes contiguous rows of different lengths, one after the other, into `out` of `rows` rows with
 * `length` × `inner` elements each. lengths[i] counts elements of `inner`. Rows beyond `count` are
 * filled. */
enum stet_batch_answer stet_batch_rows(void *out, int64_t rows, int64_t length, int64_t inner,
                                       enum stet_batch_type out_type, const void *const *data,
                                       const int64_t *lengths, int64_t count,
                                       enum stet_batch_type in_type, const void *fill);

/* Writes ones for the first lengths[i] elements of each of `count` rows, and zeros elsewhere. */
enum stet_batch_answer stet_batch_mask(void *out, int64_t rows, int64_t length,
                                       enum stet_batch_type type, const int64_t *lengths,
                                       int64_t count);

#endif
