/* Loads one entry of the store into the plugin ahead of time. It uses neither the list nor the lock
 * of ahead.c. */
#ifndef STET_INTERCEPT_AHEAD_LOAD_H
#define STET_INTERCEPT_AHEAD_LOAD_H

#include "intercept/ahead.h"
#include "store/entry.h"

/* Fills in the result for the entry of l->key: its handle, or an error that another try would only
 * repeat. It does nothing if there is no entry, if the entry is not for this client, if it does not
 * fit into the remaining bytes that a process may keep (*bytes are in use), or if another try may
 * succeed; the compile that needs it then finds and reports the error. */
void stet_ahead_load(struct stet_plugin *p, PJRT_Client *client, const struct stet_key_parts *parts,
                     uint64_t *bytes, struct stet_loaded *l);

#endif
