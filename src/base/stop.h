/* Lets a command clean up when it is interrupted. After stet_stop_catch, SIGINT, SIGTERM and SIGHUP
 * no longer end the process: loops that wait ask stet_stop_asked and return, their callers release
 * what they have, and stet_stop_obey then ends the process by that signal. A second signal ends it
 * at once. */
#ifndef STET_BASE_STOP_H
#define STET_BASE_STOP_H

#include <stdbool.h>

/* A signal that is ignored, as under nohup, stays ignored. */
void stet_stop_catch(void);
/* In a child after fork: signals end it again. */
void stet_stop_forget(void);
bool stet_stop_asked(void);
/* Does nothing if no signal came. */
void stet_stop_obey(void);

#endif
