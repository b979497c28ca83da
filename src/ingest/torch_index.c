/* Finds the process, frame or compile of a record by hash. A damaged or hostile log may name any
 * number of them, so there is no linear search. */
#include "ingest/torch_internal.h"

#define GROW(t, what)                                                                              \
    stet_torch_grow((t), (void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room,            \
                    sizeof *(t)->what##s)

uint64_t stet_torch_hash(uint64_t a, uint64_t b)
{
    a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    a = (a ^ a >> 31) * 0x94d049bb133111ebu;
    return a ^ a >> 29;
}

/* If memory runs out, an item exists but cannot be found again. */
static void index_add(struct stet_torch *t, struct stet_map *x, uint64_t hash, uint32_t item)
{
    t->failed |= !stet_map_add(x, hash, item);
}

static uint32_t add_process(struct stet_torch_log *log, uint64_t pid)
{
    struct stet_torch *t = log->t;
    uint32_t i = stet_torch_grow(t, (void **)&t->processes, &t->process_count, &t->process_room,
                                 sizeof *t->processes);

    if (i == STET_TORCH_NONE)
        return i;
    t->processes[i] =
        (struct stet_torch_process){.pid = pid, .rank = log->rank, .source = log->index};
    index_add(t, &t->by_pid, stet_torch_hash(pid, 0), i);
    return i;
}

static bool same_rank(int64_t a, int64_t b)
{
    return a < 0 || b < 0 || a == b;
}

/* The process of a log's own records, else the newest that appeared only in printed lines. */
static uint32_t find_traced(const struct stet_torch_log *log, uint64_t pid)
{
    const struct stet_torch *t = log->t;
    uint64_t hash = stet_torch_hash(pid, 0);
    uint32_t printed = STET_TORCH_NONE, at = 0, i;

    while ((i = stet_map_next(&t->by_pid, hash, &at)) != STET_MAP_NONE) {
        const struct stet_torch_process *p = &t->processes[i];

        if (p->pid != pid)
            continue;
        if (p->source == log->index)
            return i;
        if (!p->traced && same_rank(p->rank, log->rank) &&
            (printed == STET_TORCH_NONE || i > printed))
            printed = i;
    }
    return printed;
}

/* A trace, and a file with the output of TORCH_LOGS, may be of one process: they are merged, in
 * whichever order they are read. Traces of one pid are of several machines. */
uint32_t stet_torch_process_of(struct stet_torch_log *log, uint64_t pid, int64_t rank)
{
    struct stet_torch *t = log->t;
    uint32_t i = log->process;

    if (i == STET_TORCH_NONE || t->processes[i].pid != pid) {
        i = find_traced(log, pid);
        if (i == STET_TORCH_NONE)
            i = add_process(log, pid);
        if (i == STET_TORCH_NONE)
            return i;
        t->processes[i].source = log->index;
        log->process = i;
        t->processes[i].traced = true;
    }
    if (rank >= 0 && t->processes[i].rank < 0)
        t->processes[i].rank = rank;
    return i;
}

/* The first of them. */
static uint32_t find_printed(const struct stet_torch *t, uint64_t pid, int64_t rank)
{
    uint64_t hash = stet_torch_hash(pid, 0);
    uint32_t found = STET_TORCH_NONE, at = 0, i;

    while ((i = stet_map_next(&t->by_pid, hash, &at)) != STET_MAP_NONE)
        if (t->processes[i].pid == pid && same_rank(t->processes[i].rank, rank) && i < found)
            found = i;
    return found;
}

uint32_t stet_torch_printed_process(struct stet_torch_log *log, uint64_t pid, int64_t rank)
{
    struct stet_torch *t = log->t;
    uint32_t i = log->process;

    if (rank < 0)
        rank = log->rank;
    if (i == STET_TORCH_NONE || t->processes[i].pid != pid) {
        i = find_printed(t, pid, rank);
        if (i == STET_TORCH_NONE)
            i = add_process(log, pid);
        if (i == STET_TORCH_NONE)
            return i;
        log->process = i;
    }
    if (rank >= 0 && t->processes[i].rank < 0)
        t->processes[i].rank = rank;
    return i;
}

uint32_t stet_torch_frame_of(struct stet_torch *t, uint32_t process, int64_t id, bool fresh)
{
    uint64_t hash = stet_torch_hash(process, (uint64_t)id);
    uint32_t at = 0, known, i;

    while ((known = stet_map_next(&t->by_frame, hash, &at)) != STET_MAP_NONE)
        if (t->frames[known].process == process && t->frames[known].id == id)
            break;
    if (known != STET_MAP_NONE && !fresh)
        return known;
    i = GROW(t, frame);
    if (i == STET_TORCH_NONE)
        return i;
    t->frames[i] = (struct stet_torch_frame){.process = process,
                                             .id = id,
                                             .first = STET_TORCH_NONE,
                                             .last = STET_TORCH_NONE,
                                             .nested = STET_TORCH_NONE};
    if (known != STET_MAP_NONE) /* what comes is of the new one */
        stet_map_replace(&t->by_frame, hash, at, i);
    else
        index_add(t, &t->by_frame, hash, i);
    return i;
}

uint32_t stet_torch_compile_at(const struct stet_torch *t, uint32_t frame, uint32_t number)
{
    uint64_t hash = stet_torch_hash(frame, number);
    uint32_t at = 0, i;

    while ((i = stet_map_next(&t->by_compile, hash, &at)) != STET_MAP_NONE)
        if (t->compiles[i].frame == frame && t->compiles[i].number == number)
            break;
    return i;
}

uint32_t stet_torch_compile_of(struct stet_torch *t, uint32_t frame, int64_t number)
{
    struct stet_torch_frame *f = &t->frames[frame];
    uint32_t i = f->last;

    if (number < 0 || number > UINT32_MAX - 1)
        return STET_TORCH_NONE;
    if (i != STET_TORCH_NONE && t->compiles[i].number != number)
        i = stet_torch_compile_at(t, frame, (uint32_t)number);
    if (i != STET_TORCH_NONE)
        return i;
    i = GROW(t, compile);
    if (i == STET_TORCH_NONE)
        return i;
    t->compiles[i] = (struct stet_torch_compile){.frame = frame,
                                                 .number = (uint32_t)number,
                                                 .next = STET_TORCH_NONE,
                                                 .failures = STET_TORCH_NONE,
                                                 .last_failure = STET_TORCH_NONE,
                                                 .drifts = STET_TORCH_NONE,
                                                 .rerecords = STET_TORCH_NONE,
                                                 .specials = STET_TORCH_NONE};
    if (f->last == STET_TORCH_NONE)
        f->first = i;
    else
        t->compiles[f->last].next = i;
    f->last = i;
    f->compiles++;
    index_add(t, &t->by_compile, stet_torch_hash(frame, (uint32_t)number), i);
    return i;
}
