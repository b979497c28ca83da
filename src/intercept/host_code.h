/* Describes what an executable with code for the host's processor depends on. It is part of the
 * store's key. identity.c calls it. */
#ifndef STET_INTERCEPT_HOST_CODE_H
#define STET_INTERCEPT_HOST_CODE_H

#include "base/view.h"

/* The processor's instruction sets, as one line; valid as long as the process. */
struct stet_view stet_host_code_features(void);
/* Does this program request that a part of it be compiled for the host (compute_on("device_host"))?
 * Checks only the bytes, so a program that merely mentions it may match too. */
bool stet_host_code_wanted(struct stet_view program);

#endif
