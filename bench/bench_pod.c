/* What comparing compiles costs the ranks of a job, by their number: all members run in this
 * process, over a board in memory, with a clock of their own. Counted are messages and bytes;
 * measured is the processor time of rank 0. A message over a network is put at POD_RPC_US (500,
 * what JAX's coordination service took on the machine of docs/ranks.md).
 *
 *   bench_pod          a line for tools/bench.sh
 *   bench_pod table    the table of docs/ranks.md */
#include "base/map.h"
#include "base/mem.h"
#include "pod/member.h"
#include "pod/pod_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4096, PROGRAMS = 8, STEP_MS = 10 };

/* ---- the board ---- */

struct note {
    char *key;
    char *value;
    size_t size;
};

static struct note *notes;
static size_t note_count, note_room;
static struct stet_map by_key;

static struct note *find(const char *key)
{
    uint32_t at = stet_map_get(&by_key, stet_hash_bytes(stet_view_str(key)).lo);

    return at == STET_MAP_NONE ? NULL : &notes[at];
}

static enum stet_rc put(void *self, const char *key, struct stet_view value, struct stet_err *err)
{
    (void)self, (void)err;
    if (find(key))
        return STET_REFUSED;
    if (note_count == note_room) {
        note_room = note_room ? 2 * note_room : 1024;
        notes = realloc(notes, note_room * sizeof *notes);
    }
    stet_map_put(&by_key, stet_hash_bytes(stet_view_str(key)).lo, (uint32_t)note_count);
    notes[note_count] = (struct note){strdup(key), malloc(value.len + 1), value.len};
    memcpy(notes[note_count++].value, value.ptr, value.len);
    return STET_OK;
}

static enum stet_rc get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err)
{
    const struct note *n = find(key);

    (void)self, (void)wait_ms, (void)err;
    if (!n)
        return STET_NOT_FOUND;
    stet_buf_add(out, n->value, n->size);
    return STET_OK;
}

static const struct stet_pod_channel_kind board = {
    .word = "board", .value_most = 1 << 20, .put = put, .get = get};

static void clear(void)
{
    for (size_t i = 0; i < note_count; i++) {
        free(notes[i].key);
        free(notes[i].value);
    }
    note_count = 0;
    stet_map_release(&by_key);
    by_key = (struct stet_map){0};
}

/* ---- ranks ---- */

static uint64_t clock_ns;

static uint64_t now(void *context)
{
    (void)context;
    return clock_ns;
}

struct rank {
    struct stet_pod_channel channel;
    struct stet_pod_member *member;
    uint64_t executions, due_ns, told;
};

static struct rank ranks[MOST];
static uint32_t all[MOST];

static uint64_t executions(void *context, struct stet_hash scope)
{
    (void)scope;
    return ((struct rank *)context)->executions;
}

static void describe(void *context, struct stet_pod_state *out)
{
    *out = (struct stet_pod_state){.executions = ((struct rank *)context)->executions};
    snprintf(out->file, sizeof out->file, "/home/user/project/train.py");
}

static bool captured(void *context, struct stet_hash hash, bool options, struct stet_buf *out)
{
    (void)context, (void)hash, (void)options, (void)out;
    return false;
}

static void keep(void *context, struct stet_hash hash, bool options, struct stet_view bytes)
{
    (void)context, (void)hash, (void)options, (void)bytes;
}

static void flags(void *context, char out[STET_POD_FLAGS])
{
    (void)context;
    out[0] = '\0';
}

static void verdict(void *context, const struct stet_pod_verdict *v)
{
    (void)v;
    ((struct rank *)context)->told++;
}

static void joined(void *context, struct stet_hash job)
{
    (void)context, (void)job;
}

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double first_us; /* processor time of rank 0 */

static void pass(size_t count, uint64_t ms)
{
    for (uint64_t end = clock_ns + ms * 1000000; clock_ns < end; clock_ns += STEP_MS * 1000000) {
        for (size_t i = 0; i < count; i++) {
            double before = i ? 0 : cpu_us();

            if (clock_ns >= ranks[i].due_ns)
                ranks[i].due_ns =
                    clock_ns + (uint64_t)stet_pod_member_tick(ranks[i].member) * 1000000;
            if (!i)
                first_us += cpu_us() - before;
        }
    }
}

static void compile(size_t count, unsigned number, size_t odd)
{
    for (size_t i = 0; i < count; i++) {
        struct stet_pod_entry e = {.position = ranks[i].executions};

        e.scope = stet_pod_member_scope(ranks[i].member, all, count);
        e.part[STET_POD_PROGRAM] = (struct stet_hash){number + 1, i == odd};
        e.bytes = e.part[STET_POD_PROGRAM];
        snprintf(e.name, sizeof e.name, "train_step");
        stet_pod_member_enter(ranks[i].member, &e, clock_ns);
        ranks[i].due_ns = 0;
    }
}

static uint64_t messages(const struct rank *r)
{
    return r->channel.traffic.puts + r->channel.traffic.gets;
}

static uint64_t bytes(const struct rank *r)
{
    return r->channel.traffic.bytes_out + r->channel.traffic.bytes_in;
}

struct cost {
    double first, first_bytes, first_us, other, other_bytes, all;
    double told_ms; /* from the compile to the first word about a rank that differs */
};

static void start(size_t count)
{
    struct stet_pod_timing timing;

    clock_ns = UINT64_C(1000000000000);
    stet_pod_timing_init(&timing, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        const struct stet_pod_host host = {&ranks[i], executions, describe, captured, keep,
                                           flags,     verdict,    joined,   now};

        ranks[i] = (struct rank){0};
        all[i] = (uint32_t)i;
        stet_pod_channel_init(&ranks[i].channel, &board, NULL, "stet/3/", STET_POD_REACH_JOB);
        if (stet_pod_launch_join(&ranks[i].channel, (int64_t)i, NULL) != STET_OK ||
            stet_pod_member_new(&ranks[i].member, (int64_t)i, (int64_t)count, &ranks[i].channel,
                                &timing, &host, NULL) != STET_OK)
            exit(3);
    }
}

/* Of PROGRAMS compiles, three seconds apart. */
static struct cost measure(size_t count)
{
    uint64_t first, first_bytes, others = 0, other_bytes = 0, total = 0;
    struct cost c;

    start(count);
    compile(count, 0, count);
    pass(count, 4000); /* ranks claim their numbers */
    first = messages(&ranks[0]);
    first_bytes = bytes(&ranks[0]);
    for (size_t i = 1; i < count; i++) {
        others -= messages(&ranks[i]);
        other_bytes -= bytes(&ranks[i]);
    }
    first_us = 0;
    for (unsigned i = 1; i <= PROGRAMS; i++) {
        for (size_t k = 0; k < count; k++)
            ranks[k].executions++;
        compile(count, i, count);
        pass(count, 3000);
    }
    for (size_t i = 1; i < count; i++) {
        others += messages(&ranks[i]);
        other_bytes += bytes(&ranks[i]);
        total += ranks[i].told;
    }
    if (total + ranks[0].told) {
        fprintf(stderr, "bench_pod: an alarm without a reason\n");
        exit(1);
    }
    c = (struct cost){
        .first = (double)(messages(&ranks[0]) - first) / PROGRAMS,
        .first_bytes = (double)(bytes(&ranks[0]) - first_bytes) / PROGRAMS,
        .first_us = first_us / PROGRAMS,
        .other = (double)others / PROGRAMS / (double)(count - 1),
        .other_bytes = (double)other_bytes / PROGRAMS / (double)(count - 1),
    };
    c.all = c.first + (double)others / PROGRAMS;
    compile(count, 1000, count - 1);
    for (uint64_t begin = clock_ns; !ranks[count - 1].told && clock_ns < begin + 20000000000;)
        pass(count, STEP_MS), c.told_ms = (double)(clock_ns - begin) / 1e6;
    for (size_t i = 0; i < count; i++)
        stet_pod_member_free(ranks[i].member);
    clear();
    return c;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {2, 8, 64, 512, 4096};
    double rpc_us = getenv("POD_RPC_US") ? atof(getenv("POD_RPC_US")) : 500;

    if (argc < 2 || strcmp(argv[1], "table") != 0) {
        struct cost c = measure(MOST);
        double ms = (c.first * rpc_us + c.first_us) / 1e3;

        printf("{\"bench\":\"pod.rank0.4096\",\"value\":%.3f,\"p10\":%.3f,\"p90\":%.3f,\"unit\":"
               "\"ms\",\"baseline\":0,\"limit\":50,\"against\":\"nothing: a program of 4,096 "
               "ranks\"}\n",
               ms, ms, ms);
        return 0;
    }
    printf(
        "ranks  rank 0: messages  bytes  CPU us     ms   others: messages  bytes   all messages  "
        "a difference is told after\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cost c = measure(sizes[i]);

        printf("%5zu  %16.1f  %5.0f  %6.0f  %5.2f  %17.2f  %5.0f  %13.0f  %20.0f ms\n", sizes[i],
               c.first, c.first_bytes, c.first_us, (c.first * rpc_us + c.first_us) / 1e3, c.other,
               c.other_bytes, c.all, c.told_ms);
    }
    return 0;
}
