/* Who compiles: the components of a store key that are the same for every program of a client. */
#ifndef STET_INTERCEPT_IDENTITY_H
#define STET_INTERCEPT_IDENTITY_H

#include "intercept/plugin.h"
#include "store/entry.h"

/* Fills PLUGIN, PLATFORM, TOPOLOGY, TOOLKIT and ENVIRONMENT, and tells the plugin's file. The texts
 * live as long as the process. NULL, or a fixed word: why programs of this client are neither
 * served nor kept. */
const char *stet_identity_of(struct stet_plugin *p, PJRT_Client *client, struct stet_key_parts *out,
                             struct stet_view *plugin_path);
/* The same with the environment as it is now, which the first compile may find changed: its text
 * lives in the arena. */
const char *stet_identity_now(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                              struct stet_key_parts *out);
/* Asks all that ahead of the first compile, which then does not wait for it. */
void stet_identity_prepare(struct stet_plugin *p, PJRT_Client *client);
/* The same of a topology without a client: what is compiled ahead is for clients that say the same
 * of themselves. Texts live in the arena. */
const char *stet_identity_ahead(struct stet_plugin *p, const PJRT_TopologyDescription *topology,
                                struct stet_arena *a, struct stet_key_parts *out,
                                struct stet_view *plugin_path);

#endif
