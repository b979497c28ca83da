/* Times as people write them in options, URLs and variables: 500ms, 2s, 10m, 1h. */
#ifndef STET_BASE_DURATION_H
#define STET_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

enum { STET_DURATION_MS = 1, STET_DURATION_S = 1000 };

/* Reads the whole text into milliseconds; a number without a unit is in `unit` milliseconds. False
 * when it is not a time, or above `most` milliseconds; *ms is then unchanged. */
bool stet_duration_read(const char *text, uint32_t unit, uint32_t most, uint32_t *ms);

#endif
