/* Loads that went wrong: remembered on disk, so that an entry that kills its reader is left alone.
 *
 * Only a fatal signal raised in the loading thread counts, never a process that was killed from
 * outside meanwhile; two of them condemn the entry. A load that fails with an error leaves a note
 * and has its entry removed, to be written anew: the device may have been full, no more. */
#ifndef STET_STORE_QUARANTINE_H
#define STET_STORE_QUARANTINE_H

#include "store/store.h"

/* True when the entry may not be loaded. */
bool stet_quarantine_condemned(const struct stet_store *s, struct stet_hash key);
/* How many loads of the entry are known to have gone wrong. */
unsigned stet_quarantine_count(const struct stet_store *s, struct stet_hash key);
/* Forgets them. */
void stet_quarantine_clear(const struct stet_store *s, struct stet_hash key);

/* Around a load in this thread; not nested. A fatal signal in between leaves a note and goes on to
 * whoever handled it before. Without a place to write (or another load under way) it does nothing.
 */
void stet_quarantine_enter(const struct stet_store *s, struct stet_hash key);
void stet_quarantine_leave(void);
/* Beforehand, so that the first load waits no longer than others. Any thread. */
void stet_quarantine_prepare(const struct stet_store *s);
/* The load came back with an error: a note, and the entry is removed. */
void stet_quarantine_failed(const struct stet_store *s, struct stet_hash key, struct stet_view why);

#endif
