/* The devices that a program is fitted for, as the real plugin describes them without any of them
 * being there. The struct owns its list. */
#ifndef STET_FIT_FIT_TOPOLOGY_H
#define STET_FIT_FIT_TOPOLOGY_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct stet_fit_topology {
    char name[64]; /* as the plugin knows it: tpu7x:2x2x1 */
    char platform[32], version[512], kind[64];
    uint64_t memory; /* of a device; 0: not known */
    uint32_t count, chips;
    /* Of a chip, shared by its devices; 0: not known. */
    double flops, memory_rate, link_rate;
    const char *source; /* of these three; NULL: not known */
};

/* The name by which libtpu knows it: v7x is tpu7x there, v5litepod is v5e. */
void stet_fit_topology_name(const char *asked, char *out, size_t room);
/* Asks the plugin in a child process, and writes what it says to `pose`, a file that the CPU
 * backend reads (STET_CPU_POSE). `target`: a GpuTargetConfigProto as text, or NULL. STET_NOT_FOUND
 * if the plugin does not know the topology. */
enum stet_rc stet_fit_topology_ask(struct stet_fit_topology *t, const char *plugin,
                                   const char *asked, const char *target, const char *pose,
                                   struct stet_err *err);

#endif
