/* A way for the processes of a job to leave short messages for each other, out of band: a key can
 * be written once, and any process can read it. No collective is involved.
 *
 * The kinds are the job's key-value store, JAX's coordination service, a folder that all processes
 * see, and the agent (src/intercept/pod_*.c, folder.c). A channel is given up if it fails or takes
 * too long several times in a row, or returns values that were not written: later calls fail at
 * once. */
#ifndef STET_POD_CHANNEL_H
#define STET_POD_CHANNEL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#include <stdatomic.h>

struct stet_pod_channel_kind {
    const char *word;  /* in output and settings */
    size_t value_most; /* bytes of one value */
    bool lent;         /* the framework frees it when it destroys its client */
    /* STET_OK; STET_REFUSED: the key has a value already; STET_UNSUPPORTED, for both functions: the
     * channel has ended, as its job does. Others are failures. */
    enum stet_rc (*put)(void *self, const char *key, struct stet_view value, struct stet_err *err);
    /* Appends the value to *out, after waiting up to `wait_ms` for it. STET_NOT_FOUND: there is
     * none. Others are failures, also a value of more than `value_most` bytes. */
    enum stet_rc (*get)(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err);
};

/* What went through it; read by any thread. */
struct stet_pod_traffic {
    _Atomic uint64_t puts, gets, bytes_out, bytes_in, failures, damaged, spent_ns;
};

/* What may be expected of a channel. */
enum stet_pod_reach {
    /* Others of the job may have another one: a rank that is not seen here may be elsewhere, and
     * messages of an earlier launch may be here. */
    STET_POD_REACH_SOME,
    STET_POD_REACH_ALL, /* all processes of the job have this one, and earlier launches may have */
    STET_POD_REACH_JOB, /* all processes of the job have it, and it holds nothing older */
};

struct stet_pod_channel {
    const struct stet_pod_channel_kind *kind;
    void *self;
    enum stet_pod_reach reach;
    char prefix[48];      /* before every key */
    struct stet_hash job; /* of pod_launch.h; zero if not known */
    struct stet_pod_traffic traffic;
    _Atomic unsigned troubles; /* in a row */
    atomic_bool giving_up, given_up, closed;
    uint64_t begin_ns, given_up_ns;
    char why[160]; /* it and given_up_ns are set before `given_up` */
};

enum { STET_POD_KEY = 160 };

void stet_pod_channel_init(struct stet_pod_channel *c, const struct stet_pod_channel_kind *kind,
                           void *self, const char *prefix, enum stet_pod_reach reach);
/* As the functions of the kind, and counted. STET_IO at once if the channel was given up or closed.
 * Both may be called by several threads. */
enum stet_rc stet_pod_channel_put(struct stet_pod_channel *c, const char *key,
                                  struct stet_view value);
enum stet_rc stet_pod_channel_get(struct stet_pod_channel *c, const char *key, uint32_t wait_ms,
                                  struct stet_buf *out);
/* Nothing if it was given up before. */
void stet_pod_channel_give_up(struct stet_pod_channel *c, const char *why);
/* Was it given up or closed? */
bool stet_pod_channel_is_over(const struct stet_pod_channel *c);
/* A value that no rank wrote in this form was read. After several the channel is given up. */
void stet_pod_channel_damaged(struct stet_pod_channel *c, enum stet_rc rc);

/* ---- a folder that all processes of the job see ---- */

struct stet_pod_folder {
    char path[4096];
};

extern const struct stet_pod_channel_kind stet_pod_folder_kind; /* self: a struct stet_pod_folder */
/* Creates it if need be. STET_REFUSED if it belongs to another user or others may write to it. */
enum stet_rc stet_pod_folder_open(struct stet_pod_folder *f, const char *path,
                                  struct stet_err *err);
#endif
