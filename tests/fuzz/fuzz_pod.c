/* Messages between the ranks of a job. Reading ends in a message or an error, texts are terminated
 * and counts are in bounds, also if the checksum is right. A rank whose channel holds such messages
 * goes on, and asks a bounded number of questions. */
#include "fuzz.h"

#include "base/hash.h"
#include "pod/member.h"

#define MAGIC "STETPOD"

/* A message of a hostile rank: its checksum fits. */
static void seal(struct stet_buf *out, const char *key, unsigned kind, struct stet_view body)
{
    out->len = 0;
    stet_buf_str(out, MAGIC);
    stet_buf_char(out, STET_POD_VERSION);
    stet_buf_char(out, (char)kind);
    stet_buf_view(out, body);
    stet_buf_u64(out, stet_hash_mix(stet_hash_bytes(stet_buf_as_view(out)),
                                    stet_hash_bytes(stet_view_str(key)))
                          .lo);
}

#define ENDS(text) CHECK(memchr(text, '\0', sizeof(text)) != NULL)

static void check_entry(const struct stet_pod_entry *e)
{
    ENDS(e->name);
}

static void check_state(const struct stet_pod_state *s)
{
    ENDS(s->program);
    ENDS(s->file);
    ENDS(s->function);
    ENDS(s->host);
}

static void read_all(struct stet_view message)
{
    static struct stet_pod_batch batch;
    static struct stet_pod_report report;
    struct stet_view bytes;

    if (stet_pod_message_read_batch(&batch, "k", message) == STET_OK) {
        CHECK(batch.entry_count <= STET_POD_BATCH_ENTRIES && batch.count_count <= STET_POD_COUNTS);
        for (uint32_t i = 0; i < batch.entry_count; i++)
            check_entry(&batch.entries[i]);
        check_state(&batch.state);
    }
    if (stet_pod_message_read_report(&report, "k", message) == STET_OK) {
        check_entry(&report.own);
        check_entry(&report.theirs);
        check_state(&report.state);
        ENDS(report.flags);
    }
    for (int kind = STET_POD_HERE; kind <= STET_POD_PIECE; kind++) {
        if (stet_pod_message_read_bytes(&bytes, "k", (enum stet_pod_message)kind, message) ==
            STET_OK)
            CHECK(bytes.len <= message.len);
    }
}

/* ---- a rank ---- */

static struct stet_view input;
static uint64_t clock_ns, questions;

static enum stet_rc put(void *self, const char *key, struct stet_view value, struct stet_err *err)
{
    (void)self, (void)value, (void)err;
    return strncmp(key, "rank/", 5) == 0 ? STET_OK : STET_REFUSED;
}

/* The kind that a reader of the key expects. */
static unsigned kind_of(const char *key)
{
    return !strncmp(key, "log/", 4)                             ? STET_POD_BATCH
           : !strncmp(key, "differs/", 8)                       ? STET_POD_REPORT
           : !strncmp(key, "here/", 5)                          ? STET_POD_HERE
           : !strncmp(key, "pro", 3) || !strncmp(key, "opt", 3) ? STET_POD_PIECE
                                                                : STET_POD_TEXT;
}

static enum stet_rc get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err)
{
    struct stet_buf message = STET_BUF_INIT;

    (void)self, (void)wait_ms, (void)err;
    questions++;
    if (input.len && (unsigned char)input.ptr[questions % input.len] < 64)
        return STET_NOT_FOUND;
    seal(&message, key, kind_of(key), input);
    stet_buf_view(out, stet_buf_as_view(&message));
    stet_buf_release(&message);
    return STET_OK;
}

static uint64_t executions(void *context, struct stet_hash scope)
{
    (void)context, (void)scope;
    return 1;
}

static void describe(void *context, struct stet_pod_state *out)
{
    (void)context;
    *out = (struct stet_pod_state){.executions = 1};
}

static bool captured(void *context, struct stet_hash hash, bool options, struct stet_buf *out)
{
    (void)context, (void)hash, (void)options, (void)out;
    return false;
}

static void keep(void *context, struct stet_hash hash, bool options, struct stet_view bytes)
{
    (void)context, (void)hash, (void)options;
    CHECK(bytes.len < (size_t)64 << 20);
}

static void flags(void *context, char out[STET_POD_FLAGS])
{
    (void)context;
    out[0] = '\0';
}

static void verdict(void *context, const struct stet_pod_verdict *v)
{
    (void)context;
    check_entry(&v->own);
    check_entry(&v->theirs);
    check_state(&v->state);
    ENDS(v->flags);
}

static void joined(void *context, struct stet_hash job)
{
    (void)context, (void)job;
}

static uint64_t now(void *context)
{
    (void)context;
    return clock_ns;
}

static void follow(int64_t rank, enum stet_pod_reach reach)
{
    static const struct stet_pod_channel_kind kind = {
        .word = "fuzz", .value_most = 1 << 20, .put = put, .get = get};
    const struct stet_pod_host host = {NULL,  executions, describe, captured, keep,
                                       flags, verdict,    joined,   now};
    const uint32_t all[3] = {0, 1, 2};
    struct stet_pod_entry e = {.part = {{1, 2}}, .bytes = {3, 4}, .name = "step"};
    struct stet_pod_channel channel;
    struct stet_pod_timing timing;
    struct stet_pod_member *m;

    clock_ns = UINT64_C(1000000000000);
    questions = 0;
    stet_pod_timing_init(&timing, 3);
    stet_pod_channel_init(&channel, &kind, NULL, "", reach);
    CHECK(stet_pod_member_new(&m, rank, 3, &channel, &timing, &host, NULL) == STET_OK);
    e.scope = stet_pod_member_scope(m, all, 3);
    stet_pod_member_enter(m, &e, clock_ns);
    for (int i = 0; i < 200; i++) {
        stet_pod_member_tick(m);
        clock_ns += 500000000;
    }
    CHECK(questions < 20000);
    stet_pod_member_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_buf message = STET_BUF_INIT;

    input = stet_view_of(data, size);
    read_all(input);
    for (unsigned kind = STET_POD_BATCH; kind <= STET_POD_PIECE; kind++) {
        seal(&message, "k", kind, input);
        read_all(stet_buf_as_view(&message));
    }
    stet_buf_release(&message);
    follow(0, STET_POD_REACH_JOB);
    follow(2, STET_POD_REACH_ALL);
    return 0;
}
