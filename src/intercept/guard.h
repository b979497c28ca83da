/* A per-thread re-entry guard: a plugin may wrap another plugin that the layer watches too. Only
 * the outer call is counted. */
#ifndef STET_INTERCEPT_GUARD_H
#define STET_INTERCEPT_GUARD_H

#include <stdbool.h>

/* A pthread key instead of thread-local storage: it needs no static TLS, and its allocation cannot
 * fail in the middle of a thread of the host. */
bool stet_guard_init(void);
/* True if this thread was outside; then it is inside until stet_guard_leave. */
bool stet_guard_enter(void);
void stet_guard_leave(void);
bool stet_guard_inside(void);

#endif
