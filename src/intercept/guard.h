/* Per-thread re-entry guard: a plugin may be a wrapper around another plugin that we watch too. */
#ifndef STET_INTERCEPT_GUARD_H
#define STET_INTERCEPT_GUARD_H

#include <stdbool.h>

/* A pthread key and not thread-local storage: it costs no static TLS, and its memory can't be the
 * thing that fails in the middle of somebody's thread. */
bool stet_intercept_guard_init(void);
/* True when this thread was outside; then it is inside until stet_intercept_guard_leave. */
bool stet_intercept_guard_enter(void);
void stet_intercept_guard_leave(void);
bool stet_intercept_guard_inside(void);

#endif
