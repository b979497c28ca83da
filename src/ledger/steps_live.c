/* See steps_live.h. */
#include "ledger/steps_live.h"

#include "base/arena.h"
#include "base/clock.h"

#include <time.h>

static const uint64_t second_ns = 1000000000;

void stet_ledger_steps_live_init(struct stet_steps_live *s, struct stet_exec *batch)
{
    *s = (struct stet_steps_live){.batch = batch, .kept = {.cap = STET_STEPS_LIVE_KEPT}};
}

void stet_ledger_steps_live_release(struct stet_steps_live *s)
{
    stet_ledger_steps_free(s->steps);
    stet_buf_release(&s->kept);
    s->steps = NULL;
}

/* ---- counting ---- */

/* Samples closer than a fifth of a second count as one. */
static void sample(struct stet_steps_live *s, uint64_t wall_ns)
{
    uint32_t at = s->sample_next;
    uint32_t last = (at + STET_STEPS_SAMPLES - 1) % STET_STEPS_SAMPLES;
    uint32_t before = (at + STET_STEPS_SAMPLES - 2) % STET_STEPS_SAMPLES;

    if (s->sample_count > 1 && wall_ns < s->samples[before].wall_ns + second_ns / 5) {
        at = last;
    } else {
        s->sample_next = (at + 1) % STET_STEPS_SAMPLES;
        s->sample_count += s->sample_count < STET_STEPS_SAMPLES;
    }
    s->samples[at] = (struct stet_steps_sample){wall_ns, s->executions, s->best};
}

static void count_batch(struct stet_steps_live *s, const struct stet_rec_execs *r, uint64_t wall)
{
    struct stet_steps_answer now;

    s->executions += r->count;
    if (r->before != s->expected ||
        stet_journal_execs_decode(r, s->batch, STET_EXECS_MAX, NULL) != STET_OK) {
        stet_ledger_steps_gap(s->steps);
    } else {
        for (uint64_t i = 0; s->steps && i < r->count; i++)
            stet_ledger_steps_add(s->steps, s->batch[i].executable);
    }
    s->expected = r->before + r->count;
    now = stet_ledger_steps_now(s->steps);
    if (now.known && now.completed >= s->best) {
        s->best = now.completed;
        s->ever = true;
    }
    sample(s, wall);
}

/* ---- evidence ---- */

static bool is_evidence(unsigned kind)
{
    return kind == STET_REC_compile_end || kind == STET_REC_deserialize || kind == STET_REC_flow;
}

static void keep(struct stet_steps_live *s, const struct stet_journal_event *e, uint64_t offset)
{
    size_t before = s->kept.len;

    if (s->full)
        return;
    stet_buf_u32(&s->kept, e->kind);
    stet_buf_u32(&s->kept, (uint32_t)e->payload.len);
    stet_buf_u64(&s->kept, offset);
    stet_buf_view(&s->kept, e->payload);
    if (s->kept.failed) {
        s->kept.len = before;
        s->full = true;
    }
}

void stet_ledger_steps_live_take(struct stet_steps_live *s, const struct stet_journal_event *e,
                                 uint64_t wall_minus_mono)
{
    const union stet_record *r = e->record;

    if (!is_evidence(e->kind) && e->kind != STET_REC_execs &&
        !(e->kind == STET_REC_loss && r->loss.executions))
        return;
    keep(s, e, wall_minus_mono);
    if (is_evidence(e->kind))
        s->stale = true;
    else if (e->kind == STET_REC_execs)
        count_batch(s, &r->execs, r->execs.last_ns + wall_minus_mono);
    else
        stet_ledger_steps_gap(s->steps);
}

static void learn(struct stet_steps *steps, unsigned kind, const union stet_record *r)
{
    if (kind == STET_REC_compile_end && r->compile_end.executable)
        stet_ledger_steps_executable(steps, r->compile_end.executable, r->compile_end.name,
                                     (struct stet_hash){0});
    else if (kind == STET_REC_deserialize && r->deserialize.executable)
        stet_ledger_steps_executable(steps, r->deserialize.executable, r->deserialize.name,
                                     (struct stet_hash){0});
    else if (kind == STET_REC_flow)
        stet_ledger_steps_flow(steps, &r->flow);
}

/* Walks over the kept records, first for the evidence, then to count. */
static void replay(struct stet_steps_live *s, bool counting)
{
    struct stet_reader in;
    struct stet_arena arena;

    stet_arena_init(&arena, (size_t)16 << 20);
    stet_reader_init(&in, stet_buf_as_view(&s->kept), 0);
    while (stet_reader_left(&in)) {
        unsigned kind = stet_reader_u32(&in);
        uint32_t len = stet_reader_u32(&in);
        uint64_t offset = stet_reader_u64(&in);
        struct stet_view payload = stet_reader_bytes(&in, len);
        union stet_record r;

        if (is_evidence(kind) == counting ||
            stet_journal_record_decode(&r, &arena, stet_journal_record_info(kind), payload, NULL) !=
                STET_OK)
            continue;
        if (!counting)
            learn(s->steps, kind, &r);
        else if (kind == STET_REC_execs)
            count_batch(s, &r.execs, r.execs.last_ns + offset);
        else
            stet_ledger_steps_gap(s->steps);
        stet_arena_release(&arena);
        stet_arena_init(&arena, (size_t)16 << 20);
    }
    stet_arena_release(&arena);
}

void stet_ledger_steps_live_settle(struct stet_steps_live *s, bool last)
{
    uint64_t began = stet_clock_ns(), executions = s->executions, expected = s->expected;

    if (!s->stale || (s->full && s->steps) || (!last && began < s->next_ns))
        return;
    stet_ledger_steps_free(s->steps);
    s->steps = stet_ledger_steps_new();
    s->executions = s->expected = s->best = 0;
    s->sample_count = s->sample_next = 0;
    s->ever = false;
    replay(s, false);
    stet_ledger_steps_decide(s->steps);
    replay(s, true);
    s->executions = executions; /* executions that were not kept are counted too */
    s->expected = expected;
    s->stale = false;
    /* Never more than a twentieth of the time. */
    s->next_ns = stet_clock_ns() + (stet_clock_ns() - began) * 20;
}

/* ---- answers ---- */

struct stet_steps_answer stet_ledger_steps_live_now(const struct stet_steps_live *s)
{
    struct stet_steps_answer now = stet_ledger_steps_now(s->steps);

    if (!now.known && s->stale && s->ever) {
        now.known = true;
        now.completed = s->best;
    }
    return now;
}

static const struct stet_steps_sample *sample_at(const struct stet_steps_live *s, uint32_t back)
{
    return &s->samples[(s->sample_next + STET_STEPS_SAMPLES - 1 - back) % STET_STEPS_SAMPLES];
}

struct stet_rate stet_ledger_steps_live_rate(const struct stet_steps_live *s, uint64_t wall_ns)
{
    const struct stet_steps_sample *newest = sample_at(s, 0), *oldest = newest;
    uint64_t from = wall_ns > 10 * second_ns ? wall_ns - 10 * second_ns : 0;
    uint64_t end = newest->wall_ns;
    struct stet_rate rate = {0};

    if (s->sample_count < 2 || end < from)
        return rate;
    for (uint32_t i = 1; i < s->sample_count && oldest->wall_ns >= from; i++)
        oldest = sample_at(s, i);
    /* Journals are written at most a second late; a record older than two seconds means that it has
     * stopped. */
    if (wall_ns > end + 2 * second_ns)
        end = wall_ns;
    if (end < oldest->wall_ns + second_ns / 10) /* too short for a rate */
        return rate;
    rate.executions =
        (double)(newest->executions - oldest->executions) * 1e9 / (double)(end - oldest->wall_ns);
    if (newest->steps > oldest->steps)
        rate.steps =
            (double)(newest->steps - oldest->steps) * 1e9 / (double)(end - oldest->wall_ns);
    return rate;
}
