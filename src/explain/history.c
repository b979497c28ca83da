/* Stores compiles and their traits, and makes a finding for each compile with a predecessor. */
#include "explain/history_internal.h"

#include "base/vec.h"

enum stet_rc stet_history_init(struct stet_history *h, struct stet_err *err)
{
    *h = (struct stet_history){0};
    stet_arena_init(&h->arena, (size_t)4 << 30);
    h->index = stet_mem_calloc(1, sizeof *h->index);
    h->judge = stet_mem_calloc(1, sizeof *h->judge);
    if (h->index && h->judge)
        return STET_OK;
    stet_history_release(h);
    return stet_fail(err, STET_NO_MEMORY, "out of memory for the history of a run");
}

void stet_history_release(struct stet_history *h)
{
    if (h->index) {
        stet_map_release(&h->index->traits);
        stet_map_release(&h->index->groups);
        stet_map_release(&h->index->keys);
        stet_map_release(&h->index->skeletons);
        stet_map_release(&h->index->named);
        stet_map_release(&h->index->unnamed);
        stet_map_release(&h->index->lines);
        stet_map_release(&h->index->eager);
        stet_mem_free(h->index->known);
        stet_mem_free(h->index->groups_of);
        stet_mem_free(h->index->loops);
    }
    if (h->judge) {
        stet_map_release(&h->judge->by_change);
        stet_map_release(&h->judge->packed);
        stet_map_release(&h->judge->jitted);
        stet_mem_free(h->judge->turns);
        stet_mem_free(h->judge->series);
        for (uint32_t i = 0; i < STET_REACHES; i++)
            stet_python_reach_release(&h->judge->reach[i]);
    }
    stet_python_sources_release(&h->sources);
    stet_mem_free(h->index);
    stet_mem_free(h->judge);
    stet_mem_free(h->sightings);
    stet_mem_free(h->findings);
    stet_arena_release(&h->arena);
    *h = (struct stet_history){0};
}

uint64_t stet_history_key(uint64_t process, struct stet_hash hash)
{
    return stet_hash_mix_u64(hash, process).lo;
}

/* One set of traits for all compiles of the same bytes. */
static struct stet_traits *traits_of(struct stet_history *h, const struct stet_sighting *s,
                                     const struct stet_history_side *side, const char *why)
{
    uint32_t at = stet_map_get(&h->index->traits, s->program.lo);
    struct stet_traits *t;
    bool no_memory = false;

    if (at != STET_NONE)
        return h->index->known[at];
    t = STET_NEW(&h->arena, struct stet_traits);
    if (!t || !stet_vec_room(&h->index->known, &h->index->known_room, h->index->known_count,
                             sizeof *h->index->known))
        return NULL;
    if (side) {
        stet_traits_make(t, side->program.program, &h->arena, &no_memory);
        t->fingerprint = *side->program.fingerprint;
    } else {
        t->why = stet_arena_copy(&h->arena, stet_view_str(why ? why : "not captured"));
    }
    if (!t->name.len && s->name.len) {
        t->name = stet_arena_copy(&h->arena, s->name);
        t->framework = stet_traits_framework(t->name);
        t->function = stet_traits_function_of(t->name);
    }
    h->index->known[h->index->known_count] = t;
    if (no_memory || !stet_map_put(&h->index->traits, s->program.lo, h->index->known_count))
        return NULL;
    h->index->known_count++;
    return t;
}

static bool is_eager(const struct stet_sighting *s)
{
    const struct stet_traits *t = s->traits;

    if (!t->readable)
        return false;
    if (t->framework == STET_FRAMEWORK_TORCH_TPU)
        return t->eager;
    if (s->function)
        return s->library;
    if (t->one_place)
        return s->trigger.line && stet_place_eq(&t->place, &s->trigger);
    return t->framework == STET_FRAMEWORK_JAX && !t->line_count && t->ops <= 1;
}

bool stet_history_ran_in(const struct stet_history *h, uint32_t process,
                         const struct stet_place *line)
{
    for (uint32_t i = stet_history_on_line(h, process, line); i != STET_NONE;
         i = h->findings[i].on_line)
        if (stet_place_eq(&stet_sighting_of(h, &h->findings[i])->trigger, line))
            return true;
    return false;
}

bool stet_history_ran_where(const struct stet_history *h, uint32_t process,
                            const struct stet_python_read *read)
{
    struct stet_place at = {.file = read->file};

    for (at.line = read->line; at.line <= read->last; at.line++)
        if (stet_history_ran_in(h, process, &at))
            return true;
    return false;
}

/* ---- the function that runs most ---- */

void stet_history_ran(struct stet_history *h, uint32_t number, uint64_t executions)
{
    struct stet_sighting *s = &h->sightings[number];
    struct stet_sighting_group *g = &h->index->groups_of[s->group];
    uint32_t *loop;

    if (!s->past && !s->eager && s->process < h->index->process_count) {
        loop = &h->index->loops[s->process];
        g->runs += executions - s->executions;
        g->first = g->first ? g->first : number + 1;
        if (!*loop || g->runs > h->index->groups_of[h->sightings[*loop - 1].group].runs)
            *loop = g->first;
    }
    s->executions = executions;
}

uint32_t stet_history_loop(const struct stet_history *h, uint32_t process)
{
    return process < h->index->process_count ? h->index->loops[process] : 0;
}

static bool room_for_process(struct stet_history_index *x, uint32_t process)
{
    uint32_t more = process + 1 - x->process_count;

    if (process < x->process_count || process >= STET_PAST)
        return true;
    if (!stet_vec_grow(&x->loops, &x->loop_room, x->process_count, more, sizeof *x->loops, 0))
        return false;
    memset(x->loops + x->process_count, 0, more * sizeof *x->loops);
    x->process_count = process + 1;
    return true;
}

/* ---- lines that wait ---- */

static uint64_t line_key(uint32_t process, const struct stet_place *line)
{
    return stet_place_hash(line->file, line->line) ^
           ((uint64_t)process + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

uint32_t stet_history_on_line(const struct stet_history *h, uint32_t process,
                              const struct stet_place *line)
{
    return stet_map_get(&h->index->eager, line_key(process, line));
}

/* Did JAX make the program itself, without a call of the function? The frames were read and hold no
 * such call, and the arguments are not parameters of the function. The backward half of a
 * differentiated function is such a program. */
static bool is_derived(const struct stet_sighting *s)
{
    return s->values.len && !s->object && s->traits->unnamed && !stet_history_is_eager(s);
}

/* Compiles of one function, or of one line if a program is only that line. */
uint64_t stet_history_group(const struct stet_sighting *s, uint64_t process)
{
    struct stet_hash name = stet_hash_bytes(s->traits->function);

    /* PyTorch/XLA's graphs have no name: the line that waits distinguishes them. */
    if (s->traits->framework == STET_FRAMEWORK_TORCH_XLA ||
        (stet_history_is_eager(s) && s->traits->framework != STET_FRAMEWORK_TORCH_TPU))
        name = stet_hash_mix_u64(name, s->line);
    /* The lines of a compiled function are also those of its gradient: two programs, not one
     * twice. */
    if (s->traits->backward || is_derived(s))
        name = stet_hash_mix_u64(name, 1);
    /* Functions of one name are distinguished by where they were defined. */
    if (s->function && !s->library)
        name = stet_hash_mix_u64(name, s->function);
    return stet_history_key(process, name);
}

/* If a compile ended before Python's frames were read, its function is the last compiled one of its
 * name. */
static void find_function(const struct stet_history *h, struct stet_sighting *s)
{
    uint64_t key = stet_history_key(s->process, stet_hash_bytes(s->traits->function));
    uint32_t like = s->function || s->past ? STET_NONE : stet_map_get(&h->index->named, key);

    if (like == STET_NONE)
        return;
    s->function = h->sightings[like].function;
    s->library = h->sightings[like].library;
}

static bool keep_function(struct stet_history *h, uint32_t number)
{
    const struct stet_sighting *s = &h->sightings[number];

    return !s->function || s->past ||
           stet_map_put(&h->index->named,
                        stet_history_key(s->process, stet_hash_bytes(s->traits->function)), number);
}

/* If no thread was seen waiting for a graph without a name, its line is that of a graph with the
 * same skeleton. */
static void find_line(const struct stet_history *h, struct stet_sighting *s)
{
    uint32_t like = STET_NONE;

    s->line = s->trigger.line ? stet_place_hash(s->trigger.file, s->trigger.line) : 0;
    if (!s->line && s->traits->readable && s->traits->framework == STET_FRAMEWORK_TORCH_XLA)
        like = stet_map_get(&h->index->unnamed,
                            stet_history_key(s->process, s->traits->fingerprint.skeleton));
    if (like != STET_NONE)
        s->line = h->sightings[like].line;
}

static bool keep_line(struct stet_history *h, uint32_t number)
{
    const struct stet_sighting *s = &h->sightings[number];

    return !s->line || s->past || !s->traits->readable ||
           s->traits->framework != STET_FRAMEWORK_TORCH_XLA ||
           stet_map_put(&h->index->unnamed,
                        stet_history_key(s->process, s->traits->fingerprint.skeleton), number);
}

static bool index_it(struct stet_history *h, uint32_t number)
{
    struct stet_sighting *s = &h->sightings[number];
    uint64_t process = s->past ? STET_PAST : s->process;
    uint64_t key = stet_history_group(s, process);
    uint32_t last = stet_map_get(&h->index->groups, key);
    uint64_t executions;

    if (!stet_vec_room(&h->index->groups_of, &h->index->group_room, h->index->group_count,
                       sizeof *h->index->groups_of) ||
        !room_for_process(h->index, s->process))
        return false;
    s->before = last;
    if (last == STET_NONE)
        h->index->groups_of[h->index->group_count] = (struct stet_sighting_group){0};
    s->group = last == STET_NONE ? h->index->group_count++ : h->sightings[last].group;
    executions = s->executions;
    s->executions = 0;
    stet_history_ran(h, number, executions);
    return keep_line(h, number) && keep_function(h, number) &&
           stet_map_put(&h->index->groups, key, number) &&
           (!s->traits->readable ||
            (stet_map_put(&h->index->keys, stet_history_key(process, s->traits->fingerprint.key),
                          number) &&
             stet_map_put(&h->index->skeletons,
                          stet_history_key(key, s->traits->fingerprint.skeleton), number)));
}

static enum stet_rc explain_against(struct stet_history *h, uint32_t number, uint32_t against,
                                    const struct stet_history_side *side, struct stet_err *err)
{
    struct stet_history_side other;
    struct stet_finding *f;
    enum stet_rc rc = STET_OK;

    if (!stet_vec_room(&h->findings, &h->finding_room, h->finding_count, sizeof *h->findings))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for findings");
    f = &h->findings[h->finding_count];
    *f = (struct stet_finding){.sighting = number, .against = against, .pair = STET_CAUSE_UNKNOWN};
    f->facts.first = against == STET_NONE;
    f->facts.past = against != STET_NONE && h->sightings[against].past;
    if (side)
        stet_facts_lines(h, &f->facts, &h->sightings[number], side->program.program);
    if (!f->facts.first)
        f->moved_count = stet_explain_moved_make(
            &h->arena, h->sightings[against].values, h->sightings[number].values,
            !f->facts.past && h->sightings[against].process == h->sightings[number].process,
            &f->moved);
    if (f->facts.first)
        f->pair = STET_CAUSE_NONE;
    else if (side && h->sightings[against].traits->readable &&
             h->open(h->context, against, &other, NULL) == STET_OK)
        rc = stet_facts_gather(h, f, &h->sightings[number], &other, side, err);
    else if (stet_hash_eq(h->sightings[against].program, h->sightings[number].program))
        f->pair = STET_CAUSE_IDENTICAL;
    if (rc != STET_OK)
        return rc;
    h->sightings[number].finding = h->finding_count++;
    f->on_line = STET_NONE;
    if (h->sightings[number].eager ||
        h->sightings[number].traits->framework == STET_FRAMEWORK_TORCH_XLA) {
        uint64_t line = line_key(h->sightings[number].process, &h->sightings[number].trigger);

        f->on_line = stet_map_get(&h->index->eager, line);
        if (!stet_map_put(&h->index->eager, line, h->finding_count - 1))
            return stet_fail(err, STET_NO_MEMORY, "out of memory for findings");
    }
    return STET_OK;
}

/* Finds the place by the program's locations: the caller of the jitted function, or the only line
 * of the program. */
static struct stet_place place_entered(const struct stet_traits *t)
{
    bool of_a_line = t->framework == STET_FRAMEWORK_JAX ||
                     (t->framework == STET_FRAMEWORK_TORCH_TPU && t->eager);

    return t->entry.line || t->root.line || !t->one_place || !of_a_line ? t->entry : t->place;
}

enum stet_rc stet_history_add(struct stet_history *h, const struct stet_sighting *s,
                              const struct stet_history_side *side, const char *why, uint32_t *out,
                              struct stet_err *err)
{
    struct stet_sighting *mine;
    struct stet_place entered;
    uint32_t number = h->sighting_count, against;

    if (!stet_vec_room(&h->sightings, &h->sighting_room, number, sizeof *mine))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the history of a run");
    mine = &h->sightings[number];
    *mine = *s;
    mine->finding = STET_NONE;
    mine->traits = traits_of(h, s, side, why);
    if (!mine->traits)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the history of a run");
    mine->name = mine->traits->name;
    entered = place_entered(mine->traits);
    /* If no thread was seen waiting, or its code has no file ("<string>"), the program's locations
     * give the line. */
    if (!s->trigger.line || (entered.line && stet_view_starts(s->trigger.file, "<")))
        mine->trigger = entered;
    mine->trigger.file = stet_arena_copy(&h->arena, mine->trigger.file);
    mine->trigger.function = stet_arena_copy(&h->arena, mine->trigger.function);
    find_function(h, mine);
    mine->eager = is_eager(mine);
    mine->borrowed =
        !mine->library && stet_journal_values_borrowed(s->values, mine->traits->function);
    find_line(h, mine);
    against = stet_nearest_find(h, mine);
    h->sighting_count++;
    if (!index_it(h, number))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the history of a run");
    *out = number;
    return s->past ? STET_OK : explain_against(h, number, against, side, err);
}
