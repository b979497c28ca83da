/* Assigns the ids of executables, and queries the plugin about a new one. The hooks for compiles,
 * loads and destruction call it. Queried texts are in the caller's arena. */
#ifndef STET_INTERCEPT_EXECUTABLES_H
#define STET_INTERCEPT_EXECUTABLES_H

#include "intercept/plugin.h"
#include "intercept/writer.h"

/* Gives `handle` (a PJRT_LoadedExecutable, or a PJRT_Executable of PJRT_Compile) the id `id`, or a
 * new one if it is 0. Returns the id; STET_RING_OTHER if there is no room for it. */
uint32_t stet_executables_add(struct stet_plugin *p, const void *handle, uint32_t id);
/* Removes the handle, and records that the executable was destroyed. */
void stet_executables_gone(struct stet_plugin *p, const void *handle);
/* The id of a handle, 0 if unknown. */
uint32_t stet_executables_id(struct stet_plugin *p, const void *handle);

/* What compile_end and deserialize have in common. Views are in the arena. */
struct stet_executable_facts {
    struct stet_view fingerprint, name; /* fingerprint in hex */
    uint64_t num_outputs;
    bool has_outputs;
};

/* The executable of a loaded one, which must be returned; NULL if the plugin does not give it. */
PJRT_Executable *stet_executables_of(struct stet_plugin *p, PJRT_LoadedExecutable *loaded);
void stet_executables_return(struct stet_plugin *p, PJRT_Executable *executable);

/* These bypass the hooks: nothing of them is counted or numbered. The first returns the plugin's
 * own error. */
PJRT_Error *stet_executables_load(struct stet_plugin *p, PJRT_Client *client,
                                  struct stet_view bytes, PJRT_LoadedExecutable **loaded);
void stet_executables_unload(struct stet_plugin *p, PJRT_LoadedExecutable *loaded);

/* Exactly one of the two handles is given. Queries the plugin in the thread of the compile, because
 * the framework may destroy the handle later. */
void stet_executables_ask(struct stet_plugin *p, PJRT_LoadedExecutable *loaded,
                          PJRT_Executable *executable, struct stet_arena *a,
                          struct stet_executable_facts *out);

#endif
