/* Shared by pod.c, pod_join.c, pod_turn.c and pod_host.c. No other file includes it. */
#ifndef STET_INTERCEPT_POD_INTERNAL_H
#define STET_INTERCEPT_POD_INTERNAL_H

#include "intercept/layer.h"
#include "intercept/pod.h"
#include "intercept/pod_kv.h"
#include "intercept/wait.h"
#include "intercept/writer.h"
#include "pod/launcher.h"
#include "pod/member.h"

enum { STET_POD_SCOPES_MOST = 32, STET_POD_EXECUTABLES = 1 << 16, STET_POD_NAMES = 1024 };

struct stet_pod_turn {
    atomic_int holders;
    struct stet_pod_turn *next; /* in the queue, then in the list of open turns */
    struct stet_pod_entry entry;
    unsigned scope; /* its number in the list of scopes + 1; 0 for a program of one process */
    uint64_t begin_ns, index;
    bool open;             /* the compile has not ended; with the lock */
    _Atomic int64_t other; /* the rank that it differs from, + 1 */
    _Atomic int finding;
    struct stet_flag settled;
};

/* The ranks that some program runs on. */
struct stet_pod_ranks {
    struct stet_hash hash;
    uint32_t *ranks;
    size_t count;
    _Atomic uint64_t runs; /* executions of its programs */
};

/* Why and how this process takes part; set when it joins. */
struct stet_pod_settings {
    int64_t rank, world;
    struct stet_pod_place place;
    bool spans;   /* the client's devices belong to several processes */
    bool refuses; /* compiles that differ */
    uint32_t late_ms;
    char only[16]; /* the one channel to try; "" for all */
};

struct stet_pod {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    enum { STET_POD_OFF, STET_POD_STARTING, STET_POD_ON, STET_POD_OVER } state;
    struct stet_pod_settings set;
    uint32_t client; /* whose key-value store is used; 0 for none */
    struct stet_pod_kv kv;
    bool has_kv;
    struct stet_pod_folder folder;
    struct stet_pod_channel channel;
    char why[160]; /* there is no channel */
    struct stet_pod_member *member;
    struct stet_pod_turn *queue, *open; /* not entered yet; entered and not settled */
    struct stet_pod_ranks scopes[STET_POD_SCOPES_MOST];
    size_t scope_count;
    bool stop, running, has_condition;
    atomic_bool job_written;
    bool start_awaited;   /* a compile has waited in vain for a channel to be chosen */
    uint64_t cpu_ns;      /* of threads that have ended */
    int users;            /* of the channel, beside the thread */
    _Atomic uint8_t *of;  /* by executable: its scope's number + 1 */
    char (*names)[64];    /* by executable: the function */
    uint64_t *indexes;    /* by entry number % STET_POD_NAMES: the compile, + 1 */
    int compiles;         /* that are open; with the lock */
    atomic_bool overlaps; /* two were open at once */
    _Atomic uint64_t loads, runs, last_run_ns, waited_ns, compared;
    _Atomic uint32_t last_executable;
    _Atomic uintptr_t py_state, py_code_type;
    char flags[STET_POD_FLAGS];
    char compiling[STET_POD_NAME];
};

extern struct stet_pod stet_pod;

/* The callbacks of the member. */
void stet_intercept_pod_host(struct stet_pod_host *out);
/* On the pod's thread: chooses a channel and says so in the journal. False if there is none. */
bool stet_intercept_pod_choose(void);
/* Writes the process's place, and how it compares; `why` it does not, or NULL. Once. */
void stet_intercept_pod_write_job(struct stet_hash job, const char *why);
/* Writes what comparing took. `ended`: the thread that compares has. */
void stet_intercept_pod_summary(bool ended);

#endif
