/* The lists of the model, and lookups in them. */
#include "report/model.h"

#include "base/mem.h"
#include "base/vec.h"

bool stet_report_init(struct stet_report_run *r, const struct stet_run *run)
{
    *r = (struct stet_report_run){.run = run};
    stet_arena_init(&r->arena, (size_t)256 << 20);
    stet_intern_init(&r->names, (size_t)256 << 20);
    stet_intern_init(&r->programs, (size_t)64 << 20);
    stet_intern_init(&r->family_keys, (size_t)64 << 20);
    stet_story_init(&r->stories);
    return true;
}

void stet_report_release(struct stet_report_run *r)
{
    for (size_t i = 0; i < r->process_count; i++)
        stet_mem_free(r->processes[i].by_index);
    stet_mem_free(r->processes);
    stet_mem_free(r->events);
    stet_mem_free(r->families);
    stet_mem_free(r->devices);
    stet_mem_free(r->grids);
    stet_mem_free(r->program_family);
    stet_mem_free(r->program_against);
    stet_story_release(&r->stories);
    stet_divergences_release(&r->divergences);
    stet_mem_free(r->row_event);
    stet_intern_release(&r->names);
    stet_intern_release(&r->programs);
    stet_intern_release(&r->family_keys);
    stet_arena_release(&r->arena);
    stet_buf_release(&r->torch);
    stet_buf_release(&r->buckets);
    stet_buf_release(&r->fits);
    stet_buf_release(&r->avoided_json);
}

/* Appends a zeroed item to a list; the list's capacity doubles. */
static void *append(struct stet_report_run *r, void **items, size_t *count, size_t *room,
                    size_t size)
{
    if (!stet_vec_room(items, room, *count, size)) {
        r->failed_memory = true;
        return NULL;
    }
    return memset((char *)*items + (*count)++ * size, 0, size);
}

#define APPEND(r, list, single)                                                                    \
    append((r), (void **)&(r)->list, &(r)->single##_count, &(r)->single##_room, sizeof *(r)->list)

struct stet_report_process *stet_report_add_process(struct stet_report_run *r)
{
    return APPEND(r, processes, process);
}

struct stet_report_event *stet_report_add_event(struct stet_report_run *r)
{
    struct stet_report_event *e = APPEND(r, events, event);

    if (e) {
        e->cause = -1;
        e->program = STET_INTERN_NONE;
    }
    return e;
}

struct stet_report_device *stet_report_add_device(struct stet_report_run *r)
{
    return APPEND(r, devices, device);
}

struct stet_report_grid *stet_report_add_grid(struct stet_report_run *r)
{
    return APPEND(r, grids, grid);
}

uint32_t stet_report_program(struct stet_report_run *r, struct stet_hash hash)
{
    char text[STET_HASH_TEXT];
    uint32_t at;

    stet_hash_format(hash, text);
    at = stet_intern_add(&r->programs, stet_view_str(text));
    if (at != STET_INTERN_NONE && at >= r->program_room) {
        size_t old = r->program_room, room = old;

        if (!stet_vec_grow(&r->program_family, &room, old, 1, sizeof *r->program_family, 0) ||
            !stet_vec_grow(&r->program_against, &r->program_room, old, 1,
                           sizeof *r->program_against, 0)) {
            r->failed_memory = true;
            return STET_INTERN_NONE;
        }
        for (size_t i = old; i < room; i++)
            r->program_family[i] = r->program_against[i] = STET_INTERN_NONE;
    }
    return at;
}

uint32_t stet_report_family(struct stet_report_run *r, struct stet_view function,
                            struct stet_view skeleton, bool torch)
{
    uint32_t name = stet_intern_add(&r->names, function);
    uint32_t of = skeleton.len ? stet_intern_add(&r->names, skeleton) : STET_INTERN_NONE;
    uint32_t key[3] = {name, of, torch};
    uint32_t at = stet_intern_add(&r->family_keys, stet_view_of(key, sizeof key));
    struct stet_report_family *f;

    if (at < r->family_count || at == STET_INTERN_NONE)
        return at;
    f = APPEND(r, families, family);
    if (f)
        *f = (struct stet_report_family){name, of, torch};
    return f ? at : STET_INTERN_NONE;
}

void stet_report_sample(struct stet_report_device *d, const struct stet_report_sample *s)
{
    if (!d->every)
        d->every = 1;
    if (d->seen++ % d->every)
        return;
    if (d->count == STET_REPORT_SAMPLES) {
        d->count /= 2;
        d->every *= 2;
        for (size_t i = 0; i < d->count; i++)
            d->samples[i] = d->samples[2 * i];
    }
    d->samples[d->count++] = *s;
}

bool stet_report_index(struct stet_report_run *r, struct stet_report_process *p, uint32_t first,
                       const uint32_t *index_of, uint32_t count)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        if (index_of[i] != UINT32_MAX && index_of[i] >= most)
            most = index_of[i] + 1;
    if (most > 4 * count + 1024) /* a damaged journal may have any number */
        most = 4 * count + 1024;
    p->by_index = stet_mem_calloc((size_t)most + 1, sizeof *p->by_index);
    if (!p->by_index) {
        r->failed_memory = true;
        return false;
    }
    p->index_count = most;
    for (uint32_t i = 0; i < count; i++)
        if (index_of[i] < most)
            p->by_index[index_of[i]] = first + i + 1;
    return true;
}

struct stet_report_event *stet_report_event_of(struct stet_report_run *r, uint64_t process,
                                               uint64_t index)
{
    const struct stet_report_process *p;

    if (process >= r->process_count)
        return NULL;
    p = &r->processes[process];
    if (index >= p->index_count || !p->by_index[index])
        return NULL;
    return &r->events[p->by_index[index] - 1];
}

/* A process that compiles in both lanes is listed twice, with one id. */
static bool is_first(const struct stet_report_run *r, uint32_t process, const bool *compiled)
{
    for (uint32_t i = 0; i < process; i++)
        if (compiled[i] && r->processes[i].pid == r->processes[process].pid &&
            stet_view_eq(r->processes[i].host, r->processes[process].host))
            return false;
    return compiled[process];
}

double stet_report_share(const struct stet_report_run *r, uint32_t *processes)
{
    bool *compiled = stet_mem_calloc(r->process_count + 1, sizeof *compiled);
    double took, share;

    *processes = 0;
    for (size_t i = 0; compiled && i < r->event_count; i++)
        if (r->events[i].process < r->process_count)
            compiled[r->events[i].process] = true;
    for (uint32_t i = 0; compiled && i < r->process_count; i++)
        *processes += is_first(r, i, compiled);
    stet_mem_free(compiled);
    if (!*processes || r->run->ended_ns <= r->run->started_ns)
        return -1;
    took = (double)(r->run->ended_ns - r->run->started_ns) * *processes;
    share = (double)r->wait_ns / took;
    return share <= 1 ? share : -1;
}
