/* Takes the records of a journal into the digest of its process, one function per kind of record.
 */
#include "ledger/run_load.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/vec.h"
#include "journal/format.h"
#include "journal/values_record.h"
#include "ledger/run_gap.h"
#include "ledger/run_job.h"
#include "ledger/run_lift.h"
#include "ledger/run_phase.h"
#include "ledger/run_wait.h"
#include "pod/launcher.h"

#include <stdlib.h>

static struct stet_view keep(struct stet_run_digest *d, struct stet_view v)
{
    return v.len ? stet_arena_copy(&d->arena, v) : (struct stet_view){0};
}

static struct stet_process_digest *process_of(struct stet_run_digest *d, struct stet_hash uid)
{
    struct stet_process_digest *p;

    for (size_t i = 0; i < d->process_count; i++) {
        if (stet_hash_eq(d->processes[i].uid, uid))
            return &d->processes[i];
    }
    if (!stet_vec_room(&d->processes, &d->process_room, d->process_count, sizeof *d->processes))
        return NULL;
    p = &d->processes[d->process_count++];
    *p = (struct stet_process_digest){.uid = uid, .rank = -1};
    return p;
}

static struct stet_compile_event *compile_of(struct stet_process_digest *p, uint64_t index,
                                             bool load)
{
    struct stet_compile_event *c;

    /* The index is usually new, or one of the last. */
    for (size_t i = index < p->next_index[load] ? p->compile_count : 0; i-- > 0;) {
        if (p->compiles[i].index == index && p->compiles[i].load == load)
            return &p->compiles[i];
    }
    if (!stet_vec_room(&p->compiles, &p->compile_room, p->compile_count, sizeof *p->compiles))
        return NULL;
    if (index >= p->next_index[load] && index < UINT64_MAX)
        p->next_index[load] = index + 1;
    c = &p->compiles[p->compile_count++];
    *c = (struct stet_compile_event){.index = index, .load = load};
    return c;
}

struct stet_compile_event *stet_ledger_run_compile(struct stet_process_digest *p, uint64_t index)
{
    return compile_of(p, index, false);
}

static struct stet_plugin_event *plugin_of(struct stet_process_digest *p, uint64_t id)
{
    struct stet_plugin_event *e;

    for (size_t i = 0; i < p->plugin_count; i++) {
        if (p->plugins[i].id == id)
            return &p->plugins[i];
    }
    if (!stet_vec_room(&p->plugins, &p->plugin_room, p->plugin_count, sizeof *p->plugins))
        return NULL;
    e = &p->plugins[p->plugin_count++];
    *e = (struct stet_plugin_event){.id = id};
    return e;
}

static void on_process(struct stet_run_digest *d, struct stet_process_digest *p,
                       const struct stet_rec_process *r)
{
    struct stet_pod_place place;
    struct stet_view *env = STET_NEW_ARRAY(&d->arena, struct stet_view, r->env.count);

    for (size_t i = 0; env && i < r->env.count; i++)
        env[i] = keep(d, r->env.items[i]);
    p->env = env;
    p->env_count = env ? r->env.count : 0;
    p->entry = keep(d, r->entry);
    p->python = keep(d, r->python);
    p->start_ns = r->start_wall_ns;
    stet_pod_launcher_listed(&place, r->env.items, r->env.count);
    p->launcher = place.launcher;
    if (p->rank < 0)
        p->rank = place.rank;
    if (!p->world)
        p->world = place.world;
}

static void on_plugin(struct stet_run_digest *d, struct stet_process_digest *p,
                      const struct stet_rec_plugin *r)
{
    struct stet_plugin_event *e = plugin_of(p, r->plugin);

    if (!e)
        return;
    e->path = keep(d, r->path);
    e->build_id = keep(d, r->build_id);
    e->note = keep(d, r->note);
    e->api_major = r->api_major;
    e->api_minor = r->api_minor;
}

static void keep_after(struct stet_run_digest *d, struct stet_view text, const char *name,
                       struct stet_view *out)
{
    size_t n = strlen(name);

    if (stet_view_starts(text, name))
        *out = keep(d, stet_view_of(text.ptr + n, text.len - n));
}

static void on_client(struct stet_run_digest *d, struct stet_process_digest *p, uint64_t mono_ns,
                      const struct stet_rec_client_create *r)
{
    struct stet_plugin_event *e = plugin_of(p, r->plugin);

    if (!e || r->error_code)
        return;
    if (r->begin_ns && r->begin_ns < mono_ns) {
        p->client_begin_ns = p->client_begin_ns ? p->client_begin_ns : r->begin_ns;
        p->client_ns += mono_ns - r->begin_ns;
    }
    e->platform = keep(d, r->platform);
    e->platform_version = keep(d, r->platform_version);
    e->devices = r->devices;
    e->addressable = r->addressable;
    for (size_t i = 0; i < r->topology_attributes.count; i++) {
        struct stet_view at = r->topology_attributes.items[i];

        keep_after(d, at, "target_config=", &e->target);
        keep_after(d, at, "host_target_machine_options=", &e->host_target);
    }
    for (size_t i = 0; stet_view_starts(r->platform_version, "stet cpu") && i < r->options.count;
         i++) {
        keep_after(d, r->options.items[i], "platform_name=", &e->told_platform);
        keep_after(d, r->options.items[i], "device_count=", &e->told_devices);
    }
}

static void on_compile_begin(struct stet_run_digest *d, struct stet_process_digest *p,
                             uint64_t time_ns, const struct stet_rec_compile_begin *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, false);

    if (!c)
        return;
    c->time_ns = time_ns;
    c->program = r->program;
    c->options = r->options;
    c->program_size = r->program_size;
    c->thread = r->thread;
    c->plugin = r->plugin;
    c->client = r->client;
    c->format = keep(d, r->format);
}

static void on_compile_end(struct stet_run_digest *d, struct stet_process_digest *p,
                           uint64_t mono_ns, const struct stet_rec_compile_end *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, false);

    if (!c)
        return;
    c->ended = true;
    c->executable = r->executable;
    c->plugin_ns = r->plugin_ns;
    c->layer_ns = r->layer_ns;
    c->served_ns = r->served_ns;
    c->instead_ns = r->instead_ns;
    c->error_code = r->error_code;
    c->error = keep(d, r->error);
    c->fingerprint = keep(d, r->fingerprint);
    c->served = stet_journal_served(r->served);
    c->store = keep(d, r->store);
    c->outcome = stet_journal_outcome_of(r->store);
    c->tier = keep(d, r->tier);
    c->agent = keep(d, r->agent);
    c->agent_ns = r->agent_ns;
    c->key = r->key;
    c->components = keep(d, r->components);
    c->elsewhere = keep(d, r->elsewhere);
    if (r->name.len)
        c->name = keep(d, r->name);
    c->begin_ns = r->begin_ns;
    c->end_ns = mono_ns;
    stet_ledger_wait_compiled(p, c, c->stack_thread ? c->stack_thread : c->thread);
}

static void on_stored(struct stet_process_digest *p, const struct stet_rec_stored *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, false);

    if (c)
        c->stored = r->bytes > 0;
}

static void on_compiled_memory(struct stet_process_digest *p,
                               const struct stet_rec_compiled_memory *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, false);

    if (!c)
        return;
    c->has_memory = true;
    c->temp_bytes = r->temp;
    c->code_bytes = r->code;
}

static void on_deserialize(struct stet_run_digest *d, struct stet_process_digest *p,
                           uint64_t mono_ns, const struct stet_rec_deserialize *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, true);

    if (!c)
        return;
    c->ended = true;
    c->time_ns = mono_ns + p->wall_minus_mono;
    c->program = r->bytes_hash;
    c->program_size = r->bytes_size;
    c->executable = r->executable;
    c->plugin = r->plugin;
    c->client = r->client;
    c->thread = r->thread;
    c->plugin_ns = r->plugin_ns;
    c->error_code = r->error_code;
    c->error = keep(d, r->error);
    c->name = keep(d, r->name);
    c->fingerprint = keep(d, r->fingerprint);
    c->begin_ns = r->begin_ns;
    c->end_ns = mono_ns;
    stet_ledger_wait_compiled(p, c, c->stack_thread ? c->stack_thread : c->thread);
}

/* True for the frame in which JAX compiles when the user lowers and compiles by hand. */
static bool is_ahead(const struct stet_frame *f)
{
    return stet_view_ends(f->file, "/jax/_src/stages.py");
}

enum { LINES_MOST = 8, STACK_MOST = 32 };

/* Returns the user's own frames, the innermost first. */
static struct stet_frames own_lines(struct stet_run_digest *d, struct stet_frames frames)
{
    struct stet_frame own[STACK_MOST], *kept;
    size_t n = 0;

    for (size_t i = 0; i < frames.count && n < STACK_MOST; i++)
        if (!stet_path_is_installed(frames.items[i].file))
            own[n++] = (struct stet_frame){.file = keep(d, frames.items[i].file),
                                           .function = keep(d, frames.items[i].function),
                                           .line = frames.items[i].line,
                                           .depth = (uint32_t)i};
    kept = n ? STET_NEW_ARRAY(&d->arena, struct stet_frame, n) : NULL;
    if (!kept)
        return (struct stet_frames){0};
    memcpy(kept, own, n * sizeof *kept);
    return (struct stet_frames){kept, n};
}

static const struct stet_stack_trigger *stack_of(const struct stet_stacks *s,
                                                 struct stet_hash stack)
{
    uint32_t at = stet_map_get(&s->by_hash, stack.lo);

    return at != STET_MAP_NONE && stet_hash_eq(s->items[at].stack, stack) ? &s->items[at] : NULL;
}

void stet_ledger_stacks_release(struct stet_stacks *s)
{
    stet_mem_free(s->items);
    stet_map_release(&s->by_hash);
}

/* Stacks are written before the records that name them. */
static void on_stack(struct stet_run_digest *d, struct stet_stacks *s,
                     const struct stet_rec_stack *r)
{
    const struct stet_frame *best = r->frames.count ? &r->frames.items[0] : NULL;
    struct stet_stack_trigger *t;

    if (stack_of(s, r->stack) || !stet_vec_room(&s->items, &s->room, s->count, sizeof *s->items) ||
        !stet_map_put(&s->by_hash, r->stack.lo, (uint32_t)s->count))
        return;
    t = &s->items[s->count++];
    *t = (struct stet_stack_trigger){.stack = r->stack, .frames = own_lines(d, r->frames)};
    t->lines = t->frames;
    if (t->lines.count > LINES_MOST)
        t->lines.count = LINES_MOST;
    if (t->lines.count)
        best = &t->lines.items[0];
    for (size_t i = 0; i < r->frames.count; i++)
        t->ahead |= is_ahead(&r->frames.items[i]);
    if (best) {
        t->trigger.file = keep(d, best->file);
        t->trigger.function = keep(d, best->function);
        t->trigger.line = best->line;
    }
}

static void on_compile_stack(struct stet_run_digest *d, struct stet_process_digest *p,
                             const struct stet_stacks *s, const struct stet_rec_compile_stack *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, r->load != 0);
    const struct stet_stack_trigger *t;

    if (!c)
        return;
    if (r->missing.len)
        c->no_stack = keep(d, r->missing);
    if (!r->waits)
        return;
    c->stack_thread = r->thread;
    if (r->thread)
        stet_ledger_wait_compiled(p, c, r->thread);
    t = stack_of(s, r->stack);
    if (t) {
        c->trigger = t->trigger;
        c->ahead = t->ahead;
        c->lines = t->lines;
        c->stack = t->frames;
    }
}

static void on_compile_copy(struct stet_run_digest *d, struct stet_process_digest *p,
                            const struct stet_stacks *s, const struct stet_rec_compile_copy *r)
{
    const struct stet_stack_trigger *t = stack_of(s, r->stack);
    struct stet_journal_copied *c;

    if (!stet_vec_room(&p->copies, &p->copy_room, p->copy_count, sizeof *p->copies))
        return;
    c = &p->copies[p->copy_count++];
    *c = (struct stet_journal_copied){.time_ns = r->copied_ns + p->wall_minus_mono};
    stet_journal_copied_read(r, c);
    c->dtype = keep(d, c->dtype);
    c->value = keep(d, c->value);
    if (t)
        c->lines = t->lines;
}

/* A run may compile a hundred thousand times: after this many, later compiles have no values. */
enum { VALUES_MOST = 256 << 20 };

static void on_compile_values(struct stet_run_digest *d, struct stet_process_digest *p,
                              const struct stet_rec_compile_values *r)
{
    struct stet_compile_event *c = compile_of(p, r->index, r->load != 0);
    struct stet_view values = r->packed.len ? r->packed : r->values;

    if (!c || d->value_bytes + values.len > VALUES_MOST)
        return;
    c->values = keep(d, values);
    d->value_bytes += values.len;
}

enum { RESOURCE_EXHAUSTED = 8 }; /* of PJRT's error codes */

/* XLA reports a failed execution once for each of its results. */
static bool is_again(const struct stet_exhaustion *last, const struct stet_rec_plugin_error *r)
{
    return last->executable == r->executable && last->compile == r->compile &&
           stet_view_eq(last->function, r->function) && stet_view_eq(last->message, r->message);
}

static void on_exhaustion(struct stet_run_digest *d, struct stet_process_digest *p,
                          const struct stet_rec_plugin_error *r, uint64_t time_ns)
{
    struct stet_exhaustion *last = &p->exhaustions[p->exhaustion_count - (p->exhaustion_count > 0)];

    if (r->code != RESOURCE_EXHAUSTED)
        return;
    if (p->exhaustion_count && is_again(last, r)) {
        last->times += r->count;
        return;
    }
    if (p->exhaustion_count == STET_EXHAUSTIONS)
        return;
    p->exhaustions[p->exhaustion_count++] =
        (struct stet_exhaustion){.time_ns = time_ns + p->wall_minus_mono,
                                 .function = keep(d, r->function),
                                 .message = keep(d, r->message),
                                 .file = keep(d, r->file),
                                 .line = r->line,
                                 .executable = r->executable,
                                 .compile = r->compile,
                                 .times = r->count ? r->count : 1};
}

/* One counter per name: a forked child reports its own, in its own journal. */
static void on_counter(struct stet_run_digest *d, struct stet_process_digest *p,
                       const struct stet_rec_counter *r)
{
    if (!stet_vec_room(&p->counters, &p->counter_room, p->counter_count, sizeof *p->counters))
        return;
    p->counters[p->counter_count++] = (struct stet_counter){.framework = keep(d, r->framework),
                                                            .name = keep(d, r->name),
                                                            .samples = r->samples,
                                                            .total = r->total};
}

static void on_process_end(struct stet_process_digest *p, const struct stet_rec_process_end *r)
{
    p->ended = true;
    p->executions = r->executions;
    p->to_device_count = r->to_device_count;
    p->to_device_bytes = r->to_device_bytes;
    p->to_host_count = r->to_host_count;
    p->to_host_bytes = r->to_host_bytes;
    for (size_t i = 0; i < r->executables.count && i < r->counts.count; i++) {
        for (size_t k = 0; k < p->compile_count; k++) {
            if (p->compiles[k].executable == r->executables.items[i])
                p->compiles[k].executions = r->counts.items[i];
        }
    }
}

static void on_plugin_error(struct stet_run_digest *d, struct stet_process_digest *p,
                            const struct stet_rec_plugin_error *r, uint64_t time_ns)
{
    p->plugin_errors += r->count ? r->count : 1;
    on_exhaustion(d, p, r, time_ns);
}

static void on_fault(struct stet_process_digest *p, const struct stet_rec_fault *r)
{
    enum stet_fault kind = stet_journal_fault_of(r->what);

    if (kind == STET_FAULT_STACK_DEADLINE) { /* a quick compile */
        p->unread_stacks += r->count;
    } else {
        p->faults += r->count;
        p->fault_kinds[kind] += r->count;
    }
}

static void on_loss(struct stet_process_digest *p, const struct stet_rec_loss *r)
{
    p->lost_records += r->records;
    p->lost_executions += r->executions;
}

static void on_execs(struct stet_process_digest *p, const struct stet_rec_execs *r)
{
    stet_ledger_gap_execs(p, r);
    if (!p->ended)
        p->executions += r->count;
}

/* The records about one compile or load. */
static void take_compile(struct stet_run_digest *d, struct stet_process_digest *p,
                         struct stet_stacks *s, const struct stet_journal_event *e)
{
    switch (e->kind) {
    case STET_REC_compile_begin:
        on_compile_begin(d, p, e->time_ns + p->wall_minus_mono, e->record);
        break;
    case STET_REC_compile_end:
        on_compile_end(d, p, e->time_ns, e->record);
        break;
    case STET_REC_stored:
        on_stored(p, e->record);
        break;
    case STET_REC_unlifted:
    case STET_REC_lift_compared:
    case STET_REC_lift_ahead:
    case STET_REC_lift_plain:
        stet_ledger_run_lift(d, p, e);
        break;
    case STET_REC_compiled_memory:
        on_compiled_memory(p, e->record);
        break;
    case STET_REC_deserialize:
        on_deserialize(d, p, e->time_ns, e->record);
        break;
    case STET_REC_first_run:
        stet_ledger_wait_ran(p, e->record, e->time_ns);
        break;
    case STET_REC_compile_stack:
        on_compile_stack(d, p, s, e->record);
        break;
    case STET_REC_compile_values:
        on_compile_values(d, p, e->record);
        break;
    case STET_REC_compile_copy:
        on_compile_copy(d, p, s, e->record);
        break;
    default:
        break;
    }
}

void stet_ledger_run_take(struct stet_run_digest *d, struct stet_process_digest *p,
                          struct stet_stacks *s, const struct stet_journal_event *e)
{
    uint64_t wall = e->time_ns + p->wall_minus_mono;

    if (wall > p->last_ns)
        p->last_ns = wall;
    switch (e->kind) {
    case STET_REC_process:
        on_process(d, p, e->record);
        break;
    case STET_REC_plugin:
        on_plugin(d, p, e->record);
        break;
    case STET_REC_client_create:
        on_client(d, p, e->time_ns, e->record);
        break;
    case STET_REC_job:
    case STET_REC_agreement:
    case STET_REC_job_end:
        stet_ledger_run_job(d, p, e);
        break;
    case STET_REC_phase:
        stet_ledger_run_phase(d, p, e->record, e->time_ns);
        break;
    case STET_REC_stack:
        on_stack(d, s, e->record);
        break;
    case STET_REC_execs:
        on_execs(p, e->record);
        break;
    case STET_REC_plugin_error:
        on_plugin_error(d, p, e->record, e->time_ns);
        break;
    case STET_REC_fault:
        on_fault(p, e->record);
        break;
    case STET_REC_loss:
        on_loss(p, e->record);
        break;
    case STET_REC_counter:
        on_counter(d, p, e->record);
        break;
    case STET_REC_process_end:
        on_process_end(p, e->record);
        break;
    default:
        take_compile(d, p, s, e);
        break;
    }
}

struct stet_process_digest *stet_ledger_run_process(struct stet_run_digest *d,
                                                    const struct stet_rec_segment *segment)
{
    struct stet_process_digest *p = process_of(d, segment->uid);

    if (!p)
        return NULL;
    p->host = keep(d, segment->host);
    p->pid = segment->pid;
    p->wall_minus_mono = segment->wall_ns - segment->mono_ns;
    if (!p->first_ns || segment->wall_ns < p->first_ns)
        p->first_ns = segment->wall_ns;
    return p;
}
