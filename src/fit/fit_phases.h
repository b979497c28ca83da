/* libtpu's compiler phase by phase, through the extension PhaseCompile. The first phase optimizes
 * the program and assigns its buffers, in a twentieth of the time of a compile; the phases after it
 * generate code, fragment by fragment. Used in child processes. */
#ifndef STET_FIT_FIT_PHASES_H
#define STET_FIT_FIT_PHASES_H

#include "abi/api.h"
#include "abi/pjrt_ext.h"
#include "base/buf.h"

struct stet_fit_phases {
    const PJRT_Api *api;
    const PJRT_PhaseCompile_Extension *extension;
    const PJRT_PhaseCompiler *compiler;
    PJRT_TopologyDescription *topology;
};

/* Partial programs between two phases; the compiler's memory. */
struct stet_fit_partials {
    const char **items;
    const size_t *sizes;
    size_t count;
};

/* A partial program's parts (PjRtPartialProgramProto). */
struct stet_fit_partial {
    struct stet_view whole; /* the message itself */
    struct stet_view program, format, name;
};

#define STET_FIT_PHASE_OPTIMIZE "phase1_hlo_opts"
#define STET_FIT_PHASE_LOWER    "phase2b_deduped_lowering"

/* False if the plugin does not have the phases that are asked for here. */
bool stet_fit_phases_open(struct stet_fit_phases *p, const PJRT_Api *api,
                          PJRT_TopologyDescription *topology);
void stet_fit_phases_close(struct stet_fit_phases *p);
/* Runs one phase. NULL, or the error; release `out` after a success. */
PJRT_Error *stet_fit_phases_run(const struct stet_fit_phases *p, const char *phase,
                                const struct stet_view *in, size_t count, struct stet_view options,
                                struct stet_fit_partials *out);
void stet_fit_phases_release(const struct stet_fit_phases *p, struct stet_fit_partials *out);
/* Is it an HLO proto, and not MLIR? */
bool stet_fit_phases_is_hlo(struct stet_view program);
/* The first partial program, of the program as a framework wrote it: MLIR, or an HLO proto. */
void stet_fit_phases_begin(struct stet_buf *out, struct stet_view program);
struct stet_fit_partial stet_fit_phases_part(const struct stet_fit_partials *p, size_t i);
/* Appends an override to serialised compile options. */
void stet_fit_phases_override(struct stet_buf *options, const char *name, const char *value);

#endif
