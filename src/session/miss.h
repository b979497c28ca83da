/* Explains why the store did not serve a compile: the nearest entry, and the first component in
 * which it differs. stet_misses_make examines the run's compiles and the store once. The texts are
 * valid until stet_misses_release. */
#ifndef STET_SESSION_MISS_H
#define STET_SESSION_MISS_H

#include "base/json.h"
#include "ledger/run_load.h"
#include "session/served.h"
#include "store/store.h"

struct stet_miss {
    struct stet_view name;     /* of the program */
    enum stet_outcome outcome; /* a miss, or why there was no lookup */
    struct stet_view word;     /* of the outcome */
    bool has_moved;            /* false when no entry is near: a new program */
    enum stet_component moved; /* the first component that differs */
    struct stet_view from, to; /* that component in the nearest entry, and here */
    struct stet_view detail;   /* which facet of the program or which option; may be empty */
    struct stet_hash nearest;  /* zero for none */
    unsigned also;             /* further components that differ */
};

struct stet_misses {
    struct stet_arena arena;
    struct stet_miss *items;
    size_t count;
    uint64_t compiles, served;       /* of the run */
    struct stet_served_tally places; /* where the served ones came from */
};

/* Explains every compile of a run that was not served. Entries that the run itself wrote are not
 * used as the nearest. */
enum stet_rc stet_misses_make(struct stet_misses *m, const struct stet_run_digest *d,
                              struct stet_err *err);
void stet_misses_release(struct stet_misses *m);

/* Writes the misses as an array under `key`. */
void stet_misses_json(const struct stet_misses *m, struct stet_json *j, const char *key);

#endif
