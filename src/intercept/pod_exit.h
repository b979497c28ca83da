/* Leaves the job while Python ends, before the framework frees the key-value store that it lent. */
#ifndef STET_INTERCEPT_POD_EXIT_H
#define STET_INTERCEPT_POD_EXIT_H

/* Calls `leave` once when Python begins to end. Does not wait, and does nothing if there is no
 * usable Python. */
void stet_intercept_pod_exit_watch(void (*leave)(void));

#endif
