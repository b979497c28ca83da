/* Settings of the layer that are numbers. */
#ifndef STET_INTERCEPT_LAYER_NUMBER_H
#define STET_INTERCEPT_LAYER_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a variable of the environment: a whole number, or `off` for 0. False if it is not set or
 * empty, and also, with a line in the log, if it is another text: then *out, the default, is
 * unchanged. A number that is too large is UINT64_MAX. */
bool stet_layer_number(const char *name, uint64_t *out);

#endif
