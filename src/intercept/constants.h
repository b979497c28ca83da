/* A program without what its large constants hold: a copy of the same length in which each gives
 * way to its hash, so that it reads as before and differs where the constants differ. */
#ifndef STET_INTERCEPT_CONSTANTS_H
#define STET_INTERCEPT_CONSTANTS_H

#include "base/err.h"
#include "base/view.h"

/* Constants of so many bytes and more are large. */
#define STET_CONSTANT_LARGE 1024

/* `**out` has bytes.len bytes (stet_mem_free). STET_UNSUPPORTED when the program is of a format
 * whose constants we can't find, or can't be read; then nothing may be kept of it. */
enum stet_rc stet_constants_strip(struct stet_view format, struct stet_view bytes, char **out);

#endif
