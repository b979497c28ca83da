/* Votes and decisions under "vote/<program, options and ranks>/<how often it was requested>/".
 *
 * The ranks of a program form a tree. Each waits for the votes of its children, adds its own, and
 * writes the sum; the root writes the decision, which all read. So no rank reads more than FAN
 * messages, however many there are. A rank that cannot serve writes "compile" as the decision at
 * once, and so does one that has waited too long: a key is written once, so there is one decision.
 *
 * The waiting is done by a thread of our own: a channel that does not return costs a compile no
 * more than the limit. */
#include "intercept/ranks.h"

#include "base/hash.h"
#include "base/mem.h"
#include "intercept/layer.h"
#include "intercept/pod.h"
#include "intercept/threads.h"
#include "intercept/wait.h"
#include "pod/channel.h"
#include "pod/pod_message.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Ranks reach a compile after tracing; no rank waits longer than this, and only once. */
enum { WAIT_MS = 60000, SLICE_MS = 250, ASKED_MAX = 4096, FAN = 32, EXTRA_MS = 1000 };

/* What ranks write. ALL and SOME: the same program, and all or some of them can load it. */
enum { ALL = 'y', SOME = 'm', NONE = 'n', OTHER = 'd' };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* How often each program was requested here: the same number on every rank. */
static struct {
    struct stet_hash what;
    uint32_t times;
} asked[ASKED_MAX];
static size_t asked_count;
static atomic_bool given_up; /* a rank did not answer: from now on no compile waits for others */
static atomic_bool stuck;    /* a call of the channel did not return: it is not called any more */

struct ballot {
    atomic_int holders;
    struct stet_pod_channel *channel;
    struct stet_pod_turn *turn;
    char base[96];
    uint32_t *ranks;
    size_t count, own;
    bool have, strict;
    uint64_t until_ns;
    bool silent;  /* a rank did not answer */
    char outcome; /* the decision */
    struct stet_flag done;
};

static void drop(struct ballot *b)
{
    if (atomic_fetch_sub(&b->holders, 1) != 1)
        return;
    stet_intercept_pod_drop(b->turn);
    stet_mem_free(b->ranks);
    stet_mem_free(b);
}

static uint32_t times_asked(struct stet_hash what)
{
    uint32_t times = 0;
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < asked_count && !stet_hash_eq(asked[i].what, what))
        i++;
    if (i < asked_count) {
        times = ++asked[i].times;
    } else if (asked_count < ASKED_MAX) {
        asked[asked_count++].what = what;
    } else {
        times = UINT32_MAX;
    }
    pthread_mutex_unlock(&lock);
    return times;
}

/* ---- the channel ---- */

static bool put(const struct ballot *b, const char *key, char value)
{
    struct stet_buf message = STET_BUF_INIT;
    bool done;

    stet_pod_message_bytes(&message, key, STET_POD_TEXT, stet_view_of(&value, 1));
    done = !message.failed &&
           stet_pod_channel_put(b->channel, key, stet_buf_as_view(&message)) == STET_OK;
    stet_buf_release(&message);
    return done;
}

/* 0 if it is not there in time, or is not a vote. */
static char get(const struct ballot *b, const char *key, uint32_t ms)
{
    struct stet_buf message = STET_BUF_INIT;
    struct stet_view vote;
    char value = 0;
    enum stet_rc rc;

    if (stet_pod_channel_get(b->channel, key, ms, &message) == STET_OK) {
        rc = stet_pod_message_read_bytes(&vote, key, STET_POD_TEXT, stet_buf_as_view(&message));
        if (rc == STET_OK && vote.len == 1)
            value = vote.ptr[0];
        else
            stet_pod_channel_damaged(b->channel, rc);
    }
    stet_buf_release(&message);
    return value;
}

static uint64_t left_ms(const struct ballot *b)
{
    uint64_t now = stet_journal_now();

    return b->until_ns > now ? (b->until_ns - now) / 1000000 : 0;
}

static void decision_key(const struct ballot *b, char out[STET_POD_KEY])
{
    snprintf(out, STET_POD_KEY, "%sdecision", b->base);
}

/* Writes the decision unless there is one; returns the valid one. */
static char decide(const struct ballot *b, char what)
{
    char key[STET_POD_KEY], valid;

    decision_key(b, key);
    if (put(b, key, what))
        return what;
    valid = get(b, key, SLICE_MS);
    return valid ? valid : NONE;
}

/* Waits for a key, until the time has passed, the channel fails, the ranks are found to differ, or,
 * if `watch`, until there is a decision: that is then in *decided. */
static char await(const struct ballot *b, const char *key, bool watch, char *decided)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    char decision[STET_POD_KEY];
    unsigned slices = 0;

    decision_key(b, decision);
    for (;;) {
        uint64_t left = left_ms(b);
        char value = get(b, key, left < SLICE_MS ? (uint32_t)left : SLICE_MS);

        if (value)
            return value;
        if (stet_intercept_pod_differs(b->turn))
            return OTHER;
        if (watch && ++slices % 4 == 0 && (*decided = get(b, decision, 0)))
            return 0;
        if (!left || stet_pod_channel_is_over(b->channel))
            return 0;
        if (left_ms(b) + SLICE_MS / 2 > left)
            nanosleep(&pause, NULL); /* a store that does not wait */
    }
}

/* ---- voting ---- */

/* The sum of this rank's vote and its children's: ALL, SOME, or what ends it. */
static char gather(struct ballot *b, char *decided)
{
    size_t first = b->own * FAN + 1;
    char sum = b->have ? ALL : SOME, key[STET_POD_KEY];

    for (size_t i = first; i < first + FAN && i < b->count; i++) {
        char vote;

        snprintf(key, sizeof key, "%svote/%u", b->base, b->ranks[i]);
        vote = await(b, key, true, decided);
        if (*decided)
            return *decided;
        if (vote != ALL && vote != SOME) {
            b->silent |= !vote;
            return vote ? vote : NONE;
        }
        sum = vote == SOME ? SOME : sum;
    }
    return sum;
}

static char vote(struct ballot *b)
{
    char key[STET_POD_KEY], decision[STET_POD_KEY], sum, decided = 0;

    snprintf(key, sizeof key, "%svote/%u", b->base, b->ranks[b->own]);
    decision_key(b, decision);
    if (!b->have && !b->strict) { /* already decided: no need to wait for others */
        put(b, key, NONE);
        return decide(b, NONE);
    }
    sum = gather(b, &decided);
    if (decided)
        return decided;
    if (sum != ALL && sum != SOME) {
        put(b, key, sum);
        return decide(b, sum);
    }
    if (b->own == 0)
        return decide(b, sum);
    if (!put(b, key, sum))
        return decide(b, NONE);
    decided = await(b, decision, false, &decided);
    if (decided == OTHER) /* by this rank's own finding, perhaps */
        return decide(b, OTHER);
    if (decided)
        return decided;
    b->silent = true;
    return decide(b, NONE);
}

static void *run(void *argument)
{
    struct ballot *b = argument;

    b->outcome = vote(b);
    stet_intercept_pod_put_back();
    stet_flag_set(&b->done);
    drop(b);
    return NULL;
}

static void give_up(void)
{
    if (!atomic_exchange(&given_up, true))
        stet_layer_log("ranks: others did not answer: their programs are compiled from now on");
}

static uint32_t wait_ms(void)
{
    const char *ms = getenv("STET_RANKS_WAIT_MS");
    long n = ms && *ms ? strtol(ms, NULL, 10) : WAIT_MS;

    return n > 0 && n < 24L * 3600 * 1000 ? (uint32_t)n : 1;
}

static struct ballot *new_ballot(const struct stet_ranks *r, struct stet_hash what, uint32_t times,
                                 enum stet_pod_reach reach)
{
    struct ballot *b = stet_mem_calloc(1, sizeof *b);
    char name[STET_HASH_TEXT];
    int64_t rank = stet_intercept_pod_rank();

    if (!b)
        return NULL;
    b->ranks = stet_mem_calloc(r->count, sizeof *b->ranks);
    b->count = b->own = r->count;
    for (size_t i = 0; b->ranks && i < r->count; i++) {
        b->ranks[i] = r->ranks[i];
        if (r->ranks[i] == rank)
            b->own = i;
    }
    atomic_init(&b->holders, 2);
    stet_hash_format(what, name);
    snprintf(b->base, sizeof b->base, "vote/%s/%u/", name, times);
    b->channel = b->own < b->count ? stet_intercept_pod_channel(reach) : NULL;
    if (b->channel)
        return b;
    stet_mem_free(b->ranks);
    stet_mem_free(b);
    return NULL;
}

/* The decision; NONE if there is no way to agree. */
static char hold(const struct stet_ranks *r, struct stet_hash what, bool have, bool strict,
                 struct stet_pod_turn *turn)
{
    uint32_t times = times_asked(what), limit = wait_ms();
    struct ballot *b =
        times == UINT32_MAX || atomic_load(&stuck)
            ? NULL
            : new_ballot(r, what, times, strict ? STET_POD_REACH_ALL : STET_POD_REACH_JOB);
    uint64_t begin = stet_journal_now();
    char outcome;

    if (!b)
        return NONE;
    b->have = have && !atomic_load(&given_up);
    b->strict = strict && !atomic_load(&given_up);
    b->turn = stet_intercept_pod_hold(turn);
    b->until_ns = begin + (uint64_t)limit * 1000000;
    if (!stet_threads_start(run, b)) {
        stet_intercept_pod_put_back();
        atomic_store(&b->holders, 1);
        drop(b);
        return NONE;
    }
    if (!stet_flag_wait(&b->done, (int)limit + EXTRA_MS)) {
        stet_fault(STET_FAULT_POD);
        atomic_store(&stuck, true);
        give_up();
        outcome = NONE;
    } else {
        outcome = b->outcome;
        if (b->silent || (b->strict && outcome == NONE)) /* another rank waited in vain */
            give_up();
    }
    stet_intercept_pod_waited(stet_journal_now() - begin);
    drop(b);
    return outcome;
}

static struct stet_hash of_ranks(struct stet_hash h, const struct stet_ranks *r)
{
    return stet_hash_mix(h, stet_hash_bytes(stet_view_of(r->ranks, r->count * sizeof *r->ranks)));
}

bool stet_ranks_agree(const struct stet_ranks *r, const struct stet_key_parts *parts, bool have,
                      struct stet_pod_turn *turn)
{
    /* A name that is the same on all ranks: not the key, because a store may be at another path
     * there, and a program of one process has other devices there. */
    struct stet_hash h = stet_hash_bytes(parts->part[STET_COMPONENT_PROGRAM]);

    h = stet_hash_mix(h, r->options);
    return hold(r, of_ranks(h, r), have, false, turn) == ALL;
}

bool stet_ranks_confirm(const struct stet_ranks *r, struct stet_hash program,
                        struct stet_pod_turn *turn)
{
    struct stet_hash h = stet_hash_mix(program, (struct stet_hash){0x636f6e66, 0x69726d});

    return hold(r, of_ranks(h, r), false, true, turn) != OTHER;
}
