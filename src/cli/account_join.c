/* The nth recompile of a compiled function in torch's lane is the nth of that function's program in
 * the other: guards are gathered first, then each is told with its program. */
#include "cli/account_join.h"

#include "base/mem.h"

#include <stdio.h>

enum { GUARD_CHANGES = 4, MERGED_CHANGES = 64, MOST_GUARDS = 1 << 16 };

struct stet_guard_row {
    struct stet_view function, file, class, evidence, fix;
    struct stet_line trigger;
    struct stet_row_change changes[GUARD_CHANGES];
    size_t change_count;
    uint64_t cost_ns;
    bool joined; /* told with its program */
    bool taken;  /* in the walk under way */
};

static bool is_guard(const struct stet_recompile *r)
{
    return stet_view_is(r->lane, "torch") && r->change_count &&
           stet_view_is(r->changes[0].kind, "guard");
}

static struct stet_view keep(struct stet_joined *j, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(&j->arena, v) : v;
}

static bool gather(void *context, const struct stet_recompile *r)
{
    struct stet_joined *j = context;
    struct stet_guard_row *g;

    if (!is_guard(r) || j->count >= MOST_GUARDS)
        return true;
    if (j->count == j->room) {
        uint32_t room = j->room ? j->room * 2 : 16;

        g = stet_mem_resize(j->guards, room, sizeof *g);
        if (!g) {
            j->failed = true;
            return false;
        }
        j->guards = g;
        j->room = room;
    }
    g = &j->guards[j->count++];
    *g = (struct stet_guard_row){.function = keep(j, r->function),
                                 .file = keep(j, r->origin.file),
                                 .class = keep(j, r->class),
                                 .evidence = keep(j, r->evidence),
                                 .fix = keep(j, r->fix),
                                 .cost_ns = r->cost_ns};
    g->trigger =
        (struct stet_line){keep(j, r->trigger.file), keep(j, r->trigger.function), r->trigger.line};
    for (; g->change_count < r->change_count && g->change_count < GUARD_CHANGES;
         g->change_count++) {
        const struct stet_row_change *c = &r->changes[g->change_count];

        g->changes[g->change_count] = (struct stet_row_change){.what = keep(j, c->what),
                                                               .from = keep(j, c->from),
                                                               .to = keep(j, c->to),
                                                               .file = keep(j, c->file),
                                                               .line = c->line,
                                                               .kind = STET_VIEW("guard"),
                                                               .count = c->count};
    }
    return !j->arena.failed;
}

static struct stet_guard_row *guard_of(struct stet_joined *j, const struct stet_recompile *r)
{
    for (uint32_t i = 0; i < j->count; i++) {
        struct stet_guard_row *g = &j->guards[i];

        if (!g->taken && stet_view_eq(g->function, r->function) &&
            (!r->origin.file.len || !g->file.len || stet_view_eq(g->file, r->origin.file)))
            return g;
    }
    return NULL;
}

static bool mark(void *context, const struct stet_recompile *r)
{
    struct stet_joined *j = context;
    struct stet_guard_row *g = stet_view_is(r->lane, "xla") ? guard_of(j, r) : NULL;

    if (g)
        g->joined = g->taken = true;
    return true;
}

struct walk {
    struct stet_joined *joined;
    stet_visit_recompile *visit;
    void *context;
    uint32_t guard; /* number of the next row that is one */
};

/* A guard on a number knows that it moved; what it did there, the program may know: start a slice,
 * count the turns of a loop, be the k of a top-k. With one cause on each side they are the same. */
static bool is_the_same(const struct stet_recompile *r, const struct stet_guard_row *g)
{
    static const char *const uses[] = {"slice-start", "python-loop", "topk-k", "capacity-leak",
                                       "optimizer-scalar"};

    if (!stet_view_is(g->class, "baked-constant") || r->also.len)
        return false;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (stet_view_is(r->class, uses[i]))
            return true;
    return false;
}

/* TorchTPU folds a view into the operation that uses it, and gives it that one's line. */
static void take_origin(struct stet_recompile *one, const struct stet_guard_row *g)
{
    const struct stet_row_change *c = g->change_count ? &g->changes[0] : NULL;

    if (c && c->line && stet_view_is(one->class, "slice-start") &&
        stet_view_eq(c->file, one->origin.file))
        one->origin.line = c->line;
}

/* The guard says more surely why than the program does; the program, where it enters. */
static bool tell(struct walk *w, const struct stet_recompile *r, const struct stet_guard_row *g)
{
    struct stet_row_change changes[MERGED_CHANGES];
    struct stet_recompile one = *r;
    char evidence[1024], also[256];
    int n = snprintf(evidence, sizeof evidence, "%.*s; %.*s", STET_FMT(g->evidence),
                     STET_FMT(r->evidence));

    one.change_count = 0;
    for (size_t i = 0; i < g->change_count; i++)
        changes[one.change_count++] = g->changes[i];
    for (size_t i = 0; i < r->change_count && one.change_count < MERGED_CHANGES; i++)
        changes[one.change_count++] = r->changes[i];
    one.left_out += g->change_count + r->change_count - one.change_count;
    one.changes = changes;
    one.evidence =
        stet_view_of(evidence, n < (int)sizeof evidence ? (size_t)n : sizeof evidence - 1);
    if (is_the_same(r, g))
        take_origin(&one, g);
    else
        one.fix = g->fix.len ? g->fix : r->fix;
    one.cost_ns = g->cost_ns > r->cost_ns ? g->cost_ns : r->cost_ns;
    if (!one.trigger.line)
        one.trigger = g->trigger;
    if (!stet_view_eq(g->class, r->class) && !is_the_same(r, g)) {
        bool vague = stet_view_is(r->class, "graph-change") || stet_view_is(r->class, "unknown");

        n = snprintf(also, sizeof also, "%.*s%s%.*s", STET_FMT(r->also),
                     r->also.len && !vague ? " " : "", vague ? 0 : (int)r->class.len,
                     r->class.ptr ? r->class.ptr : "");
        one.also = stet_view_of(also, n < (int)sizeof also ? (size_t)n : sizeof also - 1);
        one.class = g->class;
    }
    return w->visit(w->context, &one);
}

static bool pass(void *context, const struct stet_recompile *r)
{
    struct walk *w = context;
    struct stet_joined *j = w->joined;
    struct stet_guard_row *g;

    if (is_guard(r) && w->guard < j->count && j->guards[w->guard++].joined)
        return true;
    g = stet_view_is(r->lane, "xla") ? guard_of(j, r) : NULL;
    if (!g)
        return w->visit(w->context, r);
    g->taken = true;
    return tell(w, r, g);
}

static void start(struct stet_joined *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        j->guards[i].taken = false;
}

static enum stet_rc each(void *source, stet_visit_recompile *visit, void *context,
                         struct stet_err *err)
{
    struct stet_joined *j = source;
    struct walk w = {j, visit, context, 0};

    start(j);
    return j->below->each(j->below->source, pass, &w, err);
}

enum stet_rc stet_account_join(struct stet_joined *j, const struct stet_account *below,
                               struct stet_account *out, struct stet_err *err)
{
    enum stet_rc rc;

    *j = (struct stet_joined){.below = below};
    stet_arena_init(&j->arena, (size_t)256 << 20);
    *out = *below;
    rc = below->each(below->source, gather, j, err);
    if (rc == STET_OK && (j->failed || j->arena.failed))
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for joining the lanes");
    if (rc != STET_OK || !j->count)
        return rc;
    rc = below->each(below->source, mark, j, err);
    out->each = each;
    out->each_brief = NULL; /* it would take the joined rows for the ones below */
    out->source = j;
    return rc;
}

void stet_joined_release(struct stet_joined *j)
{
    stet_mem_free(j->guards);
    stet_arena_release(&j->arena);
}
