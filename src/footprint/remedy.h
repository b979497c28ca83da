/* What to do about a program that needs too much memory, read from the program as the framework
 * wrote it: how much each remedy may save on one device. The numbers are estimates: the compiler
 * keeps some values in registers, shares memory between others, and pads. Texts are borrowed from
 * the program. */
#ifndef STET_FOOTPRINT_REMEDY_H
#define STET_FOOTPRINT_REMEDY_H

#include "program/program.h"

enum stet_remedy_kind {
    STET_REMEDY_REMATERIALISE, /* compute values of the forward pass again */
    STET_REMEDY_DONATE,        /* let results take over the memory of arguments */
    STET_REMEDY_SHARD,         /* cut arguments that every device has whole */
    STET_REMEDY_BATCH,         /* half of the batch */
    STET_REMEDIES
};

struct stet_remedy {
    enum stet_remedy_kind kind;
    uint64_t saves;        /* bytes of one device */
    uint32_t count;        /* arrays that it is about */
    struct stet_view name; /* of the largest of them, "batch['x']"; may be empty */
    struct stet_view file; /* of the line that made it; empty for an argument */
    uint32_t line;
};

/* At most one of each kind, the largest saving first; returns how many. `devices` is how many the
 * program runs on; `temporaries` what they take, if it is known. */
size_t stet_remedy_make(const struct stet_program *p, uint32_t devices, uint64_t temporaries,
                        struct stet_remedy out[STET_REMEDIES]);
/* "rematerialise" */
const char *stet_remedy_word(enum stet_remedy_kind kind);
/* What to write, for people. */
const char *stet_remedy_text(enum stet_remedy_kind kind);

/* A line whose operations make large values. */
struct stet_remedy_line {
    struct stet_view file, function, operation;
    const struct stet_type *type; /* of the largest */
    uint32_t line, count;
    uint64_t bytes; /* of all of them, whole arrays */
    uint64_t largest;
};

/* The lines of a program with the largest results, before the compiler changes anything; returns
 * how many. */
size_t stet_remedy_lines(const struct stet_program *p, struct stet_remedy_line *out, size_t most);

#endif
