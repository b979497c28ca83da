/* Finds the parts of a program that are written several times one after the other, as the layers
 * of a network are when they are not a loop. Two operations are alike if they are of one line and
 * have the same opcode and types; a block is a sequence of operations that is followed by one or
 * more copies of itself. Constants do not matter. Only the operations of the entry function itself
 * are searched. */
#ifndef STET_FIT_FIT_BLOCKS_H
#define STET_FIT_FIT_BLOCKS_H

#include "base/vec.h"
#include "program/program.h"

struct stet_fit_block {
    uint32_t copies;         /* with the first one */
    uint32_t operations;     /* of one copy, with those that it calls */
    struct stet_view file;   /* of most of its lines; the program's */
    uint32_t line, end_line; /* the first and the last one; 0 if it has none */
};

/* A line of the entry function's operations. */
struct stet_fit_block_line {
    struct stet_view file, function;
    uint32_t line, operations;
};

struct stet_fit_blocks {
    STET_VEC(struct stet_fit_block) items;
    STET_VEC(struct stet_fit_block_line) lines; /* the one with most operations first */
    uint8_t *copy;                              /* by operation's id: not of a first copy */
    uint32_t *line_of;                          /* by operation's id: place in `lines`, + 1 */
};

/* Release it even after a failure. Texts are borrowed from the program. */
enum stet_rc stet_fit_blocks_find(struct stet_fit_blocks *b, const struct stet_program *p,
                                  struct stet_err *err);
void stet_fit_blocks_release(struct stet_fit_blocks *b);

#endif
