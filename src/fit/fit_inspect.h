/* What a child of a fit asks the compiler about each program beside compiling it. It leaves files
 * in a folder, by the number of the program:
 *
 *     3.hlo       the optimized program, HLO, perhaps compressed
 *     3.buffers   the assignment of its buffers, BufferAssignmentProto, perhaps compressed
 *     3.dump/     the same as the compiler prints it, where it gives nothing better
 *     3.error     the compiler's message, if it refused the program
 *     3.stats     lines "name number": statistics of the executable, times
 *     3.fragments lines "signature nanoseconds": what generating code took, with `lines`
 *     3.ablation  lines "what nanoseconds": what compiling took with parts left out, likewise */
#ifndef STET_FIT_FIT_INSPECT_H
#define STET_FIT_FIT_INSPECT_H

#include "base/buf.h"
#include "warm/warm.h"

struct stet_fit_inspection {
    const char *folder;
    bool quick; /* stop before code is generated, where the compiler can */
    bool lines; /* measure what generating code takes, fragment by fragment */
};

extern const struct stet_warm_inspector stet_fit_inspector; /* without a context */

/* The plugin below the layer, for a compile that is not one of the run's and not for the store; or
 * NULL. */
const PJRT_Api *stet_fit_inspect_plugin(const struct stet_warm_subject *s);

/* Appends the optimized program of an executable, HLO as a proto. False if there is none. */
bool stet_fit_inspect_optimized(const PJRT_Api *api, PJRT_Executable *executable,
                                struct stet_buf *out);

/* The file of a program: "3.hlo". */
void stet_fit_inspect_path(char *out, size_t room, const char *folder, size_t number,
                           const char *kind);

#endif
