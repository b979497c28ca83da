/* Finds descendants of the command that the layer cannot reach, and why. `stet run` samples /proc
 * while the command runs. The caller's struct holds what was found, until it is released. */
#ifndef STET_LAUNCH_WATCH_H
#define STET_LAUNCH_WATCH_H

#include "base/json.h"

#include <sys/types.h>

struct stet_stranger {
    pid_t pid;
    const char *reason; /* a literal */
    char command[64];
};

/* A process and the file it runs. One pid may have several files, because of fork and exec. */
struct stet_known {
    pid_t pid;
    ino_t program;
};

/* The state of the samples. A process that lives shorter than the interval may be missed. */
struct stet_launch_watch {
    const char *library;      /* file name of the preloaded layer */
    struct stet_known *known; /* already examined */
    size_t known_count, known_room;
    struct stet_stranger strangers[32];
    size_t stranger_count; /* may exceed the array: the rest is only counted */
};

void stet_launch_watch_init(struct stet_launch_watch *w, const char *library);
void stet_launch_watch_release(struct stet_launch_watch *w);
/* Examines `root` and all its descendants once. */
void stet_launch_watch_sample(struct stet_launch_watch *w, pid_t root);
void stet_launch_watch_json(const struct stet_launch_watch *w, struct stet_json *j);

#endif
