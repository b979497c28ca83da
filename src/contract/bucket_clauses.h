/* Writes a set of buckets into a contract: the dimensions that vary may have these sizes and no
 * others. Only the families that change are printed anew. */
#ifndef STET_CONTRACT_BUCKET_CLAUSES_H
#define STET_CONTRACT_BUCKET_CLAUSES_H

#include "session/run_sizes.h"

struct stet_bucket_clause {
    struct stet_buckets_curve *curve;          /* its best set is written */
    const struct stet_size_function *function; /* whose sizes they are; NULL: of the next two */
    const char *function_name, *argument;      /* "tokens:1" */
};

/* Adds to *changed. STET_NOT_FOUND if no family has these arguments. */
enum stet_rc stet_contract_buckets(const char *file, const struct stet_bucket_clause *b,
                                   uint32_t *changed, struct stet_err *err);

#endif
