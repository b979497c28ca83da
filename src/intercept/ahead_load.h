/* One entry of the store into the plugin, before it is asked for. Knows no list and no lock. */
#ifndef STET_INTERCEPT_AHEAD_LOAD_H
#define STET_INTERCEPT_AHEAD_LOAD_H

#include "intercept/ahead.h"
#include "store/entry.h"

/* Fills in what is there of the entry of l->key: its handle, or the fault that another try would
 * only find again. Nothing when there is none, it is not for this client, it does not fit into what
 * is left of the bytes that a process may keep (*bytes are taken), or it may yet be loaded: what is
 * wrong then is found again, and said, by the compile that asks for it. */
void stet_ahead_load(struct stet_plugin *p, PJRT_Client *client, const struct stet_key_parts *parts,
                     uint64_t *bytes, struct stet_loaded *l);

#endif
