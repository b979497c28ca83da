/* Lifting: one program that serves a whole family of programs.
 *
 * Two programs of a family are equal except for some constants and some starts of slices. Lifting
 * writes one program in which these are additional, trailing arguments of the entry function. The
 * lifted program, executed with the values of a program, computes what that program computes.
 *
 * The way of one family: stet_lift_refuses examines the base, which is the first program of the
 * family. stet_lift_match compares it with a second one and lists every use of a constant.
 * stet_lift_plan_make decides which uses become arguments. stet_lift_write writes the lifted
 * program as StableHLO text and checks it. stet_lift_values gives the arguments for any further
 * program.
 *
 * Whatever is not proven to be safe is refused (STET_REFUSED, with the reason in the error). This
 * module only reads its arguments and allocates memory. */
#ifndef STET_LIFT_LIFT_H
#define STET_LIFT_LIFT_H

#include "base/vec.h"
#include "program/program.h"

struct stet_buf;

enum {
    STET_LIFT_ARGUMENTS = 64, /* of one lifted program, at most */
    STET_LIFT_NONE = 255,     /* a use that stays a constant */
    STET_LIFT_DEVICES = 256,  /* that one program runs on, at most */
};

enum stet_lift_kind {
    STET_LIFT_WHOLE, /* the constant as it is */
    STET_LIFT_SPLAT, /* the one number that a tensor is filled with; the use broadcasts it */
    STET_LIFT_START, /* where a slice starts in one dimension, or how far a pad reaches there */
};

/* Does anything in the program forbid lifting, wherever its constants are? STET_OK if not. */
enum stet_rc stet_lift_refuses(const struct stet_program *p, struct stet_err *err);

/* How many devices a program that is not refused runs on: its replicas or its partitions. */
uint32_t stet_lift_devices(const struct stet_program *p);

/* Does every loop of the program end, whatever its constants and its arguments are? If not, it must
 * not be executed with values and arguments that no program had together. */
bool stet_lift_loops_end(const struct stet_program *p);

/* ---- comparing two programs ---- */

/* One use of a constant: operand `index` of `op`, an operation of the base. Or the start of the
 * slice `op` in dimension `index`. The same constant may have many uses. */
struct stet_lift_use {
    const struct stet_op *op;
    uint32_t index;
    bool is_start, differs;
    union {
        const struct stet_attr *value[2]; /* in the base, in the other program */
        int64_t start[2];
    };
};

/* Every use of the base in order of appearance, so a use has the same place in each match with one
 * base. Borrows from both programs. */
struct stet_lift_match {
    const struct stet_program *base;
    STET_VEC(struct stet_lift_use) uses;
    uint32_t different;
};

/* STET_NOT_FOUND if the programs differ in more than values. On success the caller releases the
 * match. */
enum stet_rc stet_lift_match(struct stet_lift_match *out, const struct stet_program *base,
                             const struct stet_program *other, struct stet_err *err);
void stet_lift_match_release(struct stet_lift_match *m);

/* ---- the plan of a lifted program ---- */

struct stet_lift_argument {
    enum stet_lift_kind kind;
    const struct stet_type *type; /* of the argument: a tensor */
};

/* Which uses read which argument. Borrows types from the base. */
struct stet_lift_plan {
    struct stet_arena arena;
    uint8_t *argument_of; /* by use; STET_LIFT_NONE if it stays a constant */
    uint32_t use_count;
    struct stet_lift_argument arguments[STET_LIFT_ARGUMENTS];
    uint32_t argument_count;
};

/* Lifts the uses that differ in the match, and all that `earlier` lifts (NULL for none). Uses with
 * the same values in all programs seen so far share an argument. STET_REFUSED if a use that differs
 * cannot be lifted. On success the caller releases the plan. */
enum stet_rc stet_lift_plan_make(struct stet_lift_plan *out, const struct stet_lift_match *m,
                                 const struct stet_lift_plan *earlier, struct stet_err *err);
/* A plan of another process, from the kinds of its arguments and the places of their uses. It has
 * no types: it can only be the `earlier` one of a plan. STET_REFUSED if it cannot be a plan. */
enum stet_rc stet_lift_plan_recall(struct stet_lift_plan *out, struct stet_view kinds,
                                   struct stet_view argument_of, struct stet_err *err);
void stet_lift_plan_release(struct stet_lift_plan *p);

/* Bytes of one argument, row-major and little-endian. */
struct stet_lift_value {
    struct stet_view bytes;
};

enum stet_lift_side { STET_LIFT_BASE, STET_LIFT_OTHER };

/* The arguments for one of the two programs of a match, `argument_count` of them, in the arena.
 * STET_NOT_FOUND if the plan does not cover what differs. */
enum stet_rc stet_lift_values(const struct stet_lift_plan *plan, const struct stet_lift_match *m,
                              enum stet_lift_side side, struct stet_arena *arena,
                              struct stet_lift_value **out, struct stet_err *err);

/* Writes the lifted program, and checks it: the text is decoded, the values of both programs of the
 * match are put back in place of the arguments, and the results must be the two programs again. */
enum stet_rc stet_lift_write(struct stet_buf *out, const struct stet_program *base,
                             const struct stet_program *other, const struct stet_lift_match *m,
                             const struct stet_lift_plan *plan, struct stet_err *err);

#endif
