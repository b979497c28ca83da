/* Counts where a run's executables came from when they were not compiled: memory, the store, or a
 * tier of the agent. The names in a tally are views into the digest, which must outlive it. */
#ifndef STET_SESSION_SERVED_H
#define STET_SESSION_SERVED_H

#include "base/json.h"
#include "ledger/run_load.h"

enum { STET_PLACES = 12 };

/* Counts by tier if the agent fetched the executable, otherwise by its location; names are views
 * into the digest. */
struct stet_served_tally {
    struct stet_view name[STET_PLACES];
    enum stet_served served[STET_PLACES];
    uint64_t count[STET_PLACES], compiled;
    uint64_t elsewhere; /* served neither from memory nor from the store of this host */
    size_t places;
};

void stet_session_served_count(struct stet_served_tally *t, const struct stet_run_digest *d);
/* Counts what was compiled and not stored, by the reason. */
void stet_session_served_unkept(struct stet_served_tally *t, const struct stet_run_digest *d);
/* Appends ", 3 from memory, 10 from redis", or nothing if everything was compiled. */
void stet_session_served_text(struct stet_buf *out, const struct stet_run_digest *d);
/* Writes "memory": 3, "redis": 10 into an open object; the second function puts "compiled": 4 in
 * front. */
void stet_served_tally_json(struct stet_json *j, const struct stet_served_tally *t);
void stet_session_served_json(struct stet_json *j, const struct stet_run_digest *d);

#endif
