/* The components of a store key that are the same for every program of a client: plugin, platform,
 * topology, host, toolkit, environment. The hooks call it before each point at which a plugin may
 * read its flags, and reload.c before a compile. Cached texts live as long as the process. */
#ifndef STET_INTERCEPT_IDENTITY_H
#define STET_INTERCEPT_IDENTITY_H

#include "intercept/compiler_env.h"
#include "store/entry.h"

/* Call it before a plugin's table is requested, when the plugin may read its flags. Notes the flags
 * and the plugin's file. */
void stet_identity_first(const struct stet_plugin *p);
/* Call it before other calls in which a plugin may read its flags. */
void stet_identity_see(const struct stet_plugin *p, enum stet_moment moment);

/* Call it before a compile: fills all parts except OPTIONS and PROGRAM, and the plugin's file. The
 * texts live in the arena or as long as the process. Returns STET_OUTCOME_NONE, or the reason why
 * programs of this client are neither served nor stored. */
enum stet_outcome stet_identity_of(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                                   struct stet_key_parts *out, struct stet_view *plugin_path);
/* The same before anything is compiled: the parts that a compile will have if no flag changes. */
enum stet_outcome stet_identity_now(struct stet_plugin *p, PJRT_Client *client,
                                    struct stet_arena *a, struct stet_key_parts *out);
/* Queries all of that before the first compile, which then does not wait for it. */
void stet_identity_prepare(struct stet_plugin *p, PJRT_Client *client);
/* A program with code for the host depends on the host, even where others do not. */
void stet_identity_program(struct stet_key_parts *parts, struct stet_view program);
/* The same for a topology without a client: a program compiled ahead is for clients with equal
 * parts. Texts live in the arena. */
enum stet_outcome stet_identity_ahead(struct stet_plugin *p,
                                      const PJRT_TopologyDescription *topology,
                                      struct stet_arena *a, struct stet_key_parts *out,
                                      struct stet_view *plugin_path);

#endif
