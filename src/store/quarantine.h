/* Remembers loads that failed, on disk, so that an entry that kills or hangs its reader is not
 * loaded again.
 *
 * A strike is a fatal signal raised in the loading thread, or a process that ended while a load
 * took longer than allowed (stet_store_quarantine_patience_ns). Two strikes condemn the entry. A
 * process that is killed from outside before that time does not count. A load that fails with an
 * error leaves a note, and its entry is removed and written again: the device may only have been
 * full. */
#ifndef STET_STORE_QUARANTINE_H
#define STET_STORE_QUARANTINE_H

#include "store/store.h"

/* True if the entry must not be loaded. Checks one or two names, however many notes there are. */
bool stet_store_quarantine_condemned(const struct stet_store *s, struct stet_hash key);
/* The number of failed loads of the entry. */
unsigned stet_store_quarantine_count(const struct stet_store *s, struct stet_hash key);
/* Removes the notes of an entry. */
void stet_store_quarantine_clear(const struct stet_store *s, struct stet_hash key);

/* Where the strikes of an entry are noted: a file each, so that no listing is needed to count them.
 */
struct stet_strike_place {
    char note[PATH_MAX + 64]; /* the last character is the strike's number */
    size_t folder;            /* the length of the folder's part */
    bool group;
};

/* Prepares the name, since a signal handler may not format one. */
void stet_store_quarantine_place(const struct stet_store *s, struct stet_hash key,
                                 struct stet_strike_place *out);
/* Notes a strike; p->note is the file then. Calls only what POSIX lists as safe in a signal
 * handler. False when all strikes are noted already, or when it can't be noted. */
bool stet_store_quarantine_strike(struct stet_strike_place *p, const char *why, size_t n);
/* Returns how long a load may take: ten seconds, or twice the compile time if that is longer,
 * unless STET_STORE_LOAD_MS is set. */
uint64_t stet_store_quarantine_patience_ns(const struct stet_store *s, uint64_t compile_ns);
/* The load returned an error: writes a note and removes the entry. */
void stet_store_quarantine_failed(const struct stet_store *s, struct stet_hash key,
                                  struct stet_view why);

#endif
