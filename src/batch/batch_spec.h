/* What a contract allows the arguments of functions to be, for the Python module. */
#ifndef STET_BATCH_BATCH_SPEC_H
#define STET_BATCH_BATCH_SPEC_H

/* Reads a contract and returns JSON, which stet_batch_free frees:
 *   {"families":[{"name":…,"arguments":[{"name":…,"many":…,"types":[…],"dims":[…]|null}]}]}
 * A dimension is null (any size), a list of sizes, or {"low":…,"high":…,"step":…}. On failure it is
 * {"error":"FILE:LINE:COLUMN: what"}. NULL when out of memory. */
char *stet_batch_spec(const char *path);
void stet_batch_free(char *text);

#endif
