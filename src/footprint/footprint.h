/* What a compiled program needs of one device: memory, arithmetic, traffic to its memory and to
 * other devices. It is read from what the compiler made: the optimized HLO program and, where the
 * compiler gives it, the assignment of its buffers.
 *
 *     stet_footprint_init(&f);
 *     stet_footprint_read_program(&f, hlo, &err);
 *     stet_footprint_read_assignment(&f, assignment, &err);
 *     …
 *     stet_footprint_release(&f);
 *
 * The struct owns everything in it; the bytes need not outlive the calls. */
#ifndef STET_FOOTPRINT_FOOTPRINT_H
#define STET_FOOTPRINT_FOOTPRINT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/view.h"

enum stet_collective {
#define COLLECTIVE(identifier, opcode) STET_##identifier,
#include "footprint/collectives.def"
#undef COLLECTIVE
    STET_COLLECTIVES
};

const char *stet_footprint_collective_name(enum stet_collective c);

/* All collectives of one kind. `payload` is the larger one of what an operation reads and writes;
 * `wire` is the least that a device must send for it, by the ring algorithm. */
struct stet_footprint_traffic {
    uint64_t sites;       /* instructions in the program */
    double times;         /* executions: those in a loop count for each iteration */
    double payload, wire; /* bytes, of all executions */
};

/* An instruction of the optimized program. Texts are the footprint's. */
struct stet_footprint_instruction {
    struct stet_view name, opcode, shape;
    struct stet_view op_name; /* as the framework calls the operation; may be empty */
    struct stet_view file, function;
    uint32_t line; /* the user's own; 0 if unknown */
    double times;  /* how often it runs; 0 if it is part of a fusion */
    /* Of its opcode and shape, and those of everything that it calls, in any order. A copy of the
     * instruction without names, lines and layouts has the same one. */
    uint64_t signature;
};

/* A value that has memory of the device while the program runs. */
struct stet_footprint_buffer {
    const struct stet_footprint_instruction *made_by;
    struct stet_view shape;
    uint64_t size;
};

/* No size is larger, whatever a compiler says. */
#define STET_FOOTPRINT_MOST ((uint64_t)1 << 60)

/* Bytes of the device's main memory, as PJRT's statistics of a compiled program count them. */
struct stet_footprint_memory {
    uint64_t arguments, outputs, aliased, temporaries, code;
    uint64_t host; /* all of it that is in the host's memory */
};

struct stet_footprint {
    struct stet_arena arena;
    struct stet_view module;
    struct stet_footprint_instruction *instructions;
    size_t instruction_count;
    const struct stet_footprint_instruction *root; /* what the entry returns; NULL if unknown */
    struct stet_map by_name, by_id; /* hash of a name, XLA's id -> place in `instructions` */
    struct stet_footprint_traffic traffic[STET_COLLECTIVES];
    double flops;            /* of matrix products and convolutions */
    double memory_bytes;     /* read from and written to the device's memory, estimated */
    uint64_t open_loops;     /* loops whose number of iterations is not known; counted once */
    uint64_t kernels;        /* custom calls, whose arithmetic is not known */
    struct stet_view kernel; /* the target of the first one */
    /* From the assignment of buffers. */
    bool assigned;
    struct stet_footprint_memory memory;
    uint64_t peak;                         /* most bytes of temporaries in use at one time */
    struct stet_footprint_buffer *buffers; /* temporaries in use then, largest first */
    size_t buffer_count;
    bool timed; /* the compiler told when each is in use; otherwise all temporaries are listed */
};

void stet_footprint_init(struct stet_footprint *f);
void stet_footprint_release(struct stet_footprint *f);
/* HLO as a proto, with or without its configuration, or as text. */
enum stet_rc stet_footprint_read_program(struct stet_footprint *f, struct stet_view hlo,
                                         struct stet_err *err);
/* BufferAssignmentProto, after the program. */
enum stet_rc stet_footprint_read_assignment(struct stet_footprint *f, struct stet_view bytes,
                                            struct stet_err *err);
/* The same as the compiler's dump prints it ("allocation 3: size 64, …"). */
enum stet_rc stet_footprint_read_dump(struct stet_footprint *f, struct stet_view text,
                                      struct stet_err *err);

/* The dump of live ranges, after the one above: only the buffers in use at the peak stay. */
enum stet_rc stet_footprint_read_live(struct stet_footprint *f, struct stet_view text,
                                      struct stet_err *err);

/* What the program occupies when it runs: donated memory counts once. */
static inline uint64_t stet_footprint_total(const struct stet_footprint_memory *m)
{
    return m->arguments + m->outputs - (m->aliased < m->outputs ? m->aliased : m->outputs) +
           m->temporaries + m->code;
}

#endif
