/* Members of a job in one process: a channel in memory, a clock that the test moves, and hosts that
 * remember what they are told. */
#ifndef STET_TESTS_POD_HELP_H
#define STET_TESTS_POD_HELP_H

#include "base/clock.h"
#include "base/mem.h"
#include "pod/member.h"
#include "pod/pod_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 64, TOLD = 16 };

/* ---- the channel ---- */

struct board {
    struct {
        char key[STET_POD_KEY];
        char *value;
        size_t size;
    } *items;
    size_t count, room;
    bool dead;     /* every call fails */
    bool deaf;     /* no value can be read, and none is written over */
    bool garbled;  /* every value is read wrongly */
    bool endless;  /* every key has a value */
    int dead_puts; /* so many writes of a log fail */
    uint64_t slow_ms;
    uint64_t log_gets; /* requests for a rank's log */
};

static struct board board;

static void board_clear(void)
{
    for (size_t i = 0; i < board.count; i++)
        free(board.items[i].value);
    free(board.items);
    board = (struct board){0};
}

static size_t board_find(const char *key)
{
    size_t i = 0;

    while (i < board.count && strcmp(board.items[i].key, key) != 0)
        i++;
    return i;
}

static enum stet_rc board_put(void *self, const char *key, struct stet_view value,
                              struct stet_err *err)
{
    (void)self;
    stet_clock_advance(board.slow_ms * 1000000);
    if (board.dead || (board.dead_puts && strstr(key, "/log/") && board.dead_puts--))
        return stet_fail(err, STET_IO, "the board is gone");
    if (board_find(key) < board.count)
        return STET_REFUSED;
    if (board.count == board.room) {
        board.room = board.room ? 2 * board.room : 64;
        board.items = realloc(board.items, board.room * sizeof *board.items);
    }
    snprintf(board.items[board.count].key, STET_POD_KEY, "%s", key);
    board.items[board.count].value = malloc(value.len + 1);
    memcpy(board.items[board.count].value, value.ptr, value.len);
    board.items[board.count++].size = value.len;
    return STET_OK;
}

static enum stet_rc board_get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                              struct stet_err *err)
{
    size_t i = board_find(key);

    (void)self, (void)wait_ms;
    board.log_gets += strstr(key, "/log/") != NULL;
    stet_clock_advance(board.slow_ms * 1000000);
    if (board.dead)
        return stet_fail(err, STET_IO, "the board is gone");
    if (board.endless) {
        stet_buf_str(out, "STETPOD\2\4 some value that no rank wrote");
        return STET_OK;
    }
    if (i == board.count || board.deaf)
        return STET_NOT_FOUND;
    stet_buf_add(out, board.items[i].value, board.items[i].size);
    for (size_t k = 0; board.garbled && k < board.items[i].size; k += 7)
        out->ptr[out->len - board.items[i].size + k] ^= 0x55;
    return STET_OK;
}

static struct stet_pod_channel_kind board_kind = {
    .word = "board", .value_most = 1 << 20, .put = board_put, .get = board_get};

/* ---- the ranks ---- */

struct rank {
    struct stet_pod_channel channel;
    struct stet_pod_member *member;
    struct stet_pod_state state;
    uint64_t executions;
    const char *flags;
    struct stet_hash captured[8], kept[8];
    size_t captured_count, kept_count;
    struct stet_pod_verdict told[TOLD];
    size_t told_count;
    struct stet_hash job;
    uint64_t due_ns;
    bool stopped; /* it does nothing */
};

static struct rank ranks[RANKS];
static size_t rank_count;

static uint64_t rank_executions(void *context, struct stet_hash scope)
{
    (void)scope;
    return ((struct rank *)context)->executions;
}

static void rank_describe(void *context, struct stet_pod_state *out)
{
    struct rank *r = context;

    *out = r->state;
    out->pid = (uint64_t)(r - ranks) + 1;
    snprintf(out->host, sizeof out->host, "host");
}

static bool rank_captured(void *context, struct stet_hash hash, bool options, struct stet_buf *out)
{
    struct rank *r = context;

    for (size_t i = 0; !options && i < r->captured_count; i++) {
        if (!stet_hash_eq(r->captured[i], hash))
            continue;
        stet_buf_str(out, "bytes of a program");
        return true;
    }
    return false;
}

static void rank_keep(void *context, struct stet_hash hash, bool options, struct stet_view bytes)
{
    struct rank *r = context;

    if (!options && r->kept_count < 8 && stet_view_is(bytes, "bytes of a program"))
        r->kept[r->kept_count++] = hash;
}

static void rank_flags(void *context, char out[STET_POD_FLAGS])
{
    struct rank *r = context;

    snprintf(out, STET_POD_FLAGS, "%s", r->flags ? r->flags : "");
}

static void rank_verdict(void *context, const struct stet_pod_verdict *v)
{
    struct rank *r = context;

    if (r->told_count < TOLD)
        r->told[r->told_count++] = *v;
}

static void rank_joined(void *context, struct stet_hash job)
{
    ((struct rank *)context)->job = job;
}

/* Rank `number` of a job of `count`, as the process `r`. */
static void begin_rank(struct rank *r, size_t number, size_t count)
{
    const struct stet_pod_host host = {r,         rank_executions, rank_describe, rank_captured,
                                       rank_keep, rank_flags,      rank_verdict,  rank_joined};
    struct stet_pod_timing timing;

    *r = (struct rank){0};
    stet_pod_timing_init(&timing, (int64_t)count);
    stet_pod_channel_init(&r->channel, &board_kind, NULL, "", STET_POD_REACH_JOB);
    stet_pod_launch_join(&r->channel, (int64_t)number, NULL);
    stet_pod_member_new(&r->member, (int64_t)number, (int64_t)count, &r->channel, &timing, &host,
                        NULL);
}

/* A job of so many ranks, at an early hour. */
static void job(size_t count)
{
    board_clear();
    rank_count = count;
    stet_clock_stop(UINT64_C(1000000000000), UINT64_C(1000000000000));
    for (size_t i = 0; i < count; i++)
        begin_rank(&ranks[i], i, count);
}

static void job_end(void)
{
    for (size_t i = 0; i < rank_count; i++)
        stet_pod_member_free(ranks[i].member);
    board_clear();
    stet_clock_resume();
}

/* Lets time pass, in which all ranks do what is due. */
static void pass(uint64_t ms)
{
    uint64_t end = stet_clock_ns() + ms * 1000000;

    while (stet_clock_ns() < end) {
        for (size_t i = 0; i < rank_count; i++) {
            struct rank *r = &ranks[i];
            uint64_t now = stet_clock_ns();

            if (!r->stopped && now >= r->due_ns)
                r->due_ns = now + (uint64_t)stet_pod_member_tick(r->member) * 1000000;
        }
        stet_clock_advance(20000000);
    }
}

static struct stet_hash of(const char *text)
{
    return stet_hash_bytes(stet_view_str(text));
}

/* A rank compiles a program: of all ranks, or by itself. */
static uint64_t compile(size_t rank, bool joint, const char *name, const char *program)
{
    struct rank *r = &ranks[rank];
    uint32_t all[RANKS];
    struct stet_pod_entry e = {.position = r->executions};

    for (uint32_t i = 0; i < rank_count; i++)
        all[i] = i;
    if (joint)
        e.scope = stet_pod_member_scope(r->member, all, rank_count);
    e.part[STET_POD_PROGRAM] = of(program);
    e.part[STET_POD_ENVIRONMENT] = of(r->flags ? r->flags : "");
    e.bytes = of(program);
    snprintf(e.name, sizeof e.name, "%s", name);
    if (r->captured_count < 8)
        r->captured[r->captured_count++] = e.bytes;
    stet_pod_member_enter(r->member, &e, stet_clock_ns());
    r->due_ns = 0;
    return e.number;
}

static void compile_all(const char *name, const char *program)
{
    for (size_t i = 0; i < rank_count; i++)
        compile(i, true, name, program);
}

static size_t told(void)
{
    size_t n = 0;

    for (size_t i = 0; i < rank_count; i++)
        n += ranks[i].told_count;
    return n;
}

#endif
