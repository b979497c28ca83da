/* Removes the content of a program's large constants before it is captured: makes a copy of the
 * same length in which each is replaced by its hash. The copy can be read as before and differs
 * where the constants differ. */
#ifndef STET_INTERCEPT_CONSTANTS_H
#define STET_INTERCEPT_CONSTANTS_H

#include "base/err.h"
#include "base/view.h"

/* Constants of this many bytes or more are large. */
#define STET_CONSTANT_LARGE 1024

/* `**out` has bytes.len bytes (stet_mem_free). STET_UNSUPPORTED if constants cannot be found in
 * this format, or if the program cannot be read; then nothing of it may be kept. */
enum stet_rc stet_constants_strip(struct stet_view format, struct stet_view bytes, char **out);

#endif
