/* Runs the command of `stet run` as if Stet were not there: terminal, signals, exit code. The
 * caller starts the child, waits for it, and ends in the same way. There is one child per
 * process. */
#ifndef STET_LAUNCH_CHILD_H
#define STET_LAUNCH_CHILD_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct stet_launch_child {
    pid_t pid;
    int status; /* as waitpid gives it, once it has ended */
};

/* Starts argv with the environment `envp`. From then on, signals sent to us alone are forwarded to
 * the child. Signals to the whole process group or control group, from the terminal or another
 * process, reach it without us. Returns STET_NOT_FOUND or STET_IO when the command cannot be
 * executed. */
enum stet_rc stet_launch_child_start(struct stet_launch_child *c, char *const argv[],
                                     char *const envp[], struct stet_err *err);
/* Waits up to `milliseconds`; true once the child has ended. */
bool stet_launch_child_wait(struct stet_launch_child *c, int milliseconds);
/* Ends this process the way the child ended: its exit code, or its signal. */
_Noreturn void stet_launch_child_end_alike(const struct stet_launch_child *c);

#endif
