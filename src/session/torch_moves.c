/* Counts the recompiles of one cause, line and changed thing in each run, and compares the
 * counts. */
#include "session/torch_moves.h"

#include "ingest/cache_key.h"
#include "session/torch_rows.h"

struct cause {
    enum stet_cause cause;
    struct stet_view what;
    struct stet_line at;
    uint64_t count[2];
};

enum { CAUSES = 512 };

struct causes {
    struct cause items[CAUSES];
    size_t count;
    int side;
    const int64_t *ranks; /* of the two sides; -1: all */
    struct stet_arena *arena;
};

static bool gather(void *context, const struct stet_recompile *r)
{
    struct causes *c = context;
    struct stet_view what = r->change_count ? r->changes[0].what : stet_view_of("", 0);
    size_t i = 0;

    if (c->ranks[c->side] >= 0 && r->rank != c->ranks[c->side])
        return true;
    while (i < c->count &&
           !(c->items[i].at.line == r->origin.line && c->items[i].cause == r->cause &&
             stet_view_eq(c->items[i].at.file, r->origin.file) &&
             stet_view_eq(c->items[i].what, what)))
        i++;
    if (i == CAUSES)
        return true;
    if (i == c->count) {
        c->items[c->count++] =
            (struct cause){.cause = r->cause,
                           .what = stet_arena_copy(c->arena, what),
                           .at = {stet_arena_copy(c->arena, r->origin.file),
                                  stet_arena_copy(c->arena, r->origin.function), r->origin.line}};
    }
    c->items[i].count[c->side]++;
    return true;
}

static struct stet_view version_of(const struct stet_torch *t, struct stet_arena *arena)
{
    for (size_t i = 0; i < t->process_count; i++) {
        if (t->processes[i].torch_version.len)
            return stet_arena_copy(arena, t->processes[i].torch_version);
    }
    return (struct stet_view){0};
}

static struct stet_view times(struct stet_arena *arena, uint64_t n)
{
    return n ? stet_arena_printf(arena, "%llu time%s", (unsigned long long)n, n == 1 ? "" : "s")
             : (struct stet_view){0};
}

static enum stet_cause_thing moved_component(struct stet_view name)
{
    if (stet_view_starts(name, "example_inputs["))
        return STET_THING_SHAPES;
    if (stet_view_is(name, "torch_version") || stet_view_starts(name, "system_info"))
        return STET_THING_BUNDLE;
    return stet_view_is(name, "gm") ? STET_THING_BRANCH : STET_THING_PROFILE;
}

enum { COMPONENTS = 16 };

/* Each component of a cache key that differs, once. */
struct components {
    struct stet_torch_move items[COMPONENTS];
    size_t count;
};

/* Finds how the second run's keys differ from the nearest keys of the first run. */
static void gather_keys(struct components *out, struct stet_torch *t,
                        const struct stet_torch *first, const char *id, struct stet_arena *arena)
{
    uint32_t own = (uint32_t)t->torch_key_count;

    stet_torch_know_keys(t, first, id);
    for (uint32_t i = 0; i < own; i++) {
        struct stet_cache_why why;

        if (t->torch_keys[i].got != STET_CACHE_MISS)
            continue;
        stet_torch_cache_why(t, i, &why);
        for (size_t k = 0; why.nearest && why.nearest->run.len && k < why.count &&
                           k < STET_CACHE_MOVES && out->count < COMPONENTS;
             k++) {
            const struct stet_cache_move *m = &why.moves[k];
            struct stet_view what =
                stet_arena_printf(arena, "torch's cache key, %.*s", STET_FMT(m->name));
            size_t n = 0;

            while (n < out->count && !stet_view_eq(out->items[n].what, what))
                n++;
            if (n == out->count)
                out->items[out->count++] = (struct stet_torch_move){moved_component(m->name),
                                                                    what,
                                                                    stet_arena_copy(arena, m->from),
                                                                    stet_arena_copy(arena, m->to),
                                                                    {{0}, {0}, 0}};
        }
    }
}

enum stet_rc stet_session_torch_moves(const struct stet_run *a, const struct stet_run *b,
                                      const int64_t ranks[2], struct stet_arena *arena,
                                      void (*tell)(void *context,
                                                   const struct stet_torch_move *move),
                                      void *context, struct stet_err *err)
{
    struct causes *c = STET_NEW(arena, struct causes);
    const struct stet_run *const runs[2] = {a, b};
    struct components keys = {0};
    struct stet_view versions[2];
    struct stet_torch t[2];
    enum stet_rc rc = STET_OK;

    if (!c)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing traces");
    c->arena = arena;
    c->ranks = ranks;
    stet_torch_init(&t[0]);
    stet_torch_init(&t[1]);
    for (c->side = 0; c->side < 2 && rc == STET_OK; c->side++) {
        rc = stet_session_torch_load_run(&t[c->side], runs[c->side], err);
        if (rc == STET_OK)
            stet_session_torch_each(&t[c->side], gather, c);
        versions[c->side] = version_of(&t[c->side], arena);
    }
    if (rc == STET_OK && ranks[0] < 0 && ranks[1] < 0)
        gather_keys(&keys, &t[1], &t[0], a->id, arena);
    stet_torch_release(&t[0]);
    stet_torch_release(&t[1]);
    if (rc != STET_OK)
        return rc == STET_NOT_FOUND ? STET_OK : rc; /* a run without a trace: nothing to compare */
    if (!stet_view_eq(versions[0], versions[1]))
        tell(context,
             &(struct stet_torch_move){
                 STET_THING_BUNDLE, STET_VIEW("torch"), versions[0], versions[1], {{0}, {0}, 0}});
    for (size_t i = 0; i < keys.count; i++)
        tell(context, &keys.items[i]);
    for (size_t i = 0; i < c->count; i++) {
        const struct cause *k = &c->items[i];

        if (k->count[0] != k->count[1])
            tell(context, &(struct stet_torch_move){
                              stet_cause_thing(k->cause),
                              stet_arena_printf(arena, "torch.compile, %s: %.*s",
                                                stet_cause_id(k->cause), STET_FMT(k->what)),
                              times(arena, k->count[0]), times(arena, k->count[1]), k->at});
    }
    return arena->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for comparing traces")
                         : STET_OK;
}
