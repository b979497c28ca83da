/* Notices descendants of the command that the layer can't reach, and why. */
#ifndef STET_LAUNCH_WATCH_H
#define STET_LAUNCH_WATCH_H

#include "base/json.h"

#include <sys/types.h>

struct stet_stranger {
    pid_t pid;
    const char *reason; /* a literal */
    char command[64];
};

/* A process and the file it runs: fork and exec give one pid several. */
struct stet_known {
    pid_t pid;
    ino_t program;
};

/* Sampled from /proc, so a process shorter than the interval may be missed. */
struct stet_launch_watch {
    const char *library;      /* file name of the preloaded layer */
    struct stet_known *known; /* already looked at */
    size_t known_count, known_room;
    struct stet_stranger strangers[32];
    size_t stranger_count; /* may pass the array: the rest is only counted */
};

void stet_launch_watch_init(struct stet_launch_watch *w, const char *library);
void stet_launch_watch_release(struct stet_launch_watch *w);
/* Looks at `root` and everything below it once. */
void stet_launch_watch_sample(struct stet_launch_watch *w, pid_t root);
void stet_launch_watch_json(const struct stet_launch_watch *w, struct stet_json *j);

#endif
