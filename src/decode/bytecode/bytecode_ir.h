/* What the files that read the tree of operations share. */
#ifndef STET_DECODE_BYTECODE_IR_H
#define STET_DECODE_BYTECODE_IR_H

#include "decode/bytecode/bytecode.h"

/* An operand that names a value defined later. */
struct fixup {
    struct stet_value **where;
    size_t slot;
};

/* The values that operations see, up to the next region that is isolated from above. */
struct scope {
    struct stet_value **values;
    size_t count, room;
    struct fixup *fixups;
    size_t fixup_count, fixup_room;
};

struct region_state {
    struct scope *scope;
    size_t next;  /* slot of the next value defined in this region */
    size_t limit; /* one past its last slot */
    struct stet_block **blocks;
    uint32_t block_count;
    unsigned depth;
};

/* Enough for any operation that bc_read_usual_ops reads. */
enum {
    BC_USUAL_OPERANDS = 8,
    BC_USUAL_ROOM = sizeof(struct stet_op) + sizeof(struct stet_value) +
        BC_USUAL_OPERANDS * sizeof(struct stet_value *),
    /* Enough for most; a block of memory that has less left is full. */
    BC_LEAST_ROOM = sizeof(struct stet_op) + sizeof(struct stet_value) + 2 * sizeof(void *),
};

/* Does so much fit into the block of memory at hand? */
static inline bool bc_has_room(const struct bc *b, size_t size)
{
    return (size_t)(b->arena->end - b->arena->next) >= size;
}

/* A new block of memory, for operations from `at` on; how much depends on what those since the last
 * time have taken. Before the first time: bc_begin_room. */
void bc_refill(struct bc *b, const unsigned char *at);
void bc_begin_room(struct bc *b, const unsigned char *at);

/* VHLO has one return for functions and for regions. */
static inline uint32_t bc_known_op(const struct bc_name *name, const struct stet_block *parent)
{
    if (name->known == STET_STABLEHLO_RETURN && name->vhlo && parent->parent &&
        parent->parent->known == STET_FUNC_FUNC)
        return STET_FUNC_RETURN;
    return name->known;
}

/* Reads as many usual operations as stand at `r`, `room` at most, into `ops`; gives how many.
 * Nothing of the next has been read then, but tables may have been filled. */
uint32_t bc_read_usual_ops(struct bc *b, struct stet_reader *r, struct region_state *state,
                           struct stet_block *block, struct stet_op **ops, uint32_t room);

#endif
