/* Loads that went wrong: remembered on disk, so that an entry that kills or stops its reader is
 * left alone.
 *
 * A strike is a fatal signal raised in the loading thread, or a process that ended while a load
 * took longer than it may (stet_quarantine_patience_ns); two of them condemn the entry. A process
 * that is killed from outside before that time is none. A load that fails with an error leaves a
 * note and has its entry removed, to be written anew: the device may have been full, no more. */
#ifndef STET_STORE_QUARANTINE_H
#define STET_STORE_QUARANTINE_H

#include "store/store.h"

/* True when the entry may not be loaded. Costs a look or two at names, however many notes there
 * are. */
bool stet_quarantine_condemned(const struct stet_store *s, struct stet_hash key);
/* How many loads of the entry are known to have gone wrong. */
unsigned stet_quarantine_count(const struct stet_store *s, struct stet_hash key);
/* Forgets them. */
void stet_quarantine_clear(const struct stet_store *s, struct stet_hash key);

/* Around a load in this thread; not nested. `compile_ns` is what compiling it took. A fatal signal
 * in between leaves a strike and goes on to whoever handled it before; for one load at a time. */
void stet_quarantine_enter(const struct stet_store *s, struct stet_hash key, uint64_t compile_ns);
void stet_quarantine_leave(void);
/* How long a load may take: ten seconds, or twice what compiling took when that is longer, unless
 * STET_STORE_LOAD_MS says otherwise. */
uint64_t stet_quarantine_patience_ns(const struct stet_store *s, uint64_t compile_ns);
/* Called every now and then: a load that takes longer than it may has its strike noted, which is
 * taken back when it ends after all. Any thread. */
void stet_quarantine_watch(void);
/* Beforehand, so that the first load waits no longer than others. Any thread. */
void stet_quarantine_prepare(const struct stet_store *s);
/* The load came back with an error: a note, and the entry is removed. */
void stet_quarantine_failed(const struct stet_store *s, struct stet_hash key, struct stet_view why);

#endif
