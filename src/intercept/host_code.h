/* What an executable that holds code for the host's processor depends on. */
#ifndef STET_INTERCEPT_HOST_CODE_H
#define STET_INTERCEPT_HOST_CODE_H

#include "base/view.h"

/* The processor's instruction sets, as one line; for the life of the process. */
struct stet_view stet_host_features(void);
/* Does this program ask that part of it be compiled for the host (compute_on("device_host"))? Looks
 * at the bytes alone, so it may say so of one that only mentions it. */
bool stet_host_wanted(struct stet_view program);

#endif
