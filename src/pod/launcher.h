/* The place of a process in a job of several processes, as its launcher gives it in environment
 * variables: its rank, how many there are, and which job it is. launchers.def lists the launchers.
 * The layer asks for its own process, and readers ask for the processes of a journal. */
#ifndef STET_POD_LAUNCHER_H
#define STET_POD_LAUNCHER_H

#include "base/hash.h"
#include "base/view.h"

enum { STET_POD_RANKS_MOST = 1 << 20 };

struct stet_pod_place {
    const char *launcher;            /* its name; NULL if none was recognised */
    int64_t rank;                    /* -1 when not known */
    int64_t world;                   /* how many processes; 0 when not known */
    int64_t local_rank, local_world; /* of those on this host; -1 and 0 when not known */
    struct stet_hash job;            /* the same in all processes of a job; zero when not known */
};

/* Returns the value of a variable, or NULL. */
typedef const char *stet_pod_variable(void *context, const char *name);

/* Reads the variables through `get`. A rank that is not a plain number, or not below the number of
 * processes, is not believed. */
void stet_pod_launcher_place(struct stet_pod_place *out, stet_pod_variable *get, void *context);
/* Of this process. */
void stet_pod_launcher_own(struct stet_pod_place *out);
/* Of a list of NAME=value. */
void stet_pod_launcher_listed(struct stet_pod_place *out, const struct stet_view *list,
                              size_t count);
/* Is it a variable that this file reads? */
bool stet_pod_launcher_reads(struct stet_view name);

#endif
