/* Joins the two lanes. The nth recompile of a compiled function in torch's lane is the nth
 * recompile of that function's program in the other lane. A program of another name that was
 * compiled meanwhile belongs to it too: TorchTPU names the forward program after the innermost
 * function. A graph break is the reason for the programs compiled behind it. Guards and breaks are
 * gathered first, then each is reported with its programs. */
#include "session/account_join.h"

#include "base/mem.h"
#include "base/vec.h"
#include "fingerprint/source_place.h"

#include <stdio.h>

enum { GUARD_CHANGES = 4, MERGED_CHANGES = 64, MOST_GUARDS = 1 << 16 };

struct stet_guard_row {
    enum stet_cause cause;
    struct stet_cause_list also;
    struct stet_view function, file, evidence, fix;
    struct stet_line trigger, source;
    enum stet_sure sure;
    int64_t rank;
    uint64_t time_ns;
    bool broke; /* a graph break at a condition: it applies to all programs behind it */
    struct stet_row_change changes[GUARD_CHANGES];
    size_t change_count;
    uint64_t dim; /* 1-based; of a guard on a size */
    uint64_t cost_ns, wait_ns;
    uint64_t program_cost_ns, program_wait_ns; /* of all its programs */
    bool joined;                               /* reported with its programs */
    bool taken;                                /* in the walk under way, by a program of its name */
    bool counted; /* in the walk under way: what it cost beside its programs */
};

/* True for a break behind which two functions of one name continue, one for each branch. */
static bool is_break(const struct stet_recompile *r)
{
    return r->changes[0].kind == STET_CHANGE_GRAPH_BREAK && r->cause == STET_CAUSE_VALUE_BRANCH;
}

static bool is_guard(const struct stet_recompile *r)
{
    return r->lane == STET_LANE_TORCH && r->change_count &&
           (r->changes[0].kind == STET_CHANGE_GUARD || is_break(r));
}

static struct stet_view keep(struct stet_joined *j, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(&j->arena, v) : v;
}

static struct stet_line keep_line(struct stet_joined *j, struct stet_line at)
{
    return (struct stet_line){keep(j, at.file), keep(j, at.function), at.line};
}

static bool gather(void *context, const struct stet_recompile *r)
{
    struct stet_joined *j = context;
    struct stet_guard_row *g;

    if (!is_guard(r) || j->count >= MOST_GUARDS)
        return true;
    if (!stet_vec_room(&j->guards, &j->room, j->count, sizeof *g)) {
        j->failed = true;
        return false;
    }
    g = &j->guards[j->count++];
    *g = (struct stet_guard_row){.function = keep(j, r->function),
                                 .file = keep(j, r->origin.file),
                                 .cause = r->cause,
                                 .also = r->also,
                                 .broke = is_break(r),
                                 .evidence = keep(j, r->evidence),
                                 .fix = keep(j, r->fix),
                                 .trigger = keep_line(j, r->trigger),
                                 .source = keep_line(j, r->source),
                                 .sure = r->sure,
                                 .dim = r->changes[0].dim,
                                 .rank = r->rank,
                                 .time_ns = r->time_ns,
                                 .cost_ns = r->cost_ns,
                                 .wait_ns = r->wait_ns};
    for (; g->change_count < r->change_count && g->change_count < GUARD_CHANGES;
         g->change_count++) {
        const struct stet_row_change *c = &r->changes[g->change_count];

        g->changes[g->change_count] = (struct stet_row_change){.what = keep(j, c->what),
                                                               .from = keep(j, c->from),
                                                               .to = keep(j, c->to),
                                                               .file = keep(j, c->file),
                                                               .line = c->line,
                                                               .kind = c->kind,
                                                               .count = c->count};
    }
    return !j->arena.failed;
}

/* Operations outside a compiled function keep TorchTPU's names. They have no guards. */
static bool is_eager(const struct stet_recompile *r)
{
    return stet_view_starts(r->function, "tt_jit_");
}

/* Behind a break, torch.compile continues in functions named after its function and line. */
static bool goes_on(const struct stet_guard_row *g, const struct stet_recompile *r)
{
    char name[512];
    int n = snprintf(name, sizeof name, "torch_dynamo_resume_in_%.*s_at_%llu",
                     STET_FMT(g->function), (unsigned long long)g->changes[0].line);

    return n > 0 && (size_t)n < sizeof name && stet_view_is(r->function, name) &&
           stet_view_eq(g->file, r->origin.file) && stet_cause_is(r->cause, STET_CAUSE_OTHER_CODE);
}

/* A program is reported at the user's own line. For a guard of a library's function (an optimizer's
 * step), that is the line which called the function. */
static bool called_there(const struct stet_guard_row *g, const struct stet_recompile *r)
{
    return stet_place_installed(g->file) && g->trigger.line && g->trigger.line == r->origin.line &&
           stet_view_eq(g->trigger.file, r->origin.file) && !is_eager(r);
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

/* Was this program compiled while torch compiled the function again? */
static bool meanwhile(const struct stet_guard_row *g, const struct stet_recompile *r)
{
    return !g->broke && g->time_ns && r->event == STET_EVENT_AGAIN && !is_eager(r) &&
           g->rank == r->rank && r->time_ns >= g->time_ns && r->time_ns - g->time_ns <= g->wait_ns;
}

/* A guard gives the reason why this program was compiled again, also to a program of another name
 * that was compiled meanwhile (*named is false). Without a guard, a break gives the reason why the
 * program exists. */
static struct stet_guard_row *guard_of(struct stet_joined *j, const struct stet_recompile *r,
                                       bool *named)
{
    struct stet_guard_row *broke = NULL, *then = NULL;

    *named = true;

    for (uint32_t i = 0; i < j->count; i++) {
        struct stet_guard_row *g = &j->guards[i];

        if (meanwhile(g, r))
            then = g;
        if (!belongs(g, r))
            continue;
        if (!g->broke)
            return g;
        broke = broke ? broke : g;
    }
    *named = !then;
    return then ? then : broke;
}

static bool mark(void *context, const struct stet_recompile *r)
{
    struct stet_joined *j = context;
    bool named;
    struct stet_guard_row *g = r->lane == STET_LANE_XLA ? guard_of(j, r, &named) : NULL;

    if (g) {
        g->joined = true;
        g->taken |= named;
        g->program_cost_ns += r->cost_ns;
        g->program_wait_ns += r->wait_ns;
    }
    return true;
}

struct walk {
    struct stet_joined *joined;
    stet_visit_recompile *visit;
    void *context;
    uint32_t guard; /* number of the next row that is one */
};

/* In a program, rows and columns may be one dimension. A guard on another dimension than the first
 * shows that the number of rows is the same. */
static bool keeps_rows(const struct stet_guard_row *g)
{
    return stet_cause_is(g->cause, STET_CAUSE_IS_SIZE) && g->dim > 1;
}

/* A guard on a number shows that the number changed. The program may show what the number does:
 * start a slice, count the iterations of a loop, be the k of a top-k. A guard on a size shows that
 * the size changed, and the program shows where it came from. With one cause on each side, the two
 * causes are the same. */
static bool is_the_same(const struct stet_recompile *r, const struct stet_guard_row *g)
{
    if (r->also.count || (r->cause == STET_CAUSE_LAST_BATCH && keeps_rows(g)))
        return false;
    if (stet_cause_is(g->cause, STET_CAUSE_IS_NUMBER))
        return stet_cause_is(r->cause, STET_CAUSE_NUMBER_DOES);
    return stet_cause_is(g->cause, STET_CAUSE_IS_SIZE) &&
           stet_cause_is(r->cause, STET_CAUSE_SIZE_FROM);
}

/* The program shows a new number or new code without a cause, and the guard has one. A break has
 * the value that was read, and it creates the code behind it. */
static bool says_less(const struct stet_recompile *r, const struct stet_guard_row *g)
{
    if (g->broke && stet_cause_is(r->cause, STET_CAUSE_UNDECIDED))
        return true;
    if (stet_cause_is(g->cause, STET_CAUSE_NUMBER_DOES) && !r->also.count &&
        stet_cause_is(r->cause, STET_CAUSE_IS_NUMBER))
        return true;
    return stet_cause_is(r->cause, STET_CAUSE_VAGUE) ||
           (r->cause == STET_CAUSE_LAST_BATCH && keeps_rows(g));
}

/* TorchTPU folds a view into the operation that uses it, and gives the view that operation's
 * line. */
static void take_origin(struct stet_recompile *one, const struct stet_guard_row *g)
{
    const struct stet_row_change *c = g->change_count ? &g->changes[0] : NULL;

    if (c && c->line && stet_cause_is(one->cause, STET_CAUSE_IN_VIEW) &&
        stet_cause_is(g->cause, STET_CAUSE_IS_NUMBER) && stet_view_eq(c->file, one->origin.file))
        one->origin.line = c->line;
}

/* Further causes: those of the program, the program's first cause if the guard's differs, and the
 * cause of a break. */
static struct stet_cause_list also_of(const struct stet_recompile *r,
                                      const struct stet_guard_row *g, bool same)
{
    struct stet_cause_list also = r->also;

    if (!same && !says_less(r, g))
        stet_cause_list_add(&also, r->cause);
    for (uint32_t i = 0; g->broke && i < g->also.count; i++)
        stet_cause_list_add(&also, g->also.items[i]);
    return also;
}

/* The guard names the value, so its line to edit is the better one. Its confidence holds for its
 * cause and its line. */
static void take_source(struct stet_recompile *one, const struct stet_guard_row *g, bool is_its_own)
{
    if (g->source.line)
        one->source = g->source;
    if (!g->source.line && one->source.line)
        return;
    if (is_its_own || g->sure < one->sure)
        one->sure = g->sure;
}

/* What torch spent on the recompile beside its programs is counted with the first of them. */
static void take_cost(struct stet_recompile *one, struct stet_guard_row *g)
{
    if (g->counted)
        return;
    if (g->cost_ns > g->program_cost_ns)
        one->cost_ns += g->cost_ns - g->program_cost_ns;
    if (g->wait_ns > g->program_wait_ns)
        one->wait_ns += g->wait_ns - g->program_wait_ns;
    g->counted = true;
}

/* A library's line waits where torch compiles the backward program. */
static void take_trigger(struct stet_recompile *one, const struct stet_guard_row *g)
{
    if (!one->trigger.line || (g->trigger.line && stet_place_installed(one->trigger.file)))
        one->trigger = g->trigger;
}

/* The guard is the better evidence for the cause, the program for the line where the value
 * enters. */
static bool tell(struct walk *w, const struct stet_recompile *r, struct stet_guard_row *g)
{
    struct stet_row_change changes[MERGED_CHANGES];
    struct stet_recompile one = *r;
    char evidence[1024];
    bool equal = g->cause == r->cause, same = equal || is_the_same(r, g);
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
    take_cost(&one, g);
    take_trigger(&one, g);
    if (!g->broke)
        take_source(&one, g, equal || !same);
    one.also = also_of(r, g, same);
    if (!same)
        one.cause = g->cause;
    return w->visit(w->context, &one);
}

static bool pass(void *context, const struct stet_recompile *r)
{
    struct walk *w = context;
    struct stet_joined *j = w->joined;
    struct stet_guard_row *g;
    bool more, named;

    if (is_guard(r) && w->guard < j->count) {
        w->guard++;
        if (j->guards[w->guard - 1].joined)
            return true;
    }
    g = r->lane == STET_LANE_XLA ? guard_of(j, r, &named) : NULL;
    if (!g)
        return w->visit(w->context, r);
    more = tell(w, r, g);
    g->taken |= named;
    return more;
}

static void start(struct stet_joined *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        j->guards[i].taken = j->guards[i].counted = false;
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
    out->each_brief = NULL; /* it would visit the rows of `below`, which are not joined */
    out->source = j;
    return rc;
}

void stet_account_joined_release(struct stet_joined *j)
{
    stet_mem_free(j->guards);
    stet_arena_release(&j->arena);
}
