/* The limits of a store, as users write them: "20G", "30d". */
#ifndef STET_STORE_LIMITS_H
#define STET_STORE_LIMITS_H

#include "store/store.h"

/* Parses the limits into `gc`; NULL is no limit. `names` are for the error message. */
enum stet_rc stet_store_limits(struct stet_store_gc *gc, const char *max_bytes, const char *max_age,
                               const char *const names[2], struct stet_err *err);
/* Called after a run. Applies the limits of STET_STORE_MAX_BYTES and STET_STORE_MAX_AGE, and
 * removes what dead writers left. `usual` becomes true where the size limit is the default.
 * Does nothing if `folder` is not a path, or the store is refused or read-only. */
enum stet_rc stet_store_tidy(const char *folder, struct stet_store_gc *gc, bool *usual,
                             struct stet_err *err);

#endif
