/* Collects the sizes of a run's programs, and the times between their executions. */
#include "session/run_sizes.h"

#include "base/mem.h"
#include "base/vec.h"
#include "gate/seen.h"
#include "journal/execs.h"
#include "journal/values_record.h"
#include "ledger/events.h"
#include "session/run_sizes_internal.h"

enum { MOST_STEPS = 512, MOST_ORDER = 1 << 16 };

static enum stet_rc no_memory(struct stet_err *err)
{
    return stet_fail(err, STET_NO_MEMORY, "out of memory for the sizes of a run");
}

void stet_session_sizes_init(struct stet_run_sizes *s)
{
    *s = (struct stet_run_sizes){0};
    stet_arena_init(&s->arena, (size_t)1 << 30);
    stet_intern_init(&s->keys, (size_t)256 << 20);
}

void stet_session_sizes_release(struct stet_run_sizes *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct stet_size_function *f = &s->functions[i];

        for (size_t k = 0; k < f->program_count; k++)
            stet_mem_free(f->programs[k].steps);
        stet_mem_free(f->programs);
        stet_mem_free(f->order);
    }
    stet_mem_free(s->functions);
    stet_mem_free(s->members);
    stet_map_release(&s->by_executable);
    stet_intern_release(&s->keys);
    stet_arena_release(&s->arena);
    *s = (struct stet_run_sizes){0};
}

/* ---- programs ---- */

/* What programs of one function have in common: names, dtypes and ranks. */
static uint32_t key_of(struct stet_run_sizes *s, const struct stet_seen *seen)
{
    struct stet_buf key = STET_BUF_INIT;
    uint32_t number;

    stet_buf_view(&key, seen->family);
    for (uint32_t i = 0; i < seen->arg_count; i++)
        stet_buf_printf(&key, "\n%.*s:%.*s:%u", STET_FMT(seen->args[i].name),
                        STET_FMT(seen->args[i].type), seen->args[i].rank);
    number = key.failed ? STET_INTERN_NONE : stet_intern_add(&s->keys, stet_buf_as_view(&key));
    stet_buf_release(&key);
    return number;
}

struct stet_size_function *stet_session_sizes_function(struct stet_run_sizes *s, uint32_t key,
                                                       struct stet_view name, uint32_t columns)
{
    struct stet_size_function *f;

    if (key > s->count || (key == s->count &&
                           !stet_vec_room(&s->functions, &s->room, s->count, sizeof *s->functions)))
        return NULL;
    f = &s->functions[key];
    if (key < s->count)
        return f;
    *f = (struct stet_size_function){.name = stet_arena_copy(&s->arena, name)};
    f->column_names = STET_NEW_ARRAY(&s->arena, struct stet_view, columns + 1);
    f->column_dims = STET_NEW_ARRAY(&s->arena, uint32_t, columns + 1);
    if (s->arena.failed)
        return NULL;
    s->count++;
    return f;
}

struct stet_size_program *stet_session_sizes_program(struct stet_run_sizes *s,
                                                     struct stet_size_function *f,
                                                     const int64_t *sizes)
{
    size_t bytes = f->column_count * sizeof *sizes;
    int64_t *own;

    for (size_t i = 0; i < f->program_count; i++)
        if (!memcmp(f->programs[i].sizes, sizes, bytes))
            return &f->programs[i];
    own = STET_NEW_ARRAY(&s->arena, int64_t, f->column_count + 1);
    if (!own ||
        !stet_vec_room(&f->programs, &f->program_room, f->program_count, sizeof *f->programs))
        return NULL;
    memcpy(own, sizes, bytes);
    f->programs[f->program_count] = (struct stet_size_program){.sizes = own};
    return &f->programs[f->program_count++];
}

static struct stet_size_function *function_of(struct stet_run_sizes *s,
                                              const struct stet_seen *seen)
{
    struct stet_size_function *f;
    uint32_t columns = 0;

    for (uint32_t i = 0; i < seen->arg_count; i++)
        columns += seen->args[i].rank;
    f = stet_session_sizes_function(s, key_of(s, seen), seen->family, columns);
    for (uint32_t i = 0; f && f->column_count < columns && i < seen->arg_count; i++) {
        struct stet_view name = stet_arena_copy(&s->arena, seen->args[i].name);

        for (uint32_t d = 0; d < seen->args[i].rank; d++) {
            f->column_names[f->column_count] = name;
            f->column_dims[f->column_count++] = d;
        }
    }
    return s->arena.failed ? NULL : f;
}

static struct stet_size_program *program_of(struct stet_run_sizes *s, struct stet_size_function *f,
                                            const struct stet_seen *seen)
{
    int64_t *sizes = stet_mem_calloc(f->column_count + 1, sizeof *sizes);
    struct stet_size_program *p = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; sizes && i < seen->arg_count; i++)
        for (uint32_t d = 0; d < seen->args[i].rank; d++)
            sizes[n++] = seen->args[i].dims[d];
    if (sizes)
        p = stet_session_sizes_program(s, f, sizes);
    stet_mem_free(sizes);
    return p;
}

static bool remember(struct stet_run_sizes *s, uint32_t process, uint64_t executable,
                     uint32_t function, uint32_t program)
{
    if (!stet_vec_grow(&s->members, &s->member_room, s->member_count, 2, sizeof *s->members, 0))
        return false;
    s->members[s->member_count] = function;
    s->members[s->member_count + 1] = program;
    s->member_count += 2;
    return stet_map_put(&s->by_executable, stet_map_pair(process, (uint32_t)executable),
                        (uint32_t)(s->member_count / 2 - 1));
}

/* False when out of memory. A program that cannot be read is only counted. */
static bool take_compile(struct stet_run_sizes *s, const struct stet_compile_event *c,
                         uint32_t process, const char *folder,
                         struct stet_session_programs *programs)
{
    struct stet_history_side side;
    struct stet_size_function *f;
    struct stet_size_program *p = NULL;
    struct stet_traits traits = {0};
    struct stet_arena arena;
    struct stet_seen seen;
    bool lacking = false;

    if (c->error_code || !c->ended || stet_journal_values_function(c->values).library)
        return true;
    if (stet_session_programs_open(programs, folder, c, &side, NULL) != STET_OK) {
        s->unreadable++;
        return true;
    }
    stet_arena_init(&arena, (size_t)64 << 20);
    stet_traits_make(&traits, side.program.program, &arena, &lacking);
    lacking = lacking ||
              stet_gate_seen_make(&seen, side.program.program, &traits, side.program.fingerprint,
                                  (struct stet_hash){0}, &arena) != STET_OK;
    if (!lacking && (f = function_of(s, &seen)) && (p = program_of(s, f, &seen))) {
        p->runs += c->executions;
        if (c->served != STET_SERVED_MEMORY && c->served != STET_SERVED_LIFTED) {
            p->compiles++;
            p->stored += c->load || c->served != STET_SERVED_COMPILED;
            p->wait_s += (double)stet_compile_event_wait(c) / 1e9;
        }
        lacking = !remember(s, process, c->executable, (uint32_t)(f - s->functions),
                            (uint32_t)(p - f->programs));
    }
    stet_arena_release(&arena);
    return p && !lacking;
}

/* ---- executions ---- */

struct pass {
    struct stet_run_sizes *s;
    const struct stet_run_digest *d;
    size_t route[4096]; /* process + 1, by event source */
    struct stet_exec *batch;
    uint32_t *last; /* by function: the execution before in this batch + 1 */
};

static bool add_step(struct stet_size_program *p, uint64_t ns)
{
    if (p->step_count >= MOST_STEPS)
        return true;
    if (!stet_vec_room(&p->steps, &p->step_room, p->step_count, sizeof *p->steps))
        return false;
    p->steps[p->step_count++] = (double)ns / 1e9;
    return true;
}

static bool take_exec(struct pass *p, uint32_t process, uint32_t at, bool timed)
{
    const struct stet_exec *e = &p->batch[at];
    uint32_t number =
        stet_map_get(&p->s->by_executable, stet_map_pair(process, (uint32_t)e->executable));
    uint32_t function, program, before;
    struct stet_size_function *f;

    if (number == STET_MAP_NONE)
        return true;
    function = p->s->members[2 * (size_t)number];
    program = p->s->members[2 * (size_t)number + 1];
    f = &p->s->functions[function];
    before = p->last[function];
    p->last[function] = at + 1;
    if (f->order_count < MOST_ORDER) {
        if (!stet_vec_room(&f->order, &f->order_room, f->order_count, sizeof *f->order))
            return false;
        f->order[f->order_count++] = program;
    }
    if (!before || !timed)
        return true;
    number = stet_map_get(&p->s->by_executable,
                          stet_map_pair(process, (uint32_t)p->batch[before - 1].executable));
    return add_step(&f->programs[p->s->members[2 * (size_t)number + 1]],
                    e->time_ns - p->batch[before - 1].time_ns);
}

/* A batch contains no compile, so the time between two executions of a batch is a step's own. */
static bool take_event(struct pass *p, const struct stet_run_event *e)
{
    const union stet_record *r = e->event.record;

    if (e->process >= sizeof p->route / sizeof *p->route)
        return true;
    if (e->event.kind == STET_REC_segment)
        for (size_t i = 0; i < p->d->process_count; i++)
            if (stet_hash_eq(p->d->processes[i].uid, r->segment.uid))
                p->route[e->process] = i + 1;
    if (e->event.kind != STET_REC_execs || !p->route[e->process] ||
        stet_journal_execs_decode(&r->execs, p->batch, STET_EXECS_MAX, NULL) != STET_OK)
        return true;
    memset(p->last, 0, (p->s->count + 1) * sizeof *p->last);
    for (uint32_t i = 0; i < r->execs.count; i++)
        if (!take_exec(p, (uint32_t)(p->route[e->process] - 1), i, r->execs.every == 1))
            return false;
    return true;
}

static enum stet_rc take_executions(struct stet_run_sizes *s, const struct stet_run_digest *d,
                                    const char *folder, struct stet_err *err)
{
    struct pass *p = stet_mem_calloc(1, sizeof *p);
    struct stet_events events;
    struct stet_run_event e;
    enum stet_rc rc = p ? stet_ledger_events_open(&events, folder, err) : no_memory(err);
    bool fine;

    if (rc != STET_OK) {
        stet_mem_free(p);
        return rc;
    }
    p->s = s;
    p->d = d;
    p->batch = stet_mem_calloc(STET_EXECS_MAX, sizeof *p->batch);
    p->last = stet_mem_calloc(s->count + 1, sizeof *p->last);
    fine = p->batch && p->last;
    while (fine && stet_ledger_events_next(&events, &e) == STET_OK)
        fine = take_event(p, &e);
    stet_ledger_events_close(&events);
    stet_mem_free(p->batch);
    stet_mem_free(p->last);
    stet_mem_free(p);
    return fine ? STET_OK : no_memory(err);
}

enum stet_rc stet_session_sizes_add(struct stet_run_sizes *s, const struct stet_run_digest *d,
                                    const char *folder, struct stet_session_programs *programs,
                                    struct stet_err *err)
{
    stet_map_release(&s->by_executable);
    s->by_executable = (struct stet_map){0};
    s->member_count = 0;
    for (size_t p = 0; p < d->process_count; p++)
        for (size_t i = 0; i < d->processes[p].compile_count; i++)
            if (!take_compile(s, &d->processes[p].compiles[i], (uint32_t)p, folder, programs))
                return no_memory(err);
    return take_executions(s, d, folder, err);
}

enum stet_rc stet_session_sizes_finish(struct stet_run_sizes *s, struct stet_err *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (!stet_session_sizes_judge(s, &s->functions[i]))
            return no_memory(err);
    return STET_OK;
}
