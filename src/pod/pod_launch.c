/* See pod_launch.h. */
#include "pod/pod_launch.h"

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

/* proc(5): field 22 of /proc/<pid>/stat. 0 if there is no such process, or it has ended. */
static unsigned long long start_of(long pid)
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
    if (!at ||
        sscanf(at + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &ticks) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : ticks;
}

static void own_claim(struct claim *c)
{
    long per_second = sysconf(_SC_CLK_TCK);
    struct timespec wall = {0}, boot = {0};

    *c = (struct claim){.pid = (long)getpid(), .ticks = start_of((long)getpid())};
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

static bool get_claim(struct stet_pod_channel *c, uint32_t launch, int64_t rank, struct claim *out)
{
    struct stet_buf text = STET_BUF_INIT;
    char key[STET_POD_KEY];
    bool there;

    *out = (struct claim){0};
    snprintf(key, sizeof key, "%u/rank/%lld", launch, (long long)rank);
    there = stet_pod_channel_get(c, key, 0, &text) == STET_OK;
    if (there && (!text.len || sscanf(text.ptr, "%79s %ld %llu %lld", out->host, &out->pid,
                                      &out->ticks, &out->started_s) != 4)) {
        stet_pod_channel_damaged(c, STET_BAD_INPUT);
        *out = (struct claim){0}; /* of no process that runs */
    }
    stet_buf_release(&text);
    return there;
}

static bool runs_here(const struct claim *c, const struct claim *own)
{
    return !strcmp(c->host, own->host) && c->pid > 0 && c->ticks && start_of(c->pid) == c->ticks;
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
        if (others[i] >= 0 && others[i] != rank && get_claim(c, launch, others[i], &claim) &&
            has_ended(&claim, own))
            return true;
    }
    return false;
}

enum stet_rc stet_pod_launch_join(struct stet_pod_channel *c, int64_t rank, struct stet_err *err)
{
    uint32_t launch = count_launches(c);
    struct claim own, claim;
    char key[STET_POD_KEY], prefix[sizeof c->prefix];

    own_claim(&own);
    if (launch && get_claim(c, launch - 1, rank, &claim)) {
        if (runs_here(&claim, &own))
            return stet_fail(err, STET_REFUSED, "another process has this rank");
    } else if (launch && !is_over(c, launch - 1, rank, &own)) {
        launch--;
    }
    snprintf(key, sizeof key, "launch/%u", launch);
    stet_pod_channel_put(c, key, STET_VIEW("1"));
    snprintf(prefix, sizeof prefix, "%s", c->prefix);
    if (snprintf(c->prefix, sizeof c->prefix, "%.36s%u/", prefix, launch) >= (int)sizeof c->prefix)
        return stet_fail(err, STET_LIMIT, "the name of the job is too long");
    return STET_OK;
}
