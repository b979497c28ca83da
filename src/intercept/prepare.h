/* What the first compile of a process would wait for, made ready while the plugin makes its client.
 */
#ifndef STET_INTERCEPT_PREPARE_H
#define STET_INTERCEPT_PREPARE_H

#include "intercept/plugin.h"

/* Once a process; returns at once. */
void stet_prepare(struct stet_plugin *p);

#endif
