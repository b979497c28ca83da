/* The second half of run_sizes.h: what varied in a function, once all its programs are known. */
#ifndef STET_SESSION_RUN_SIZES_INTERNAL_H
#define STET_SESSION_RUN_SIZES_INTERNAL_H

#include "session/run_sizes.h"

/* False when out of memory. */
bool stet_session_sizes_judge(struct stet_run_sizes *s, struct stet_size_function *f);

#endif
