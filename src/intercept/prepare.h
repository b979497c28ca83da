/* Prepares what the first compile of a process would wait for, while the plugin creates its client.
 * The hook of client creation calls it; only the first call of a process has an effect. */
#ifndef STET_INTERCEPT_PREPARE_H
#define STET_INTERCEPT_PREPARE_H

#include "intercept/plugin.h"

/* Once per process; returns at once. */
void stet_prepare(struct stet_plugin *p);

#endif
