/* A cause is class, function, line and the thing that moved; its count in each run is compared. */
#include "cli/torch_moves.h"

#include "cli/torch_rows.h"

struct cause {
    struct stet_view class, what;
    struct stet_line at;
    uint64_t count[2];
};

enum { CAUSES = 512 };

struct causes {
    struct cause items[CAUSES];
    size_t count;
    int side;
    struct stet_arena *arena;
};

static bool gather(void *context, const struct stet_recompile *r)
{
    struct causes *c = context;
    struct stet_view what = r->change_count ? r->changes[0].what : stet_view_of("", 0);
    size_t i = 0;

    while (i < c->count &&
           !(c->items[i].at.line == r->origin.line && stet_view_eq(c->items[i].class, r->class) &&
             stet_view_eq(c->items[i].at.file, r->origin.file) &&
             stet_view_eq(c->items[i].what, what)))
        i++;
    if (i == CAUSES)
        return true;
    if (i == c->count) {
        c->items[c->count++] =
            (struct cause){.class = stet_arena_copy(c->arena, r->class),
                           .what = stet_arena_copy(c->arena, what),
                           .at = {stet_arena_copy(c->arena, r->origin.file),
                                  stet_arena_copy(c->arena, r->origin.function), r->origin.line}};
    }
    c->items[i].count[c->side]++;
    return true;
}

static const char *moved_by(struct stet_view class)
{
    static const char *const shapes[] = {"shape-drift",  "last-batch",    "rank-change",
                                         "dtype-change", "stride-change", "varlen",
                                         "topk-k",       "optional-key",  "zero-one-specialisation",
                                         "list-length"};
    static const char *const constants[] = {
        "baked-constant",   "python-counter",  "global-value",    "closure-value",
        "default-argument", "static-argument", "optimizer-scalar"};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (stet_view_is(class, shapes[i]))
            return "shapes";
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (stet_view_is(class, constants[i]))
            return "constants";
    }
    return "branch";
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
    return n ? stet_arena_printf(arena, "%llu times", (unsigned long long)n)
             : (struct stet_view){0};
}

enum stet_rc stet_torch_moves(const struct stet_run *a, const struct stet_run *b,
                              struct stet_arena *arena,
                              void (*tell)(void *context, const struct stet_torch_move *move),
                              void *context, struct stet_err *err)
{
    struct causes *c = STET_NEW(arena, struct causes);
    const struct stet_run *const runs[2] = {a, b};
    struct stet_view versions[2];

    if (!c)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for comparing traces");
    c->arena = arena;
    for (c->side = 0; c->side < 2; c->side++) {
        struct stet_torch t;
        enum stet_rc rc;

        stet_torch_init(&t);
        rc = stet_torch_load_run(&t, runs[c->side], err);
        if (rc == STET_OK)
            stet_torch_each(&t, gather, c);
        versions[c->side] = version_of(&t, arena);
        stet_torch_release(&t);
        if (rc != STET_OK)
            return rc == STET_NOT_FOUND ? STET_OK
                                        : rc; /* one without a trace: nothing to compare */
    }
    if (!stet_view_eq(versions[0], versions[1]))
        tell(context, &(struct stet_torch_move){
                          "bundle", STET_VIEW("torch"), versions[0], versions[1], {{0}, {0}, 0}});
    for (size_t i = 0; i < c->count; i++) {
        const struct cause *k = &c->items[i];

        if (k->count[0] != k->count[1])
            tell(context, &(struct stet_torch_move){
                              moved_by(k->class),
                              stet_arena_printf(arena, "torch.compile, %.*s: %.*s",
                                                STET_FMT(k->class), STET_FMT(k->what)),
                              times(arena, k->count[0]), times(arena, k->count[1]), k->at});
    }
    return arena->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for comparing traces")
                         : STET_OK;
}
