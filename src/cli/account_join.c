/* The nth recompile of a compiled function in torch's lane is the nth of that function's program in
 * the other, and a graph break is what the programs behind it come from: guards and breaks are
 * gathered first, then each is told with its program. */
#include "session/account_join.h"

#include "base/mem.h"
#include "fingerprint/source_place.h"

#include <stdio.h>

enum { GUARD_CHANGES = 4, MERGED_CHANGES = 64, MOST_GUARDS = 1 << 16 };

struct stet_guard_row {
    struct stet_view function, file, class, also, evidence, fix;
    struct stet_line trigger;
    bool broke; /* a graph break at a condition: it stays for all programs behind it */
    struct stet_row_change changes[GUARD_CHANGES];
    size_t change_count;
    uint64_t cost_ns;
    bool joined; /* told with its program */
    bool taken;  /* in the walk under way */
};

/* Two functions of one name go on behind it, one for each way. */
static bool is_break(const struct stet_recompile *r)
{
    return stet_view_is(r->changes[0].kind, "graph-break") &&
           stet_view_is(r->class, "value-branch");
}

static bool is_guard(const struct stet_recompile *r)
{
    return stet_view_is(r->lane, "torch") && r->change_count &&
           (stet_view_is(r->changes[0].kind, "guard") || is_break(r));
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
                                 .also = keep(j, r->also),
                                 .broke = is_break(r),
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
                                                               .kind = keep(j, c->kind),
                                                               .count = c->count};
    }
    return !j->arena.failed;
}

/* Behind a break torch.compile goes on in functions named after its function and line. */
static bool goes_on(const struct stet_guard_row *g, const struct stet_recompile *r)
{
    char name[512];
    int n = snprintf(name, sizeof name, "torch_dynamo_resume_in_%.*s_at_%llu",
                     STET_FMT(g->function), (unsigned long long)g->changes[0].line);

    return n > 0 && (size_t)n < sizeof name && stet_view_is(r->function, name) &&
           stet_view_eq(g->file, r->origin.file) &&
           (stet_view_is(r->class, "value-branch") || stet_view_is(r->class, "hidden-branch") ||
            stet_view_is(r->class, "graph-change"));
}

/* A program is told with the user's own line. A guard of a library's function (an optimizer's
 * step) has that line as the one that called it. Operations that run there by themselves (their
 * names stay TorchTPU's) have no guards. */
static bool called_there(const struct stet_guard_row *g, const struct stet_recompile *r)
{
    return stet_place_installed(g->file) && g->trigger.line && g->trigger.line == r->origin.line &&
           stet_view_eq(g->trigger.file, r->origin.file) &&
           !stet_view_starts(r->function, "tt_jit_");
}

static bool belongs(const struct stet_guard_row *g, const struct stet_recompile *r)
{
    if (g->broke)
        return goes_on(g, r);
    if (g->taken)
        return false;
    return called_there(g, r) ||
           (stet_view_eq(g->function, r->function) &&
            (!r->origin.file.len || !g->file.len || stet_view_eq(g->file, r->origin.file)));
}

/* A guard says why this program was made anew; failing that, a break why there is one at all. */
static struct stet_guard_row *guard_of(struct stet_joined *j, const struct stet_recompile *r)
{
    struct stet_guard_row *broke = NULL;

    for (uint32_t i = 0; i < j->count; i++) {
        struct stet_guard_row *g = &j->guards[i];

        if (!belongs(g, r))
            continue;
        if (!g->broke)
            return g;
        broke = broke ? broke : g;
    }
    return broke;
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

static bool is_one_of(struct stet_view class, const char *const *names)
{
    for (; *names; names++)
        if (stet_view_is(class, *names))
            return true;
    return false;
}

/* A guard on a number knows that it moved; what it did there, the program may know: start a slice,
 * count the turns of a loop, be the k of a top-k. A guard on a size knows that it moved; the
 * program, where it came from. With one cause on each side they are the same. */
static bool is_the_same(const struct stet_recompile *r, const struct stet_guard_row *g)
{
    static const char *const uses[] = {
        "slice-start",      "python-loop",  "topk-k",      "capacity-leak",
        "optimizer-scalar", "dim-readback", "mask-gather", NULL};
    static const char *const sizes[] = {"mask-gather", "varlen",        "dim-readback",
                                        "last-batch",  "capacity-leak", "shape-drift",
                                        NULL};

    if (r->also.len)
        return false;
    if (stet_view_is(g->class, "baked-constant"))
        return is_one_of(r->class, uses);
    if (stet_view_is(g->class, "shape-drift") || stet_view_is(g->class, "last-batch"))
        return is_one_of(r->class, sizes);
    return false;
}

/* The program has a new number, or new code, and no word for it: the guard has one. A break knows
 * what was read, and the code behind it is its own doing. */
static bool says_less(const struct stet_recompile *r, const struct stet_guard_row *g)
{
    if (g->broke && stet_view_is(r->class, "hidden-branch"))
        return true;
    if (stet_view_is(g->class, "optimizer-scalar") && !r->also.len &&
        stet_view_is(r->class, "baked-constant"))
        return true;
    return stet_view_is(r->class, "graph-change") || stet_view_is(r->class, "unknown");
}

/* TorchTPU folds a view into the operation that uses it, and gives it that one's line. */
static void take_origin(struct stet_recompile *one, const struct stet_guard_row *g)
{
    const struct stet_row_change *c = g->change_count ? &g->changes[0] : NULL;

    bool cut = stet_view_is(one->class, "slice-start") || stet_view_is(one->class, "dim-readback");

    if (c && c->line && cut && stet_view_is(g->class, "baked-constant") &&
        stet_view_eq(c->file, one->origin.file))
        one->origin.line = c->line;
}

/* Further causes: the program's, its class where the guard's is another, and a break's. */
static struct stet_view also_of(const struct stet_recompile *r, const struct stet_guard_row *g,
                                bool same, char *room, size_t size)
{
    struct stet_view class = same || says_less(r, g) ? (struct stet_view){0} : r->class;
    struct stet_view broke = g->broke ? g->also : (struct stet_view){0};
    int n = snprintf(room, size, "%.*s%s%.*s%s%.*s", STET_FMT(r->also),
                     r->also.len && class.len ? " " : "", STET_FMT(class),
                     (r->also.len || class.len) && broke.len ? " " : "", STET_FMT(broke));

    return stet_view_of(room, n < (int)size ? (size_t)n : size - 1);
}

/* The guard says more surely why than the program does; the program, where it enters. */
static bool tell(struct walk *w, const struct stet_recompile *r, const struct stet_guard_row *g)
{
    struct stet_row_change changes[MERGED_CHANGES];
    struct stet_recompile one = *r;
    char evidence[1024], also[256];
    bool equal = stet_view_eq(g->class, r->class), same = equal || is_the_same(r, g);
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
    if (same && !equal)
        take_origin(&one, g);
    else
        one.fix = g->fix.len ? g->fix : r->fix;
    if (g->cost_ns > r->cost_ns && !g->taken)
        one.cost_ns = g->cost_ns;
    if (!one.trigger.line)
        one.trigger = g->trigger;
    one.also = also_of(r, g, same, also, sizeof also);
    if (!same)
        one.class = g->class;
    return w->visit(w->context, &one);
}

static bool pass(void *context, const struct stet_recompile *r)
{
    struct walk *w = context;
    struct stet_joined *j = w->joined;
    struct stet_guard_row *g;
    bool more;

    if (is_guard(r) && w->guard < j->count) {
        w->guard++;
        if (j->guards[w->guard - 1].joined)
            return true;
    }
    g = stet_view_is(r->lane, "xla") ? guard_of(j, r) : NULL;
    if (!g)
        return w->visit(w->context, r);
    more = tell(w, r, g);
    g->taken = true;
    return more;
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

void stet_account_joined_release(struct stet_joined *j)
{
    stet_mem_free(j->guards);
    stet_arena_release(&j->arena);
}
