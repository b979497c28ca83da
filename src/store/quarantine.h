/* Remembers loads that failed, on disk, so that an entry that kills or hangs its reader is not
 * loaded again.
 *
 * A strike is a fatal signal raised in the loading thread, or a process that ended while a load
 * took longer than allowed (stet_quarantine_patience_ns). Two strikes condemn the entry. A process
 * that is killed from outside before that time does not count. A load that fails with an error
 * leaves a note, and its entry is removed and written again: the device may only have been full. */
#ifndef STET_STORE_QUARANTINE_H
#define STET_STORE_QUARANTINE_H

#include "store/store.h"

/* True if the entry must not be loaded. Checks one or two names, however many notes there are. */
bool stet_quarantine_condemned(const struct stet_store *s, struct stet_hash key);
/* The number of failed loads of the entry. */
unsigned stet_quarantine_count(const struct stet_store *s, struct stet_hash key);
/* Removes the notes of an entry. */
void stet_quarantine_clear(const struct stet_store *s, struct stet_hash key);

/* Called around a load in this thread; not nested. `compile_ns` is the compile time. A fatal signal
 * in between leaves a strike and goes on to the previous handler; for one load at a time. */
void stet_quarantine_enter(const struct stet_store *s, struct stet_hash key, uint64_t compile_ns);
void stet_quarantine_leave(void);
/* How long a load may take: ten seconds, or twice the compile time if that is longer;
 * STET_STORE_LOAD_MS overrides it. */
uint64_t stet_quarantine_patience_ns(const struct stet_store *s, uint64_t compile_ns);
/* Called now and then: writes the strike of a load that takes longer than allowed. The strike is
 * removed if the load ends after all. From any thread. */
void stet_quarantine_watch(void);
/* Prepares in advance, so that the first load waits no longer than others. From any thread. */
void stet_quarantine_prepare(const struct stet_store *s);
/* The load returned an error: writes a note, and removes the entry. */
void stet_quarantine_failed(const struct stet_store *s, struct stet_hash key, struct stet_view why);

#endif
