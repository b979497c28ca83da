/* A way for the processes of a job to leave short messages for each other, out of band: a key can
 * be written once, and any process can read it. No collective is involved.
 *
 * The kinds are the job's key-value store, JAX's coordination service, a folder that all processes
 * see, and the agent (src/intercept/pod_*.c, folder.c). A channel that fails, or takes too long,
 * several times in a row is given up: later calls fail at once. */
#ifndef STET_POD_CHANNEL_H
#define STET_POD_CHANNEL_H

#include "base/buf.h"
#include "base/err.h"

#include <stdatomic.h>

struct stet_pod_channel_kind {
    const char *word;  /* in output and settings */
    size_t value_most; /* bytes of one value */
    bool whole;        /* every process of the job uses the same one */
    bool lent;         /* the framework frees it when it destroys its client */
    /* STET_OK; STET_REFUSED: the key has a value already. Others are failures. */
    enum stet_rc (*put)(void *self, const char *key, struct stet_view value, struct stet_err *err);
    /* Appends the value to *out, after waiting up to `wait_ms` for it. STET_NOT_FOUND: there is
     * none. Others are failures. */
    enum stet_rc (*get)(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err);
};

/* What went through it; read by any thread. */
struct stet_pod_traffic {
    _Atomic uint64_t puts, gets, bytes_out, bytes_in, failures, spent_ns;
};

struct stet_pod_channel {
    const struct stet_pod_channel_kind *kind;
    void *self;
    char prefix[48]; /* before every key */
    struct stet_pod_traffic traffic;
    _Atomic unsigned troubles; /* in a row */
    atomic_bool given_up, closed;
    uint64_t given_up_ns;
    char why[160]; /* both are set before `given_up` */
};

enum { STET_POD_KEY = 160 };

void stet_pod_channel_init(struct stet_pod_channel *c, const struct stet_pod_channel_kind *kind,
                           void *self, const char *prefix);
/* As the functions of the kind, and counted. STET_IO at once if the channel was given up or closed.
 * Both may be called by several threads. */
enum stet_rc stet_pod_channel_put(struct stet_pod_channel *c, const char *key,
                                  struct stet_view value);
enum stet_rc stet_pod_channel_get(struct stet_pod_channel *c, const char *key, uint32_t wait_ms,
                                  struct stet_buf *out);

/* ---- a folder that all processes of the job see ---- */

struct stet_pod_folder {
    char path[4096];
};

extern const struct stet_pod_channel_kind stet_pod_folder_kind; /* self: a struct stet_pod_folder */
/* Creates it if need be. STET_REFUSED if it belongs to another user or others may write to it. */
enum stet_rc stet_pod_folder_open(struct stet_pod_folder *f, const char *path,
                                  struct stet_err *err);
/* A folder below `path` for this job: one job after the other may use the same path. A job's folder
 * is not used any more when this rank was there, or when a process of this host that was there has
 * ended. */
enum stet_rc stet_pod_folder_join(struct stet_pod_folder *f, const char *path, int64_t rank,
                                  struct stet_err *err);

#endif
