/* Loads every entry of a store back, in child processes, and reports which entries still load.
 * `stet cache verify` calls it. The results are in memory shared with the children, until
 * stet_warm_verify_release. */
#ifndef STET_WARM_VERIFY_H
#define STET_WARM_VERIFY_H

#include "base/hash.h"
#include "store/store.h"

enum stet_verify_verdict {
    STET_VERIFY_NOT_YET,
    STET_VERIFY_LOADING,
    STET_VERIFY_LOADED,
    STET_VERIFY_DAMAGED,
    STET_VERIFY_REFUSED,
    STET_VERIFY_NO_PLUGIN,
    STET_VERIFY_OTHER_BUILD,
    STET_VERIFY_UNSAFE_PLUGIN,
    STET_VERIFY_NO_CLIENT,
};

/* One entry, in memory that parent and child share. */
struct stet_verify_entry {
    struct stet_hash key;
    enum stet_verify_verdict verdict;
    char name[64], plugin[256], detail[256];
};

struct stet_verify {
    struct stet_verify_entry *items;
    size_t count, size; /* size: of the shared memory, in bytes */
};

/* After a failure there is nothing to release. */
enum stet_rc stet_warm_verify_store(const struct stet_store *s, struct stet_verify *v,
                                    struct stet_err *err);
void stet_warm_verify_release(struct stet_verify *v);
/* Returns the verdict as text, "the plugin refused it". */
const char *stet_warm_verify_words(enum stet_verify_verdict verdict);
/* Was the entry tried, so that the verdict is about the entry? */
bool stet_warm_verify_tried(enum stet_verify_verdict verdict);

#endif
