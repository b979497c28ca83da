/* The agent as a channel: it keeps the messages of a job in a tier. */
#include "intercept/pod_kv.h"

#include "base/clock.h"
#include "intercept/remote.h"
#include "wire/client.h"

#include <time.h>

/* A text of the wire has at most a quarter of STET_WIRE_MAX. */
enum {
    VALUE_MOST = STET_WIRE_MAX / 4 - 64,
    ANSWER_MS = 3000,
    PAUSE_MIN_MS = 50,
    PAUSE_MAX_MS = 500
};

static enum stet_rc ask(uint32_t kind, const char *key, struct stet_view value,
                        struct stet_buf *out, struct stet_err *err)
{
    const struct stet_message question = {
        .kind = kind, .key = stet_hash_bytes(stet_view_str(key)), .text = value};
    uint64_t until = stet_wire_now_ms() + ANSWER_MS;
    struct stet_message answer;
    struct stet_wire l;
    enum stet_rc rc = stet_remote_connect(&l, err);

    if (rc != STET_OK)
        return STET_IO;
    rc = stet_wire_send(&l, &question, until, err);
    if (rc == STET_OK)
        rc = stet_wire_receive(&l, &answer, until, err);
    if (rc != STET_OK) {
        rc = STET_IO;
    } else if (answer.kind == STET_MESSAGE_TEXT) {
        stet_buf_view(out, answer.text);
    } else if (answer.kind == STET_MESSAGE_TAKEN) {
        rc = STET_REFUSED;
    } else if (answer.kind == STET_MESSAGE_NOTHING) {
        rc = STET_NOT_FOUND;
    } else if (answer.kind != STET_MESSAGE_OKAY) {
        rc = stet_fail(err, STET_IO, "the agent: %.*s", STET_FMT(answer.text));
    }
    stet_wire_close(&l);
    return rc;
}

static enum stet_rc put(void *self, const char *key, struct stet_view value, struct stet_err *err)
{
    struct stet_buf unused = STET_BUF_INIT;
    enum stet_rc rc = ask(STET_MESSAGE_JOB_PUT, key, value, &unused, err);

    (void)self;
    stet_buf_release(&unused);
    return rc;
}

static enum stet_rc get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err)
{
    int64_t until = stet_clock_ms() + wait_ms;
    long pause = PAUSE_MIN_MS;
    enum stet_rc rc;

    (void)self;
    while ((rc = ask(STET_MESSAGE_JOB_GET, key, (struct stet_view){0}, out, err)) ==
               STET_NOT_FOUND &&
           stet_clock_ms() < until) {
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000000}, NULL);
        pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
    }
    return rc;
}

const struct stet_pod_channel_kind stet_pod_agent_kind = {
    .word = "agent", .value_most = VALUE_MOST, .put = put, .get = get};
