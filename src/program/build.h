/* What decoders share when they build a program: simple types, lists, order and numbers. Decoders
 * allocate everything in the program's arena. */
#ifndef STET_PROGRAM_BUILD_H
#define STET_PROGRAM_BUILD_H

#include "program/program.h"

/* Shared constants for the simple types; nothing to allocate or release. */
extern const struct stet_type stet_type_index, stet_type_none, stet_type_token;
/* Shared for common widths, otherwise allocated in the arena (NULL if it is full). */
const struct stet_type *stet_type_integer(struct stet_arena *a, uint32_t width,
                                          enum stet_sign sign);
const struct stet_type *stet_type_float(enum stet_float flavour);
const struct stet_type *stet_type_tensor(struct stet_arena *a, const struct stet_type *element,
                                         const int64_t *dims, uint32_t rank);
/* Adds the fields that few types have; false if the arena is full. */
bool stet_build_rest(struct stet_arena *a, struct stet_type *t, const struct stet_type_rest *rest);
/* "bf16" → STET_BF16; false for anything else. */
bool stet_float_by_name(struct stet_view name, enum stet_float *out);

/* A growing list of pointers on the heap, for counts that are not known in advance. The first
 * failure sticks. stet_build_list_keep copies the list into an arena (never NULL for an empty list)
 * and leaves it reusable. */
struct stet_build_list {
    void **items;
    size_t count, room;
    bool failed;
};

void stet_build_list_add(struct stet_build_list *l, const void *item);
void *stet_build_list_keep(struct stet_build_list *l, struct stet_arena *a);
void stet_build_list_release(struct stet_build_list *l);

/* Sorts by name, bytewise, as stet_op_attr expects. False if a name occurs twice. */
bool stet_build_sort(struct stet_named_attr *attrs, size_t count);

/* The parts of a new operation. All lists but the attributes are copied. */
struct stet_op_parts {
    uint32_t known;        /* enum stet_known_op, or 0 and a name */
    struct stet_view name; /* kept as it is */
    const struct stet_loc *loc;
    const struct stet_named_attr *attrs; /* sorted */
    const struct stet_type *const *results;
    struct stet_value *const *operands; /* NULL: to be filled in */
    struct stet_region *regions;        /* their blocks get the operation as parent */
    struct stet_block *const *successors;
    uint32_t attr_count, result_count, operand_count, region_count, successor_count;
};

/* Size of the operation in bytes; 0 if a count is too large for its field. */
size_t stet_build_op_size(const struct stet_op_parts *parts);
/* NULL (and the arena's `failed`) if it does not fit. */
struct stet_op *stet_build_op(struct stet_arena *a, const struct stet_op_parts *parts);
/* Allocates zeroed arguments of `b` and room for their locations; false if the arena is full. */
bool stet_build_args(struct stet_arena *a, struct stet_block *b, uint32_t count);

/* A zeroed attribute, as large as its kind needs; NULL if the arena is full. */
struct stet_attr *stet_build_attr(struct stet_arena *a, enum stet_attr_kind kind);

/* The same for a location without a function. */
struct stet_loc *stet_build_loc(struct stet_arena *a, enum stet_loc_kind kind, bool ends);

/* A name for attributes that are in no table; NULL if the arena is full. The text is borrowed. */
const struct stet_attr_name *stet_build_name(struct stet_arena *a, struct stet_view dialect,
                                             struct stet_view mnemonic);

/* Gives every operation and value its id in order of appearance (parents before children, a block's
 * arguments before its operations) and sets op_count and value_count. */
void stet_build_number(struct stet_program *p);

/* The last step of building: numbers and indexes the program if `rc` is STET_OK. A program with a
 * failure is released. Returns `rc`, or why indexing failed. */
enum stet_rc stet_build_finish(struct stet_program *p, enum stet_rc rc, struct stet_err *err);

#endif
