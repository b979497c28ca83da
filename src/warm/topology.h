/* Topologies of a plugin, for compiling without a device. Called in child processes: it changes the
 * environment, and a plugin may end the process. */
#ifndef STET_WARM_TOPOLOGY_H
#define STET_WARM_TOPOLOGY_H

#include "abi/api.h"
#include "base/view.h"

/* What the CPU backend was told to be; empty and 0 for other plugins. */
struct stet_warm_identity {
    char platform[32];
    int64_t devices;
};

enum { STET_WARM_IDENTITY_OPTIONS = 2 };

/* Returns how many of `options` it set. */
size_t stet_warm_identity_options(const struct stet_warm_identity *identity,
                                  PJRT_NamedValue options[STET_WARM_IDENTITY_OPTIONS]);

struct stet_warm_topology {
    const char *name;                           /* v6e:2x4, 1x1x1 */
    const char *target;                         /* a file, GpuTargetConfigProto as text, or NULL: */
    struct stet_view described, host_described; /* from a run's client; may be empty */
    struct stet_warm_identity identity;
};

/* Loads a plugin, or the layer over it, and initialises it. NULL with the reason in `why`, which
 * names the file `plugin`. */
const PJRT_Api *stet_warm_topology_load(const char *library, const char *plugin, char *why,
                                        size_t room);
/* Sets what libtpu needs to compile without a TPU. Variables that the user set stay. */
void stet_warm_topology_environment(const char *name);
/* NULL with the plugin's reason in `why`. */
PJRT_TopologyDescription *stet_warm_topology_create(const PJRT_Api *api,
                                                    const struct stet_warm_topology *t, char *why,
                                                    size_t room);
/* The code of an error; 0 if there is none or it has none. */
int stet_warm_topology_code(const PJRT_Api *api, PJRT_Error *error);
/* Copies the message of an error and destroys it. False if there is none. */
bool stet_warm_topology_failed(const PJRT_Api *api, PJRT_Error *error, char *why, size_t room);

#endif
