/* Counts recompiles by cause and by line, and torch.compile's side. */
#include "monitor/pulse_internal.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "session/account.h"
#include "session/torch_lane.h"
#include "story/story_text.h"

#include <stdio.h>

struct stet_pulse_cell *stet_pulse_cell(struct stet_pulse *p, enum stet_lane lane, int64_t rank,
                                        enum stet_cause cause)
{
    struct stet_pulse_cell *c;

    for (size_t i = 0; i < p->cell_count; i++) {
        c = &p->cells[i];
        if (c->lane == lane && c->rank == rank && !c->other && c->cause == cause)
            return c;
    }
    /* The last two cells hold the rest, one per lane. They have no rank. */
    if (p->cell_count < STET_PULSE_CELLS - STET_LANES) {
        c = &p->cells[p->cell_count++];
        *c = (struct stet_pulse_cell){.lane = lane, .rank = rank, .cause = cause};
        return c;
    }
    if (p->cell_count < STET_PULSE_CELLS) {
        for (int i = 0; i < STET_LANES; i++)
            p->cells[p->cell_count++] =
                (struct stet_pulse_cell){.lane = (enum stet_lane)i, .rank = -1, .other = true};
    }
    return &p->cells[STET_PULSE_CELLS - STET_LANES + lane];
}

/* Writes the change ("x.shape[0] 4 → 6", "+ operation multiply f32[16,32]"), otherwise the
 * evidence. */
static void tell(struct stet_pulse_cause *c, const struct stet_recompile *r)
{
    const struct stet_row_change *change = r->change_count ? &r->changes[0] : NULL;

    if (change && stet_cause_change_side(change->kind) == STET_SIDE_CAME)
        snprintf(c->what, sizeof c->what, "+ %.*s %.*s", STET_FMT(change->what),
                 STET_FMT(change->to));
    else if (change && stet_cause_change_side(change->kind) == STET_SIDE_WENT)
        snprintf(c->what, sizeof c->what, "- %.*s %.*s", STET_FMT(change->what),
                 STET_FMT(change->from));
    else if (change && change->what.len && change->from.ptr && !change->to.ptr)
        snprintf(c->what, sizeof c->what, "%.*s was %.*s", STET_FMT(change->what),
                 STET_FMT(change->from));
    else if (change && change->what.len && !change->from.ptr && change->to.ptr)
        snprintf(c->what, sizeof c->what, "%.*s became %.*s", STET_FMT(change->what),
                 STET_FMT(change->to));
    else if (change && change->what.len && change->to.ptr)
        snprintf(c->what, sizeof c->what, "%.*s %.*s → %.*s", STET_FMT(change->what),
                 STET_FMT(change->from), STET_FMT(change->to));
    else if (change && change->what.len)
        snprintf(c->what, sizeof c->what, "%.*s", STET_FMT(change->what));
    else
        snprintf(c->what, sizeof c->what, "%.*s", STET_FMT(r->evidence));
    snprintf(c->fix, sizeof c->fix, "%.*s", STET_FMT(r->fix));
}

/* ---- recompiles and their stories ---- */

struct counting {
    struct stet_pulse *pulse;
    const size_t *process_of;
    size_t processes;
    struct row {
        int64_t rank;
        uint64_t time_ns, wait_ns;
    } *rows; /* by number, as the stories have them */
    size_t count, room;
};

static void count_xla(const struct counting *k, const struct stet_recompile *r, uint64_t cost_ns)
{
    size_t at = !k->process_of              ? r->process
                : r->process < k->processes ? k->process_of[r->process]
                                            : STET_PULSE_PROCESSES;
    struct stet_pulse_process *q = at < k->pulse->process_count ? &k->pulse->processes[at] : NULL;

    if (!q)
        return;
    q->benign += r->benign;
    if (r->benign)
        return;
    q->recompiles += r->event == STET_EVENT_AGAIN;
    q->lost_ns += cost_ns;
    q->wait_ns += r->wait_ns;
}

static void count_torch(const struct counting *k, const struct stet_recompile *r, uint64_t cost_ns)
{
    struct stet_pulse_torch *q =
        r->process < k->pulse->torch_count ? &k->pulse->torch[r->process] : NULL;

    if (!q || r->benign)
        return;
    q->recompiles += r->event == STET_EVENT_AGAIN;
    q->lost_ns += cost_ns;
    q->wait_ns += r->wait_ns;
}

static bool count_row(void *context, const struct stet_recompile *r)
{
    struct counting *k = context;
    uint64_t cost_ns = stet_recompile_lost(r) ? r->cost_ns : 0; /* zero if a store served it */
    struct stet_pulse_cell *cell;

    if (!stet_vec_room(&k->rows, &k->room, k->count, sizeof *k->rows))
        return false;
    k->rows[k->count++] = (struct row){r->rank, r->time_ns, r->wait_ns};
    (r->lane == STET_LANE_XLA ? count_xla : count_torch)(k, r, cost_ns);
    if (r->benign)
        return true;
    cell = stet_pulse_cell(k->pulse, r->lane, r->rank, r->cause);
    cell->count += r->event == STET_EVENT_AGAIN;
    cell->cost_ns += cost_ns;
    cell->wait_ns += r->wait_ns;
    return true;
}

static void forget(struct stet_pulse *p)
{
    for (size_t i = 0; i < p->process_count; i++) {
        struct stet_pulse_process *q = &p->processes[i];

        q->recompiles = q->wait_ns = q->lost_ns = q->benign = 0;
    }
    for (size_t i = 0; i < p->torch_count; i++)
        p->torch[i].recompiles = p->torch[i].wait_ns = p->torch[i].lost_ns = 0;
    p->cell_count = p->cause_count = p->share_count = 0;
}

/* Adds a recompile of the newest cause to the share of its rank. `shares` has that cause's alone.
 */
static void add_share(struct stet_pulse *p, struct stet_map *shares, const struct row *r)
{
    uint32_t at = stet_map_get(shares, (uint64_t)r->rank);
    struct stet_pulse_share *s;

    if (at == STET_MAP_NONE) {
        at = (uint32_t)p->share_count;
        if (!stet_vec_room(&p->shares, &p->share_room, p->share_count, sizeof *p->shares) ||
            !stet_map_put(shares, (uint64_t)r->rank, at))
            return; /* short of memory: the rank is shown without it */
        p->shares[p->share_count++] =
            (struct stet_pulse_share){.cause = p->cause_count - 1, .rank = r->rank};
    }
    s = &p->shares[at];
    s->times++;
    s->wait_ns += r->wait_ns;
    s->last_ns = r->time_ns > s->last_ns ? r->time_ns : s->last_ns;
}

/* Stories are sorted, the harmless ones last. */
static void take_story(struct stet_pulse *p, const struct stet_story *t, const struct counting *k)
{
    struct stet_buf names = STET_TEXT_INIT;
    struct stet_map shares = {0};
    struct stet_pulse_cause *c;

    if (t->benign || p->cause_count == STET_PULSE_CAUSES)
        return;
    c = &p->causes[p->cause_count++];
    *c = (struct stet_pulse_cause){.lane = t->lead.lane,
                                   .rank = t->lead.rank,
                                   .cause = t->cause,
                                   .line = t->source.line,
                                   .times = t->count,
                                   .wait_ns = t->wait_ns,
                                   .cost_ns = t->cost_ns};
    stet_story_text_names(&names, t);
    snprintf(c->function, sizeof c->function, "%s", names.ptr ? names.ptr : "");
    stet_buf_release(&names);
    snprintf(c->file, sizeof c->file, "%.*s", STET_FMT(t->source.file));
    tell(c, &t->lead);
    for (size_t i = 0; i < t->count && t->recompiles[i] < k->count; i++) {
        const struct row *r = &k->rows[t->recompiles[i]];

        add_share(p, &shares, r);
        if (r->time_ns > c->last_ns) {
            c->last_ns = r->time_ns;
            c->rank = r->rank;
        }
    }
    stet_map_release(&shares);
}

enum stet_rc stet_pulse_recount(struct stet_pulse *p, const struct stet_account *a,
                                const size_t *process_of, size_t processes, struct stet_err *err)
{
    struct counting k = {.pulse = p, .process_of = process_of, .processes = processes};
    enum stet_rc rc;

    forget(p);
    rc = a->each(a->source, count_row, &k, err);
    for (size_t i = 0; a->stories && i < a->stories->count; i++)
        take_story(p, &a->stories->items[i], &k);
    stet_mem_free(k.rows);
    return rc;
}

/* ---- torch.compile ---- */

static void count_compile(struct stet_pulse *p, const struct stet_torch *t, uint32_t i)
{
    const struct stet_torch_compile *c = &t->compiles[i];
    uint32_t process = t->frames[c->frame].process;
    struct stet_pulse_torch *q = process < STET_PULSE_PROCESSES ? &p->torch[process] : NULL;

    if (!q || (!c->ended && !c->limit))
        return;
    q->compiles++;
    q->compile_ns += stet_session_torch_cost(c) * 1000;
    q->limits += c->limit;
}

static bool ranks_moved(const struct stet_pulse *p, const struct stet_torch *t)
{
    for (size_t i = 0; i < p->torch_count; i++)
        if (p->torch[i].rank != t->processes[i].rank)
            return true;
    return false;
}

/* Costs arrive in pieces (the backward pass after the forward one), so all is counted anew when
 * something changed. */
bool stet_pulse_take_torch(struct stet_pulse *p, const struct stet_torch *t)
{
    if (t->records == p->torch_records && !ranks_moved(p, t))
        return false;
    p->torch_records = t->records;
    p->torch_count =
        t->process_count < STET_PULSE_PROCESSES ? t->process_count : STET_PULSE_PROCESSES;
    for (size_t i = 0; i < p->torch_count; i++)
        p->torch[i] =
            (struct stet_pulse_torch){.pid = t->processes[i].pid, .rank = t->processes[i].rank};
    for (size_t i = 0; i < t->frame_count; i++)
        if (t->frames[i].process < p->torch_count)
            p->torch[t->frames[i].process].frames++;
    for (size_t i = 0; i < t->break_count; i++)
        if (t->breaks[i].process < p->torch_count)
            p->torch[t->breaks[i].process].breaks += t->breaks[i].count;
    for (uint32_t i = 0; i < t->compile_count; i++)
        count_compile(p, t, i);
    return true;
}

/* ---- sums and names ---- */

static void add_torch(struct stet_pulse_sum *s, const struct stet_pulse *p, int64_t rank)
{
    for (size_t i = 0; i < p->torch_count; i++) {
        const struct stet_pulse_torch *q = &p->torch[i];

        if (rank != STET_ALL_RANKS && q->rank != rank)
            continue;
        s->torch_processes++;
        s->torch_frames += q->frames;
        s->torch_compiles += q->compiles;
        s->torch_ns += q->compile_ns;
        s->torch_recompiles += q->recompiles;
        s->torch_lost_ns += q->lost_ns;
        s->torch_wait_ns += q->wait_ns;
        s->torch_breaks += q->breaks;
        s->torch_limits += q->limits;
    }
}

/* While some processes run, those that have ended have no rate. Afterwards their rate is that of
 * their last moments. */
static bool has_rate(const struct stet_pulse *p, const struct stet_pulse_process *q)
{
    for (size_t i = 0; i < p->process_count; i++)
        if (stet_pulse_runs(&p->processes[i]))
            return stet_pulse_runs(q);
    return true;
}

static void add_steps(struct stet_pulse_sum *s, const struct stet_pulse *p,
                      const struct stet_pulse_process *q, uint64_t now_ns)
{
    struct stet_steps_answer now = stet_ledger_steps_live_now(&q->steps);
    struct stet_rate rate =
        stet_ledger_steps_live_rate(&q->steps, stet_pulse_runs(q) ? now_ns : q->last_ns);
    bool rated = has_rate(p, q);

    s->executions_rate += rated ? rate.executions : 0;
    if (q->steps_shown > s->steps_shown)
        s->steps_shown = q->steps_shown;
    if (!now.known)
        return;
    if (rated && (!s->rate_known || rate.steps < s->steps_rate)) {
        s->steps_rate = rate.steps;
        s->rate_known = true;
    }
    s->steps_known = true;
    if (now.completed > s->steps)
        s->steps = now.completed;
}

struct stet_pulse_sum stet_pulse_add_up(const struct stet_pulse *p, int64_t rank, uint64_t now_ns)
{
    struct stet_pulse_sum s = {0};

    for (size_t i = 0; i < p->process_count; i++) {
        const struct stet_pulse_process *q = &p->processes[i];

        if (!q->used || (rank != STET_ALL_RANKS && q->rank != rank))
            continue;
        s.processes++;
        s.running += stet_pulse_runs(q);
        s.compiles += q->compiles;
        s.compile_ns += q->compile_ns;
        s.compiling += stet_pulse_runs(q) && q->begun > q->compiles ? q->begun - q->compiles : 0;
        s.failed += q->failed;
        s.recompiles += q->recompiles;
        s.lost_ns += q->lost_ns;
        s.wait_ns += q->wait_ns;
        s.misses += q->misses;
        s.executions += q->executions;
        s.loads += q->loads;
        s.load_ns += q->load_ns;
        s.stored += q->stored;
        s.stored_bytes += q->stored_bytes;
        s.layer_ns += q->layer_ns;
        s.errors += q->errors;
        s.faults += q->faults;
        s.lost_records += q->lost_records;
        for (int k = 0; k < STET_SERVED_COUNT; k++)
            s.served[k] += q->served[k];
        for (int k = 0; k < STET_DIRECTIONS; k++) {
            s.transfers[k] += q->transfers[k];
            if (k < STET_MEASURED)
                s.transfer_bytes[k] += q->transfer_bytes[k];
        }
        add_steps(&s, p, q, now_ns);
    }
    add_torch(&s, p, rank);
    return s;
}

struct stet_view stet_pulse_platform(const struct stet_pulse *p,
                                     const struct stet_pulse_device *device)
{
    const struct stet_process_digest *d = p->digest && device->process < p->digest->process_count
                                              ? &p->digest->processes[device->process]
                                              : NULL;

    for (size_t i = 0; d && i < d->plugin_count; i++)
        if (d->plugins[i].id == device->plugin && d->plugins[i].platform.len)
            return d->plugins[i].platform;
    return STET_VIEW("device");
}

const char *stet_pulse_direction_name(enum stet_pulse_direction direction)
{
    static const char *const names[] = {"to_device", "to_host", "between_devices"};

    return names[direction];
}
