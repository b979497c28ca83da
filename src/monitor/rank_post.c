/* See rank_post.h. A message is a rank of stet.ranks/1, with "at", seconds since 1970. */
#include "monitor/rank_post.h"

#include "base/clock.h"
#include "base/json.h"
#include "launch/agent_message.h"
#include "monitor/rank_beacon.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Clocks may differ by a slot. */
enum { SLOT_S = 15, POST_MS = 1000, READ_MS = 3000, PAUSE_MS = 60000 };

/* The job's name is the same on all hosts. */
static bool job_of(const struct stet_monitor_attach *a, struct stet_hash *job)
{
    const struct stet_run_digest *d = stet_live_digest(a->live);

    for (size_t i = d->process_count; i-- > 0;) {
        *job = d->processes[i].job;
        if (!stet_hash_is_zero(*job))
            return true;
    }
    return false;
}

static struct stet_hash key_of(struct stet_hash job, int64_t rank, uint64_t slot)
{
    char text[STET_HASH_TEXT], key[128];

    stet_hash_format(job, text);
    snprintf(key, sizeof key, "stet rank state 1 %s %" PRId64 " %" PRIu64, text, rank, slot);
    return stet_hash_bytes(stet_view_str(key));
}

static bool is_here(const struct stet_rank_state *s)
{
    return s->rank >= 0 && s->pid && !s->remote && s->kind != STET_RANK_MISSING &&
           s->kind != STET_RANK_ELSEWHERE;
}

static enum stet_rc post_one(struct stet_wire *l, const struct stet_rank_state *s,
                             struct stet_hash key, uint64_t now_s, uint64_t until_ms)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_json j;
    enum stet_rc rc;

    stet_json_init(&j, &text);
    stet_json_object(&j, NULL);
    stet_json_uint(&j, "at", now_s);
    stet_json_array(&j, "ranks");
    stet_monitor_rank_json(&j, s);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    rc = text.failed || text.len > STET_WIRE_MAX / 4
             ? STET_OK /* it is not posted */
             : stet_launch_message_put(l, key, stet_buf_as_view(&text), until_ms, NULL);
    stet_buf_release(&text);
    return rc == STET_REFUSED ? STET_OK : rc;
}

void stet_monitor_post(struct stet_rank_post *p, const struct stet_rank_states *s,
                       const struct stet_monitor_attach *a)
{
    uint64_t now_s = (uint64_t)time(NULL), slot = now_s / SLOT_S;
    uint64_t until_ms = stet_wire_now_ms() + POST_MS;
    enum stet_rc rc = STET_OK;
    struct stet_hash job;
    struct stet_wire l;

    if (slot == p->slot || stet_clock_ms() < p->not_before_ms || !job_of(a, &job) ||
        stet_launch_message_open(&l, NULL) != STET_OK)
        return;
    p->slot = slot;
    for (size_t i = 0; i < s->count && rc == STET_OK; i++) {
        if (is_here(&s->items[i]))
            rc = post_one(&l, &s->items[i], key_of(job, s->items[i].rank, slot), now_s, until_ms);
    }
    if (rc != STET_OK)
        p->not_before_ms = stet_clock_ms() + PAUSE_MS;
    stet_wire_close(&l);
}

/* This slot, the one before, and the next one of a clock that is ahead. STET_IO if the agent or its
 * tier does not answer. */
static enum stet_rc read_one(struct stet_wire *l, struct stet_rank_states *s,
                             struct stet_rank_state *one, struct stet_hash job, uint64_t until_ms)
{
    uint64_t slot = (uint64_t)time(NULL) / SLOT_S;
    enum stet_rc rc = STET_NOT_FOUND;
    struct stet_view text;

    for (int i = 0; i < 3 && rc == STET_NOT_FOUND; i++) {
        static const int back[] = {0, 1, -1};

        rc = stet_launch_message_get(l, key_of(job, one->rank, slot - (uint64_t)back[i]), &text,
                                     until_ms, NULL);
        if (rc == STET_OK && !stet_monitor_beacon_take(text, one, &s->arena))
            rc = STET_NOT_FOUND;
    }
    return rc;
}

void stet_monitor_post_read(struct stet_rank_states *s, const struct stet_monitor_attach *a)
{
    uint64_t until_ms = stet_wire_now_ms() + READ_MS;
    enum stet_rc rc = STET_OK;
    bool open = false;
    struct stet_hash job;
    struct stet_wire l;

    for (size_t i = 0; i < s->count && rc != STET_IO; i++) {
        if (s->items[i].kind != STET_RANK_MISSING)
            continue;
        if (!open && (!job_of(a, &job) || stet_launch_message_open(&l, NULL) != STET_OK))
            return;
        open = true;
        rc = read_one(&l, s, &s->items[i], job, until_ms);
    }
    if (open) {
        stet_wire_close(&l);
        stet_monitor_ranks_sort(s);
    }
}
