/* Shared by the files of this module alone. */
#ifndef STET_FOOTPRINT_FOOTPRINT_INTERNAL_H
#define STET_FOOTPRINT_FOOTPRINT_INTERNAL_H

#include "footprint/footprint.h"
#include "program/ops.h"

/* Adds sizes that a compiler gave. A sum of several results cannot overflow. */
static inline void stet_footprint_add(uint64_t *sum, uint64_t size)
{
    *sum = size > STET_FOOTPRINT_MOST - *sum ? STET_FOOTPRINT_MOST : *sum + size;
}

/* The number of a value's bytes in the device's main memory, without padding; all members of a
 * tuple. `everywhere` counts other memories of the device too. */
double stet_footprint_bytes(const struct stet_type *t, bool everywhere);
/* Arithmetic of a dot or a convolution; 0 for others. */
double stet_footprint_flops(const struct stet_op *op);
/* Bytes that an instruction outside of fusions moves to and from the device's memory. */
double stet_footprint_moved(const struct stet_program *p, const struct stet_op *op);
/* The iterations of a while, when its condition compares a counter with a constant. */
bool stet_footprint_trips(const struct stet_program *p, const struct stet_op *loop, double *out);
/* Which collective it is; STET_COLLECTIVES for none. */
enum stet_collective stet_footprint_collective(const struct stet_op *op);
void stet_footprint_count_collective(struct stet_footprint_traffic *t, const struct stet_op *op,
                                     double times);

/* The function that a symbol attribute of an operation names; NULL for none. */
const struct stet_op *stet_footprint_called(const struct stet_program *p, const struct stet_op *op,
                                            const char *attribute);
const struct stet_block *stet_footprint_body(const struct stet_op *function);
/* The opcode of HLO, "all-reduce". */
struct stet_view stet_footprint_opcode(const struct stet_op *op);

/* A value of the device's memory, while buffers are gathered. */
struct stet_footprint_value {
    uint64_t id, size;
    uint64_t instruction; /* XLA's id; 0 if only its name is known */
    struct stet_view name;
    bool temporary; /* it is in memory for temporaries */
    uint32_t uses;  /* of its memory, now */
};

/* Sorts the values in `live`, and keeps them as the footprint's buffers. */
enum stet_rc stet_footprint_keep_buffers(struct stet_footprint *f,
                                         const struct stet_footprint_value **live, size_t count,
                                         struct stet_err *err);

#endif
