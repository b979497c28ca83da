/* `stet run --cpu`: makes the embedded CPU backend the device of the command's framework. It is
 * called before the command starts and only edits the environment. */
#ifndef STET_LAUNCH_CPU_H
#define STET_LAUNCH_CPU_H

#include "launch/child_env.h"

/* The file of the backend. */
#define STET_LAUNCH_CPU_LIBRARY "libstet_cpu.so"
/* How many devices it has at most (STET_MAX_DEVICES of the backend). */
enum { STET_LAUNCH_CPU_DEVICES = 32768 };

struct stet_launch_cpu_options {
    const char *devices; /* how many devices it has; "": as many as the environment says */
    bool zeros;          /* programs return zeros and are not computed */
    bool strict;         /* a program that it cannot run fails */
};

/* Sets the variables that each framework reads. It does not change a platform that the user
 * selected. `folder` is the run's folder, for links. */
enum stet_rc stet_launch_cpu(struct stet_launch_env *env, const char *folder,
                             const struct stet_launch_cpu_options *options, struct stet_err *err);
/* Is it a number of devices that the backend can have, or empty? */
bool stet_launch_cpu_devices_ok(const char *devices);

#endif
