/* Shared by the files that read the tree of operations. */
#ifndef STET_DECODE_BYTECODE_IR_H
#define STET_DECODE_BYTECODE_IR_H

#include "decode/bytecode/bytecode.h"

/* An operand that refers to a value defined later. */
struct fixup {
    struct stet_value **where;
    size_t slot;
};

/* The values visible to operations, up to the next region that is isolated from above. */
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

/* Enough for any operation that stet_decode_bc_read_usual_ops reads. */
enum {
    BC_USUAL_OPERANDS = 8,
    BC_USUAL_ROOM = sizeof(struct stet_op) + sizeof(struct stet_value) +
        BC_USUAL_OPERANDS * sizeof(struct stet_value *),
    /* Enough for most; a block of memory with less left is full. */
    BC_LEAST_ROOM = sizeof(struct stet_op) + sizeof(struct stet_value) + 2 * sizeof(void *),
};

/* Does this much fit into the current block of memory? */
static inline bool bc_has_room(const struct bc *b, size_t size)
{
    return (size_t)(b->arena->end - b->arena->next) >= size;
}

/* Allocates a new block of memory for operations from `at` on. Its size depends on what the
 * operations since the last call have needed. Call stet_decode_bc_begin_room before the first time.
 */
void stet_decode_bc_refill(struct bc *b, const unsigned char *at);
void stet_decode_bc_begin_room(struct bc *b, const unsigned char *at);

/* VHLO has one return for functions and for regions. */
static inline uint32_t bc_known_op(const struct bc_name *name, const struct stet_block *parent)
{
    if (name->known == STET_STABLEHLO_RETURN && name->vhlo && parent->parent &&
        parent->parent->known == STET_FUNC_FUNC)
        return STET_FUNC_RETURN;
    return name->known;
}

/* Reads as many common operations as follow at `r`, at most `room`, into `ops`; returns how many.
 * The next operation is then unread, but tables may have been filled. */
uint32_t stet_decode_bc_read_usual_ops(struct bc *b, struct stet_reader *r,
                                       struct region_state *state, struct stet_block *block,
                                       struct stet_op **ops, uint32_t room);

#endif
