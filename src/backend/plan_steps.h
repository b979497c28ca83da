/* A plan's steps, which stet_plan_run executes one after the other. emit.c creates them. */
#ifndef STET_BACKEND_PLAN_STEPS_H
#define STET_BACKEND_PLAN_STEPS_H

#include "backend/placement.h"
#include "backend/tiny.h"

/* Where a buffer of a step is: `base` 0 is scratch, 1 an address, then inputs, then outputs. */
struct stet_step_ref {
    uint32_t base;
    uint64_t offset;
};

enum stet_step_kind {
    STET_STEP_TILE,
    STET_STEP_TINY,
    STET_STEP_KERNEL,
    STET_STEP_COPY,
    STET_STEP_WHILE,
    STET_STEP_CASE,
    STET_STEP_HOST,
    STET_STEP_FFI,
};

struct stet_plan_steps {
    struct stet_step *v;
    uint32_t count;
};

struct stet_step {
    enum stet_step_kind kind;
    uint32_t first; /* of its buffers, in the table of refs */
    union {
        struct {
            const struct stet_tile_prog *prog;
            uint64_t elements, grain;
        } tile;
        struct stet_tiny *tiny;
        struct {
            void (*run)(const void *params, void *const *bufs, struct stet_pool *pool);
            const void *params;
        } kernel;
        const struct stet_transfer *transfer; /* HOST */
        const struct stet_ffi_site *site;     /* FFI */
        uint64_t bytes;                       /* COPY: from bufs[0] to bufs[1] */
        struct stet_plan_steps blocks[2];     /* WHILE: condition (result in bufs[0]), body */
        struct {
            struct stet_plan_steps *branches;
            uint32_t count;
            bool pred; /* the index, bufs[0], is one */
        } select;
    };
};

struct stet_plan {
    struct stet_arena arena;
    struct stet_plan_info info;
    struct stet_program legal; /* of an HLO program: its constants are read in place, too */
    bool legalised;
    struct stet_ffi_site *sites; /* all of them */
    struct stet_plan_steps steps;
    struct stet_step_ref *refs;
    uint32_t ref_count;
    uint64_t table_offset; /* of the table of pointers, in scratch */
    struct stet_tiny *tiny;
    uint64_t registers;  /* of tiny programs: their offset in scratch */
    uint64_t most_turns; /* of all loops in one run; 0: any number */
};

/* Makes a plan of a program, which is StableHLO if it was `legalised`. */
typedef enum stet_rc stet_plan_make_fn(struct stet_plan *plan, const struct stet_program *p,
                                       const struct stet_plan_devices *on, struct stet_err *err);
/* Allocates a plan whose arena takes up to `cap` bytes, and has it made. `legalise`: HLO is made
 * StableHLO first. */
enum stet_rc stet_plan_new_by(struct stet_plan **out, stet_plan_make_fn *make, size_t cap,
                              bool legalise, const struct stet_program *p,
                              const struct stet_plan_devices *on, struct stet_err *err);
/* Fills the plan's description of the program's arguments and results, of all lanes. */
enum stet_rc stet_plan_describe(struct stet_plan *plan, struct stet_lower *l,
                                const struct stet_shape *in, uint32_t in_count,
                                const struct stet_shape *out, uint32_t out_count);
/* Assigns offsets to all scratch buffers; sets p->scratch_bytes. */
enum stet_rc stet_backend_placement_offsets(struct stet_placement *p);
/* Creates steps for the whole graph. Buffers have no offsets yet; stet_emit_finish resolves the
 * refs. */
enum stet_rc stet_backend_emit(struct stet_placement *p, struct stet_gblock *entry,
                               struct stet_plan *plan);

#endif
