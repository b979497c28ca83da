/* See pod_launch.h. */
#include "pod/pod_launch.h"

#include "base/clock.h"
#include "pod/pod_message.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { APART_S = 600, LAUNCHES_MOST = 1 << 20 };

/* ---- claims ---- */

struct claim {
    char host[80];
    long pid;
    unsigned long long ticks; /* of the host since it was booted */
    long long started_s;
};

/* proc(5), /proc/<pid>/stat: when it started, and its parent. 0 if there is no such process, or it
 * has ended. */
static unsigned long long start_of(long pid, long *parent)
{
    char path[64], line[1024], state = 'X', *at;
    unsigned long long ticks = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    at = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    if (!at || sscanf(at + 1,
                      " %c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                      "%*d %llu",
                      &state, parent, &ticks) != 3)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : ticks;
}

static void own_claim(struct claim *c)
{
    long per_second = sysconf(_SC_CLK_TCK);
    struct timespec wall = {0}, boot = {0};
    long parent;

    *c = (struct claim){.pid = (long)getpid()};
    c->ticks = start_of(c->pid, &parent);
    gethostname(c->host, sizeof c->host - 1);
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    c->started_s = (long long)(wall.tv_sec - boot.tv_sec) +
                   (long long)(c->ticks / (unsigned long long)(per_second > 0 ? per_second : 100));
}

void stet_pod_launch_claim(char out[STET_POD_CLAIM])
{
    struct claim c;

    own_claim(&c);
    snprintf(out, STET_POD_CLAIM, "%s %ld %llu %lld", *c.host ? c.host : "?", c.pid, c.ticks,
             c.started_s);
}

static bool get_claim(struct stet_pod_channel *c, const char *key, struct claim *out)
{
    struct stet_buf text = STET_BUF_INIT;
    bool there = stet_pod_channel_get(c, key, 0, &text) == STET_OK;

    *out = (struct claim){0};
    if (there && (!text.len || sscanf(text.ptr, "%79s %ld %llu %lld", out->host, &out->pid,
                                      &out->ticks, &out->started_s) != 4)) {
        stet_pod_channel_damaged(c, STET_BAD_INPUT);
        *out = (struct claim){0}; /* of no process that runs */
    }
    stet_buf_release(&text);
    return there;
}

static bool get_claim_in(struct stet_pod_channel *c, uint32_t launch, int64_t rank,
                         struct claim *out)
{
    char key[STET_POD_KEY];

    snprintf(key, sizeof key, "%u/rank/%lld", launch, (long long)rank);
    return get_claim(c, key, out);
}

static bool runs_here(const struct claim *c, const struct claim *own)
{
    long parent;

    return !strcmp(c->host, own->host) && c->pid > 0 && c->ticks &&
           start_of(c->pid, &parent) == c->ticks;
}

/* Is it this process, or one that this one descends from? */
static bool is_above(const struct claim *c, const struct claim *own)
{
    enum { DEPTH_MOST = 64 };
    long pid = own->pid, parent = 0;

    for (int i = 0; i < DEPTH_MOST && pid > 0 && runs_here(c, own); i++) {
        if (pid == c->pid)
            return true;
        pid = start_of(pid, &parent) ? parent : 0;
    }
    return false;
}

static bool has_ended(const struct claim *c, const struct claim *own)
{
    if (!strcmp(c->host, own->host))
        return !runs_here(c, own);
    return c->started_s + APART_S < own->started_s;
}

/* ---- launches ---- */

static bool has_launch(struct stet_pod_channel *c, uint32_t launch)
{
    struct stet_buf value = STET_BUF_INIT;
    char key[STET_POD_KEY];
    bool has;

    snprintf(key, sizeof key, "launch/%u", launch);
    has = stet_pod_channel_get(c, key, 0, &value) == STET_OK;
    if (has && !stet_view_is(stet_buf_as_view(&value), "1")) {
        stet_pod_channel_damaged(c, STET_BAD_INPUT);
        has = false;
    }
    stet_buf_release(&value);
    return has;
}

/* How many there are: a few questions are enough, since numbers are used in order. */
static uint32_t count_launches(struct stet_pod_channel *c)
{
    uint32_t last = 0, missing = 1;

    if (!has_launch(c, 0))
        return 0;
    while (missing < LAUNCHES_MOST && has_launch(c, missing)) {
        last = missing;
        missing *= 2;
    }
    while (missing - last > 1) {
        uint32_t middle = last + (missing - last) / 2;

        *(has_launch(c, middle) ? &last : &missing) = middle;
    }
    return missing;
}

static bool is_over(struct stet_pod_channel *c, uint32_t launch, int64_t rank,
                    const struct claim *own)
{
    const int64_t others[] = {0, rank - 1, rank + 1};
    struct claim claim;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] >= 0 && others[i] != rank && get_claim_in(c, launch, others[i], &claim) &&
            has_ended(&claim, own))
            return true;
    }
    return false;
}

/* Puts it before every key. */
static enum stet_rc enter(struct stet_pod_channel *c, const char *launch, struct stet_err *err)
{
    size_t len = strlen(c->prefix);

    if (snprintf(c->prefix + len, sizeof c->prefix - len, "%s/", launch) >=
        (int)(sizeof c->prefix - len))
        return stet_fail(err, STET_LIMIT, "the name of the job is too long");
    return STET_OK;
}

static enum stet_rc join_numbered(struct stet_pod_channel *c, int64_t rank, struct stet_err *err)
{
    uint32_t launch = count_launches(c);
    struct claim own, claim;
    char key[STET_POD_KEY], number[16];
    bool doubled = false;
    enum stet_rc rc;

    own_claim(&own);
    if (launch && get_claim_in(c, launch - 1, rank, &claim))
        doubled = runs_here(&claim, &own);
    else if (launch && !is_over(c, launch - 1, rank, &own))
        launch--;
    snprintf(key, sizeof key, "launch/%u", launch);
    snprintf(number, sizeof number, "%u", doubled ? launch - 1 : launch);
    if (!doubled)
        stet_pod_channel_put(c, key, STET_VIEW("1"));
    rc = enter(c, number, err);
    if (rc != STET_OK || !doubled)
        return rc;
    stet_pod_launch_contest(c, rank);
    return stet_fail(err, STET_REFUSED, "another process has this rank");
}

/* ---- names ---- */

static struct stet_hash new_name(void)
{
    char text[STET_POD_CLAIM];

    stet_pod_launch_claim(text);
    return stet_hash_mix_u64(stet_hash_bytes(stet_view_str(text)), stet_clock_wall_ns());
}

static enum stet_rc put_name(struct stet_pod_channel *c, struct stet_hash name)
{
    struct stet_buf message = STET_BUF_INIT;
    char text[STET_HASH_TEXT];
    enum stet_rc rc = STET_NO_MEMORY;

    stet_hash_format(name, text);
    stet_pod_message_bytes(&message, "job", STET_POD_TEXT, stet_view_str(text));
    if (!message.failed)
        rc = stet_pod_channel_put(c, "job", stet_buf_as_view(&message));
    stet_buf_release(&message);
    return rc;
}

static enum stet_rc get_name(struct stet_pod_channel *c, struct stet_hash *name)
{
    struct stet_buf message = STET_BUF_INIT;
    struct stet_view text;
    enum stet_rc rc = stet_pod_channel_get(c, "job", 0, &message);

    if (rc == STET_OK) {
        rc = stet_pod_message_read_bytes(&text, "job", STET_POD_TEXT, stet_buf_as_view(&message));
        if (rc == STET_OK && !stet_hash_parse(text, name))
            rc = STET_BAD_INPUT;
        if (rc != STET_OK)
            stet_pod_channel_damaged(c, rc);
    }
    stet_buf_release(&message);
    return rc;
}

/* The first process that comes gives the launch its name. */
static void name_launch(struct stet_pod_channel *c)
{
    enum { TRIES = 8 }; /* of a channel that fails now and then */
    struct stet_hash own = new_name();

    for (int i = 0; i < TRIES && stet_hash_is_zero(c->job); i++) {
        if (get_name(c, &c->job) == STET_NOT_FOUND && put_name(c, own) == STET_OK)
            c->job = own;
    }
}

enum stet_rc stet_pod_launch_join(struct stet_pod_channel *c, int64_t rank, struct stet_err *err)
{
    enum { DIGITS = 16 };
    char name[STET_HASH_TEXT];
    enum stet_rc rc = STET_OK;

    if (c->reach != STET_POD_REACH_JOB)
        rc = join_numbered(c, rank, err);
    if (rc == STET_OK)
        name_launch(c);
    if (rc != STET_OK || c->reach != STET_POD_REACH_JOB)
        return rc;
    if (stet_hash_is_zero(c->job)) /* others may have a name, and wait for this rank */
        stet_pod_channel_give_up(c, "the channel fails now and then");
    stet_hash_format(c->job, name);
    name[DIGITS] = '\0';
    return enter(c, name, err);
}

/* ---- two processes with one rank ---- */

static void contest_key(char out[STET_POD_KEY], int64_t rank)
{
    snprintf(out, STET_POD_KEY, "twice/%lld", (long long)rank);
}

void stet_pod_launch_contest(struct stet_pod_channel *c, int64_t rank)
{
    struct claim own, first;
    char key[STET_POD_KEY];

    own_claim(&own);
    snprintf(key, sizeof key, "rank/%lld", (long long)rank);
    if (get_claim(c, key, &first) && is_above(&first, &own))
        return;
    contest_key(key, rank);
    stet_pod_channel_put(c, key, STET_VIEW("1"));
}

bool stet_pod_launch_is_contested(struct stet_pod_channel *c, int64_t rank)
{
    struct stet_buf value = STET_BUF_INIT;
    char key[STET_POD_KEY];
    bool is;

    contest_key(key, rank);
    is = stet_pod_channel_get(c, key, 0, &value) == STET_OK &&
         stet_view_is(stet_buf_as_view(&value), "1");
    stet_buf_release(&value);
    return is;
}
