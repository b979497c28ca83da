/* Where the executables of a run came from that were not compiled. */
#ifndef STET_SESSION_SERVED_H
#define STET_SESSION_SERVED_H

#include "base/json.h"
#include "ledger/run_load.h"

enum { STET_PLACES = 12 };

/* By tier where the agent fetched it, else by where it lay; names are views into the digest. */
struct stet_served_tally {
    struct stet_view name[STET_PLACES];
    uint64_t count[STET_PLACES], compiled;
    uint64_t elsewhere; /* served neither from memory nor from the store of this host */
    size_t places;
};

void stet_served_count(struct stet_served_tally *t, const struct stet_run_digest *d);
/* What was compiled and not kept, by its reason. */
void stet_served_unkept(struct stet_served_tally *t, const struct stet_run_digest *d);
/* ", 3 from memory, 10 from redis"; nothing when all was compiled. */
void stet_served_text(struct stet_buf *out, const struct stet_run_digest *d);
/* "memory": 3, "redis": 10 into an open object; the second with "compiled": 4 in front. */
void stet_served_tally_json(struct stet_json *j, const struct stet_served_tally *t);
void stet_served_json(struct stet_json *j, const struct stet_run_digest *d);

#endif
