/* What decoders share when they build a program: simple types, lists, order and numbers. */
#ifndef STET_PROGRAM_BUILD_H
#define STET_PROGRAM_BUILD_H

#include "program/program.h"

/* Shared constants for the simple types; nothing to allocate or release. */
extern const struct stet_type stet_type_index, stet_type_none, stet_type_token;
/* Shared for the usual widths, otherwise made in the arena (NULL when it is full). */
const struct stet_type *stet_type_integer(struct stet_arena *a, uint32_t width,
                                          enum stet_sign sign);
const struct stet_type *stet_type_float(enum stet_float flavour);
const struct stet_type *stet_type_tensor(struct stet_arena *a, const struct stet_type *element,
                                         const int64_t *dims, uint32_t rank);
/* "bf16" → STET_BF16; false for anything else. */
bool stet_float_by_name(struct stet_view name, enum stet_float *out);

/* A growing list of pointers on the heap, for counts not known ahead. The first failure sticks;
 * stet_list_keep copies it into an arena (never NULL for an empty list) and leaves it reusable. */
struct stet_list {
    void **items;
    size_t count, room;
    bool failed;
};

void stet_list_add(struct stet_list *l, const void *item);
void *stet_list_keep(struct stet_list *l, struct stet_arena *a);
void stet_list_release(struct stet_list *l);

/* By name, bytewise; what stet_op_attr expects. False when a name occurs twice. */
bool stet_build_sort(struct stet_named_attr *attrs, size_t count);

/* Give every operation and value its id in order of appearance (parents before children, a block's
 * arguments before its operations) and set op_count and value_count. */
void stet_build_number(struct stet_program *p);

#endif
