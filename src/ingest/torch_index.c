/* Whom a record speaks of: processes, frames, compiles, found by what names them. A damaged or
 * hostile log names any number of them, so none is searched for one by one. */
#include "ingest/torch_internal.h"

#include "base/mem.h"

#define GROW(t, what)                                                                              \
    stet_torch_grow((t), (void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room,            \
                    sizeof *(t)->what##s)

uint64_t stet_torch_hash(uint64_t a, uint64_t b)
{
    a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    a = (a ^ a >> 31) * 0x94d049bb133111ebu;
    return a ^ a >> 29;
}

static bool grow(struct stet_torch_index *x)
{
    size_t room = x->room ? x->room * 2 : 64;
    struct stet_torch_slot *slots = stet_mem_alloc(room * sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < room; i++)
        slots[i].item = STET_TORCH_NONE;
    for (size_t i = 0; i < x->room; i++) {
        size_t at = x->slots[i].hash & (room - 1);

        if (x->slots[i].item == STET_TORCH_NONE)
            continue;
        while (slots[at].item != STET_TORCH_NONE)
            at = (at + 1) & (room - 1);
        slots[at] = x->slots[i];
    }
    stet_mem_free(x->slots);
    x->slots = slots;
    x->room = room;
    return true;
}

bool stet_torch_index_add(struct stet_torch_index *x, uint64_t hash, uint32_t item)
{
    size_t at;

    if (x->count * 2 >= x->room && !grow(x))
        return false;
    for (at = hash & (x->room - 1); x->slots[at].item != STET_TORCH_NONE;)
        at = (at + 1) & (x->room - 1);
    x->slots[at] = (struct stet_torch_slot){hash, item};
    x->count++;
    return true;
}

struct stet_torch_slot *stet_torch_index_next(const struct stet_torch_index *x, uint64_t hash,
                                              struct stet_torch_slot *before)
{
    size_t at = before ? (size_t)(before - x->slots) + 1 : (size_t)hash;

    for (; x->room; at++) {
        struct stet_torch_slot *slot = &x->slots[at & (x->room - 1)];

        if (slot->item == STET_TORCH_NONE)
            break;
        if (slot->hash == hash)
            return slot;
    }
    return NULL;
}

/* An item that memory does not reach to index is there, and not found again. */
static void index_add(struct stet_torch *t, struct stet_torch_index *x, uint64_t hash,
                      uint32_t item)
{
    t->failed |= !stet_torch_index_add(x, hash, item);
}

static uint32_t add_process(struct stet_torch_log *log, uint64_t pid)
{
    struct stet_torch *t = log->t;
    uint32_t i = stet_torch_grow(t, (void **)&t->processes, &t->process_count, &t->process_room,
                                 sizeof *t->processes);

    if (i == STET_TORCH_NONE)
        return i;
    t->processes[i] = (struct stet_torch_process){
        .file = log->file, .pid = pid, .rank = log->rank, .source = log->index};
    index_add(t, &t->by_pid, stet_torch_hash(pid, 0), i);
    return i;
}

static bool same_rank(int64_t a, int64_t b)
{
    return a < 0 || b < 0 || a == b;
}

/* The process of a log's own records, else the newest that was only printed of. */
static uint32_t find_traced(const struct stet_torch_log *log, uint64_t pid)
{
    const struct stet_torch *t = log->t;
    uint64_t hash = stet_torch_hash(pid, 0);
    uint32_t printed = STET_TORCH_NONE;

    for (struct stet_torch_slot *s = NULL; (s = stet_torch_index_next(&t->by_pid, hash, s));) {
        const struct stet_torch_process *p = &t->processes[s->item];

        if (p->pid != pid)
            continue;
        if (p->source == log->index)
            return s->item;
        if (!p->traced && same_rank(p->rank, log->rank) &&
            (printed == STET_TORCH_NONE || s->item > printed))
            printed = s->item;
    }
    return printed;
}

/* A trace, and what TORCH_LOGS printed into a file, may speak of one process: they are put
 * together, in whichever order they are read. Traces of one pid are of several machines. */
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
        t->processes[i].file = log->file;
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
    uint32_t found = STET_TORCH_NONE;

    for (struct stet_torch_slot *s = NULL; (s = stet_torch_index_next(&t->by_pid, hash, s));) {
        if (t->processes[s->item].pid == pid && same_rank(t->processes[s->item].rank, rank) &&
            s->item < found)
            found = s->item;
    }
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

static struct stet_torch_slot *find_frame(const struct stet_torch *t, uint32_t process, int64_t id,
                                          uint64_t hash)
{
    struct stet_torch_slot *s = NULL;

    while ((s = stet_torch_index_next(&t->by_frame, hash, s)) &&
           (t->frames[s->item].process != process || t->frames[s->item].id != id))
        ;
    return s;
}

uint32_t stet_torch_frame_of(struct stet_torch *t, uint32_t process, int64_t id, bool fresh)
{
    uint64_t hash = stet_torch_hash(process, (uint64_t)id);
    struct stet_torch_slot *known = find_frame(t, process, id, hash);
    uint32_t i;

    if (known && !fresh)
        return known->item;
    i = GROW(t, frame);
    if (i == STET_TORCH_NONE)
        return i;
    t->frames[i] = (struct stet_torch_frame){.process = process,
                                             .id = id,
                                             .first = STET_TORCH_NONE,
                                             .last = STET_TORCH_NONE,
                                             .nested = STET_TORCH_NONE};
    if (known)
        known->item = i; /* what comes is of the new one */
    else
        index_add(t, &t->by_frame, hash, i);
    return i;
}

uint32_t stet_torch_compile_at(const struct stet_torch *t, uint32_t frame, uint32_t number)
{
    uint64_t hash = stet_torch_hash(frame, number);
    struct stet_torch_slot *s = NULL;

    while ((s = stet_torch_index_next(&t->by_compile, hash, s))) {
        if (t->compiles[s->item].frame == frame && t->compiles[s->item].number == number)
            return s->item;
    }
    return STET_TORCH_NONE;
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
                                                 .seen = t->seen++,
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
