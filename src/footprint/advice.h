/* What to do about a program that needs too much memory, read from the program as the framework
 * wrote it: how much each remedy may save on one device. The numbers are estimates: the compiler
 * keeps some values in registers, shares memory between others, and pads. Texts are borrowed from
 * the program. */
#ifndef STET_FOOTPRINT_ADVICE_H
#define STET_FOOTPRINT_ADVICE_H

#include "program/program.h"

enum stet_advice_kind {
    STET_ADVICE_REMATERIALISE, /* compute values of the forward pass again */
    STET_ADVICE_DONATE,        /* let results take over the memory of arguments */
    STET_ADVICE_SHARD,         /* cut arguments that every device has whole */
    STET_ADVICE_BATCH,         /* half of the batch */
    STET_ADVICES
};

struct stet_advice {
    enum stet_advice_kind kind;
    uint64_t saves;        /* bytes of one device */
    uint32_t count;        /* arrays that it is about */
    struct stet_view name; /* of the largest of them, "batch['x']"; may be empty */
    struct stet_view file; /* of the line that made it; empty for an argument */
    uint32_t line;
};

/* At most one of each kind, the largest saving first; returns how many. `devices` is how many the
 * program runs on; `temporaries` what they take, if it is known. */
size_t stet_advice_make(const struct stet_program *p, uint32_t devices, uint64_t temporaries,
                        struct stet_advice out[STET_ADVICES]);
/* "rematerialise" */
const char *stet_advice_word(enum stet_advice_kind kind);
/* What to write, for people. */
const char *stet_advice_text(enum stet_advice_kind kind);

/* A line whose operations make large values. */
struct stet_advice_line {
    struct stet_view file, function, operation;
    const struct stet_type *type; /* of the largest */
    uint32_t line, count;
    uint64_t bytes; /* of all of them, whole arrays */
    uint64_t largest;
};

/* The lines of a program with the largest results, before the compiler changes anything; returns
 * how many. */
size_t stet_advice_lines(const struct stet_program *p, struct stet_advice_line *out, size_t most);

#endif
