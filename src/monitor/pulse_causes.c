/* Counts recompiles by cause and by line, and torch.compile's side. */
#include "monitor/pulse_internal.h"

#include "base/mem.h"
#include "session/torch_lane.h"

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

static uint64_t bit_of(int64_t rank)
{
    return UINT64_C(1) << ((uint64_t)(rank + 1) & 63);
}

struct stet_pulse_cause *stet_pulse_cause(struct stet_pulse *p, enum stet_lane lane,
                                          const struct stet_recompile *r)
{
    const struct stet_line *at = r->origin.line ? &r->origin : &r->trigger;
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(r->function), r->cause);
    uint64_t key =
        stet_hash_mix_u64(stet_hash_mix(h, stet_hash_bytes(at->file)), at->line * STET_LANES + lane)
            .lo;
    struct stet_pulse_cause *c = NULL;

    for (size_t i = 0; i < p->cause_count && !c; i++)
        if (p->causes[i].key == key)
            c = &p->causes[i];
    if (!c) {
        if (p->cause_count < STET_PULSE_CAUSES) {
            c = &p->causes[p->cause_count++];
        } else {
            c = &p->causes[0];
            for (size_t i = 1; i < p->cause_count; i++)
                if (p->causes[i].last_ns < c->last_ns)
                    c = &p->causes[i];
        }
        *c = (struct stet_pulse_cause){
            .key = key, .lane = lane, .cause = r->cause, .line = at->line};
        snprintf(c->function, sizeof c->function, "%.*s", STET_FMT(r->function));
        snprintf(c->file, sizeof c->file, "%.*s", STET_FMT(at->file));
    }
    c->rank = r->rank;
    c->ranks |= bit_of(r->rank);
    tell(c, r);
    return c;
}

/* ---- torch.compile ---- */

static bool again(const struct stet_torch_compile *c)
{
    return c->number || c->failures != STET_TORCH_NONE;
}

/* Finds where the costs of a compile are counted. It does this once per compile, because it reads
 * source files. */
static void place(struct stet_pulse *p, const struct stet_torch *t, uint32_t i)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[i].frame];
    struct stet_buf what = STET_BUF_INIT, fix = STET_BUF_INIT;
    struct stet_row_change change = {0};
    struct stet_pulse_cause *cause;
    struct stet_torch_why why;
    struct stet_recompile r;

    stet_torch_explain(t, i, &why);
    stet_torch_what(&why, &what);
    stet_torch_fix(t, &why, &fix);
    change.what = stet_buf_as_view(&what);
    change.from = why.from.len ? why.from : (struct stet_view){0};
    change.to = why.to.len ? why.to : (struct stet_view){0};
    r = (struct stet_recompile){.cause = why.cause,
                                .rank = t->processes[f->process].rank,
                                .function = f->code.function,
                                .origin = {why.origin.file, why.origin.function, why.origin.line},
                                .changes = &change,
                                .change_count = 1,
                                .fix = stet_buf_as_view(&fix)};
    cause = stet_pulse_cause(p, STET_LANE_TORCH, &r);
    cause->last_ns = t->compiles[i].start_us * 1000;
    p->torch_places[i].cause = cause->key;
    p->torch_places[i].cell =
        (uint32_t)(stet_pulse_cell(p, STET_LANE_TORCH, r.rank, r.cause) - p->cells) + 1;
    stet_buf_release(&what);
    stet_buf_release(&fix);
}

/* The rank of the process became known: its costs move to that rank. */
static void follow_rank(struct stet_pulse *p, struct stet_pulse_place *at, int64_t rank)
{
    struct stet_pulse_cell c = p->cells[at->cell - 1];

    if (c.rank != rank && at->cell - 1 < STET_PULSE_CELLS - STET_LANES)
        at->cell = (uint32_t)(stet_pulse_cell(p, c.lane, rank, c.cause) - p->cells) + 1;
}

static bool make_room(struct stet_pulse *p, size_t compiles)
{
    size_t room = p->torch_room ? p->torch_room : 256;
    struct stet_pulse_place *more;

    if (compiles <= p->torch_room)
        return true;
    while (room < compiles)
        room *= 2;
    more = stet_mem_resize(p->torch_places, room, sizeof *more);
    if (!more)
        return false;
    memset(more + p->torch_room, 0, (room - p->torch_room) * sizeof *more);
    p->torch_places = more;
    p->torch_room = room;
    return true;
}

static void count_compile(struct stet_pulse *p, const struct stet_torch *t, uint32_t i)
{
    const struct stet_torch_compile *c = &t->compiles[i];
    uint32_t process = t->frames[c->frame].process;
    uint64_t wait = stet_session_torch_cost(c) * 1000, cost = wait;
    struct stet_pulse_torch *q = process < STET_PULSE_PROCESSES ? &p->torch[process] : NULL;

    if (!q || (!c->ended && !c->limit))
        return;
    q->compiles++;
    q->compile_ns += cost;
    q->limits += c->limit;
    if (!again(c))
        return;
    if (stet_session_torch_loaded(c)) /* from torch's own cache: nothing was compiled */
        cost = 0;
    q->recompiles++;
    q->lost_ns += cost;
    q->wait_ns += wait;
    if (!p->torch_places[i].cell)
        place(p, t, i);
    follow_rank(p, &p->torch_places[i], q->rank);
    p->cells[p->torch_places[i].cell - 1].count++;
    p->cells[p->torch_places[i].cell - 1].cost_ns += cost;
    p->cells[p->torch_places[i].cell - 1].wait_ns += wait;
    for (size_t k = 0; k < p->cause_count; k++) {
        if (p->causes[k].key != p->torch_places[i].cause)
            continue;
        p->causes[k].times++;
        p->causes[k].rank = q->rank;
        p->causes[k].ranks |= bit_of(q->rank);
        p->causes[k].cost_ns += cost;
        p->causes[k].wait_ns += wait;
    }
}

static bool ranks_moved(const struct stet_pulse *p, const struct stet_torch *t)
{
    for (size_t i = 0; i < p->torch_count; i++)
        if (p->torch[i].rank != t->processes[i].rank)
            return true;
    return false;
}

/* Costs arrive in pieces (the backward pass after the forward one), so a compile that changed is
 * counted anew. */
void stet_pulse_take_torch(struct stet_pulse *p, const struct stet_torch *t)
{
    if ((t->records == p->torch_records && !ranks_moved(p, t)) || !make_room(p, t->compile_count))
        return;
    p->torch_records = t->records;
    p->torch_count =
        t->process_count < STET_PULSE_PROCESSES ? t->process_count : STET_PULSE_PROCESSES;
    for (size_t i = 0; i < p->torch_count; i++)
        p->torch[i] =
            (struct stet_pulse_torch){.pid = t->processes[i].pid, .rank = t->processes[i].rank};
    for (size_t i = 0; i < p->cell_count; i++)
        if (p->cells[i].lane == STET_LANE_TORCH)
            p->cells[i].count = p->cells[i].cost_ns = p->cells[i].wait_ns = 0;
    for (size_t i = 0; i < p->cause_count; i++)
        if (p->causes[i].lane == STET_LANE_TORCH)
            p->causes[i].times = p->causes[i].cost_ns = p->causes[i].wait_ns = p->causes[i].ranks =
                0;
    for (size_t i = 0; i < t->frame_count; i++)
        if (t->frames[i].process < p->torch_count)
            p->torch[t->frames[i].process].frames++;
    for (size_t i = 0; i < t->break_count; i++)
        if (t->breaks[i].process < p->torch_count)
            p->torch[t->breaks[i].process].breaks += t->breaks[i].count;
    for (uint32_t i = 0; i < t->compile_count; i++)
        count_compile(p, t, i);
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
        s.benign += q->benign;
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
