/* Collects windows of flow, decides which programs close a step, then counts them. */
#include "ledger/steps_internal.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
    EXECUTABLES_MAX = 1 << 20,
    ENTRIES_MAX = 1 << 20,
    VIOLATIONS_SHARE = 100, /* if one round in this many is broken, there is no answer */
};

struct stet_steps *stet_ledger_steps_new(void)
{
    return stet_mem_calloc(1, sizeof(struct stet_steps));
}

void stet_ledger_steps_free(struct stet_steps *s)
{
    if (!s)
        return;
    stet_mem_free(s->programs);
    stet_mem_free(s->by_executable);
    stet_mem_free(s->entries);
    stet_mem_free(s->edges);
    stet_mem_free(s->skip);
    stet_mem_free(s);
}

bool stet_ledger_steps_grow(struct stet_steps *s, void **array, size_t *room, size_t need,
                            size_t size)
{
    size_t more = *room ? *room : 64;
    void *bigger;

    if (need <= *room)
        return true;
    while (more < need)
        more *= 2;
    bigger = stet_mem_resize(*array, more, size);
    if (!bigger) {
        s->failed = true;
        return false;
    }
    memset((char *)bigger + *room * size, 0, (more - *room) * size);
    *array = bigger;
    *room = more;
    return true;
}

/* Returns the program of an executable, a new one if needed; program_count when that fails. */
static size_t program_of(struct stet_steps *s, uint64_t executable)
{
    struct stet_steps_program *p;

    if (executable >= EXECUTABLES_MAX ||
        !stet_ledger_steps_grow(s, (void **)&s->by_executable, &s->by_executable_room,
                                (size_t)executable + 1, sizeof *s->by_executable))
        return s->program_count;
    if (s->by_executable[executable])
        return s->by_executable[executable] - 1;
    if (!stet_ledger_steps_grow(s, (void **)&s->programs, &s->program_room, s->program_count + 1,
                                sizeof *s->programs))
        return s->program_count;
    p = &s->programs[s->program_count++];
    *p = (struct stet_steps_program){.group = STET_STEPS_NONE};
    s->by_executable[executable] = (uint32_t)s->program_count;
    return s->program_count - 1;
}

/* PyTorch/XLA gives every graph the same name, which is then useless here. */
static bool telling(struct stet_view name)
{
    return name.len && !stet_view_starts(name, "SyncTensorsGraph");
}

void stet_ledger_steps_executable(struct stet_steps *s, uint64_t executable, struct stet_view name,
                                  struct stet_hash family)
{
    size_t p = s ? program_of(s, executable) : 0, q;

    if (!s || p >= s->program_count)
        return;
    s->programs[p].family = family;
    if (telling(name))
        s->programs[p].name = stet_hash_bytes(name);
    if (s->alike > p)
        s->alike = p;
    for (q = s->alike ? s->alike - 1 : 0; q < p && !s->names_tell; q++)
        s->names_tell = !stet_hash_eq(s->programs[p].name, s->programs[q].name);
    if (!s->names_tell)
        s->alike = p + 1;
}

bool stet_ledger_steps_same(const struct stet_steps *s, const struct stet_steps_program *a,
                            const struct stet_steps_program *b)
{
    if (!stet_hash_is_zero(a->family) && stet_hash_eq(a->family, b->family))
        return true;
    return s->names_tell && !stet_hash_is_zero(a->name) && stet_hash_eq(a->name, b->name) &&
           (a->results == b->results || !a->followed || !b->followed);
}

static void add_entry(struct stet_steps *s, const struct stet_flow_entry *e)
{
    size_t p = program_of(s, e->executable);
    struct stet_steps_entry *entry;

    if (p >= s->program_count || s->entry_count >= ENTRIES_MAX ||
        !stet_ledger_steps_grow(s, (void **)&s->entries, &s->entry_room, s->entry_count + 1,
                                sizeof *s->entries) ||
        !stet_ledger_steps_grow(s, (void **)&s->edges, &s->edge_room,
                                s->edge_count + e->source_count, sizeof *s->edges)) {
        s->failed = true;
        return;
    }
    s->programs[p].followed = true;
    s->programs[p].results = e->result_count;
    entry = &s->entries[s->entry_count++];
    *entry = (struct stet_steps_entry){
        .program = (uint32_t)p,
        .first_edge = (uint32_t)s->edge_count,
        .edge_count = e->source_count,
        .args = e->arg_count,
        .number = e->number,
    };
    for (uint32_t i = 0; i < e->source_count; i++)
        s->edges[s->edge_count++] = (struct stet_steps_edge){
            e->sources[i].entry, e->sources[i].args, e->sources[i].external};
}

void stet_ledger_steps_flow(struct stet_steps *s, const struct stet_rec_flow *rec)
{
    struct stet_flow_cursor c;
    struct stet_flow_entry e;

    if (!s || s->failed)
        return;
    if (rec->window != s->window || rec->first != s->entry_count)
        stet_ledger_steps_judge(s);
    s->window = rec->window;
    if (rec->first != s->entry_count)
        return; /* the beginning of the window is lost: the rest cannot be judged */
    stet_journal_flow_cursor_init(&c, rec);
    while (!s->failed && stet_journal_flow_next(&c, &e, NULL) == STET_OK)
        add_entry(s, &e);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Variants of a closing program that no window saw in the loop (a first step before the loop
 * closed, a late short batch) close steps too. */
static void add_variants(struct stet_steps *s)
{
    size_t first = 0, end = s->program_count;

    /* Few programs close a step, and most programs of a long run do not: check the few. */
    while (first < end && !s->programs[first].closes)
        first++;
    while (end > first && !s->programs[end - 1].closes)
        end--;
    for (size_t p = 0; first < end && p < s->program_count; p++) {
        struct stet_steps_program *program = &s->programs[p];

        for (size_t q = first; q < end && program->group == STET_STEPS_NONE; q++)
            if (s->programs[q].closes && stet_ledger_steps_same(s, program, &s->programs[q]))
                program->group = s->programs[q].group;
    }
}

void stet_ledger_steps_decide(struct stet_steps *s)
{
    if (!s || s->decided)
        return;
    stet_ledger_steps_judge(s);
    s->decided = true;
    for (size_t p = 0; p < s->program_count; p++)
        if (s->programs[p].closes && s->programs[p].passes)
            s->ambiguous = "state bypasses a program that closes steps at other times";
    add_variants(s);
    for (size_t p = 0; p < s->program_count; p++)
        if (s->programs[p].group != STET_STEPS_NONE && s->programs[p].passes)
            s->ambiguous = "state bypasses a variant of the program that closes steps";
    if (s->skip_count)
        qsort(s->skip, s->skip_count, sizeof *s->skip, by_number);
    if (s->failed)
        s->ambiguous = "not enough memory";
    else if (!s->groups && !s->ambiguous)
        s->ambiguous = "no loop was found";
    s->lost = s->ambiguous != NULL;
    s->why = s->ambiguous    ? s->ambiguous
             : s->groups > 1 ? "programs that take turns"
                             : "the program through which all carried state passes";
}

static bool thrown_away(struct stet_steps *s)
{
    while (s->skipped < s->skip_count && s->skip[s->skipped] < s->number)
        s->skipped++;
    return s->skipped < s->skip_count && s->skip[s->skipped] == s->number;
}

static void lose(struct stet_steps *s, const char *why)
{
    s->lost = true;
    s->why = why;
}

void stet_ledger_steps_add(struct stet_steps *s, uint64_t executable)
{
    const struct stet_steps_program *p = NULL;

    if (!s || s->lost)
        return;
    if (executable < s->by_executable_room && s->by_executable[executable])
        p = &s->programs[s->by_executable[executable] - 1];
    if (!p || (!p->followed && p->group == STET_STEPS_NONE)) {
        lose(s, "a program ran that was not recorded");
        return;
    }
    if (p->group != STET_STEPS_NONE && !thrown_away(s)) {
        if (p->group != s->in_turn && ++s->violations > 2 + s->completed / VIOLATIONS_SHARE)
            lose(s, "programs no longer take turns");
        s->completed += (uint64_t)(p->group + 1) == s->groups;
        s->in_turn = (uint64_t)(p->group + 1) % s->groups;
    }
    s->number++;
}

void stet_ledger_steps_gap(struct stet_steps *s)
{
    if (s && !s->lost)
        lose(s, "records of executions are lost");
}

struct stet_steps_answer stet_ledger_steps_now(const struct stet_steps *s)
{
    struct stet_steps_answer a = {0};

    if (!s || !s->decided) {
        a.why = "nothing was decided";
        return a;
    }
    a.known = !s->lost;
    a.completed = a.known ? s->completed : 0;
    a.why = s->why;
    return a;
}

enum stet_ledger_steps_role stet_ledger_steps_role(const struct stet_steps *s, uint64_t executable)
{
    const struct stet_steps_program *p;

    if (!s || executable >= s->by_executable_room || !s->by_executable[executable])
        return STET_STEPS_OUTSIDE;
    p = &s->programs[s->by_executable[executable] - 1];
    if (p->group != STET_STEPS_NONE)
        return STET_STEPS_CLOSES;
    return p->passes ? STET_STEPS_INSIDE : STET_STEPS_OUTSIDE;
}
