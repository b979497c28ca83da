/* A run of `stet run` on disk: its folder, its run.json, and the variables that connect the command
 * to it. The caller owns the struct. */
#ifndef STET_LAUNCH_RUN_START_H
#define STET_LAUNCH_RUN_START_H

#include "launch/child.h"
#include "launch/child_env.h"
#include "launch/watch.h"
#include "ledger/run_new.h"

#include <limits.h>

#define STET_LAUNCH_LAYER "libstet.so"

/* The contents of run.json. */
struct stet_launch_run {
    char id[STET_RUN_ID];
    char folder[PATH_MAX];
    struct timespec started, ended;
    char **argv;
    struct stet_launch_child child;
    struct stet_launch_watch watch;
    char trace[PATH_MAX]; /* where torch.compile's trace goes */
    char links[PATH_MAX]; /* the run's own folder for it */
    bool own_trace;       /* the user selected another folder */
    const char *metrics;  /* the address where they are served, or NULL */
    bool over;
};

static inline uint64_t stet_launch_run_ns(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Writes run.json: before the command starts, when its pid is known, and when it ends. So
 * everything the command does belongs to a run, even if `stet run` is killed. */
enum stet_rc stet_launch_run_write(const struct stet_launch_run *r, struct stet_err *err);
/* Removes a run whose command did not start. */
void stet_launch_run_forget(const struct stet_launch_run *r);
/* Sets the environment variables that each lane needs, and the folders of torch.compile's trace. */
enum stet_rc stet_launch_run_prepare(struct stet_launch_run *r, struct stet_launch_env *env,
                                     bool no_store, bool lift, struct stet_err *err);

#endif
