/* Runs the command on the CPU backend, which poses as the topology, and finds its run. */
#ifndef STET_FIT_FIT_LAUNCH_H
#define STET_FIT_FIT_LAUNCH_H

#include "base/err.h"
#include "base/view.h"
#include "fit/fit_topology.h"

struct stet_fit_launch {
    char **command;
    bool zeros;
    const char *pose, *account; /* a file, a folder */
    const char *oracle;         /* a socket, or NULL */
    const char *const *set;     /* NAME=value for its environment, NULL-terminated; or NULL */
};

/* The command's output goes to standard error. `id` is the run's; *status as waitpid gives it. */
enum stet_rc stet_fit_launch(const struct stet_fit_launch *l, const struct stet_fit_topology *t,
                             char *id, size_t room, int *status, struct stet_err *err);

#endif
