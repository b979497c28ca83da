/* Reads recompiles and totals back. */
#include "ledger/ledger_internal.h"

#include "base/mem.h"

#include <stdio.h>

static struct stet_view text(sqlite3_stmt *s, int column)
{
    const void *p = sqlite3_column_text(s, column);

    return p ? stet_view_of(p, (size_t)sqlite3_column_bytes(s, column)) : (struct stet_view){0};
}

static uint64_t number(sqlite3_stmt *s, int column)
{
    return (uint64_t)sqlite3_column_int64(s, column);
}

static bool is_null(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL;
}

/* ---- changes ---- */

enum { MOST_CHANGES = 64 };

/* Copies the changes of one recompile: the statement is reset before they are used. */
struct changes {
    struct stet_row_change items[MOST_CHANGES];
    struct stet_arena arena;
    size_t count;
};

static struct stet_view kept(struct changes *c, sqlite3_stmt *s, int column)
{
    struct stet_view v = text(s, column);

    return v.ptr ? stet_arena_copy(&c->arena, v) : v;
}

static bool read_changes(struct changes *c, sqlite3_stmt *s, uint64_t recompile)
{
    stet_arena_release(&c->arena);
    stet_arena_init(&c->arena, (size_t)16 << 20);
    c->count = 0;
    sqlite3_reset(s);
    sqlite3_bind_int64(s, 1, (sqlite3_int64)recompile);
    while (sqlite3_step(s) == SQLITE_ROW && c->count < MOST_CHANGES)
        c->items[c->count++] =
            (struct stet_row_change){.what = kept(c, s, 0),
                                     .from = kept(c, s, 1),
                                     .to = kept(c, s, 2),
                                     .file = kept(c, s, 3),
                                     .line = number(s, 4),
                                     .kind = stet_cause_change_find(text(s, 5)),
                                     .facet = kept(c, s, 6),
                                     .follows = kept(c, s, 7),
                                     .count = number(s, 8),
                                     .dim = is_null(s, 9) ? 0 : number(s, 9) + 1};
    return !c->arena.failed;
}

/* ---- recompiles ---- */

static struct stet_recompile row_of(sqlite3_stmt *s, const struct changes *c)
{
    struct stet_recompile r = {
        .lane = stet_journal_lane_of(text(s, 1)),
        .process = number(s, 2),
        .compile = number(s, 3),
        .rank = is_null(s, 4) ? -1 : sqlite3_column_int64(s, 4),
        .step_known = !is_null(s, 5),
        .step = number(s, 5),
        .cause = stet_cause_find(text(s, 6)),
        .function = text(s, 8),
        .program = text(s, 9),
        .against = text(s, 10),
        .origin = {text(s, 11), text(s, 13), number(s, 12)},
        .trigger = {text(s, 14), text(s, 16), number(s, 15)},
        .cost_ns = number(s, 17),
        .served = stet_journal_served_of(text(s, 18)),
        .benign = number(s, 19) != 0,
        .sure = stet_sure_find(text(s, 20)),
        .evidence = text(s, 21),
        .has_memory = !is_null(s, 22),
        .temp_bytes = number(s, 22),
        .has_more = !is_null(s, 23),
        .temp_bytes_more = sqlite3_column_int64(s, 23),
        .left_out = number(s, 24),
        .fix = text(s, 25),
        .advice = text(s, 26),
        .source = {text(s, 27), text(s, 29), number(s, 28)},
        .wait_ns = number(s, 30),
        .event = stet_ledger_event_of(text(s, 31)),
        .turn_known = !is_null(s, 32),
        .turn = number(s, 32),
        .time_ns = number(s, 33),
        .changes = c->items,
        .change_count = c->count,
    };

    stet_cause_list_read(&r.also, text(s, 7));
    return r;
}

/* A newer Stet has written a cause that this one does not know. The row is kept, and its evidence
 * gives the unknown cause. */
static void keep_foreign(struct stet_recompile *r, struct stet_view id, char *evidence, size_t room)
{
    int n;

    if (r->cause != STET_CAUSE_NONE)
        return;
    r->cause = STET_CAUSE_UNKNOWN;
    n = snprintf(evidence, room,
                 "the ledger names the cause \"%.*s\", which this version of Stet "
                 "does not know%s%.*s",
                 STET_FMT(id), r->evidence.len ? "; " : "", STET_FMT(r->evidence));
    r->evidence = stet_view_of(evidence, n < (int)room ? (size_t)n : room - 1);
}

/* The columns needed for counting, and all columns. */
#define BRIEF                                                                                      \
    "SELECT id, lane, process, compile, NULL, NULL, class, also, function, NULL, NULL, NULL, "     \
    "NULL, NULL, NULL, NULL, NULL, cost_ns, served, benign, NULL, evidence, NULL, NULL, 0, NULL, " \
    "NULL, NULL, NULL, NULL, wait_ns, event, NULL, 0 "
#define FULL                                                                                       \
    "SELECT id, lane, process, compile, rank, step, class, also, function, program, against, "     \
    "origin_file, origin_line, origin_function, trigger_file, trigger_line, trigger_function, "    \
    "cost_ns, served, benign, sure, evidence, temp_bytes, temp_bytes_more, left_out, fix, "        \
    "advice, source_file, source_line, source_function, wait_ns, event, turn, time_ns "
/* Uses the order of the index, so that nothing is sorted. */
#define OF_LANE "FROM recompile WHERE run = ? AND lane = ? ORDER BY process, compile"

typedef bool visit_recompile(void *context, const struct stet_recompile *r);

struct reading {
    struct changes changes;
    sqlite3_stmt *rows, *of; /* of: changes of a row */
    bool brief, over;        /* over: the visitor wants no more rows */
    char evidence[1024];     /* of a row with an unknown cause */
};

static enum stet_rc read_lane(struct stet_ledger *l, struct reading *d, visit_recompile *visit,
                              void *context, struct stet_err *err)
{
    int step = SQLITE_ROW;

    while (!d->over && (step = sqlite3_step(d->rows)) == SQLITE_ROW) {
        struct stet_recompile r;

        if (!d->brief && !read_changes(&d->changes, d->of, number(d->rows, 0)))
            return stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger");
        r = row_of(d->rows, &d->changes);
        keep_foreign(&r, text(d->rows, 6), d->evidence, sizeof d->evidence);
        d->over = !visit(context, &r);
    }
    return step == SQLITE_ROW || step == SQLITE_DONE ? STET_OK
                                                     : stet_ledger_fail(l, err, "cannot read");
}

/* XLA's lane before torch's. */
static enum stet_rc read_lanes(struct stet_ledger *l, struct reading *d, const char *run,
                               visit_recompile *visit, void *context, struct stet_err *err)
{
    sqlite3_stmt *lanes = NULL;
    enum stet_rc rc = STET_OK;

    if (sqlite3_prepare_v2(l->db, "SELECT lane FROM fed WHERE run = ? ORDER BY lane DESC", -1,
                           &lanes, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(l->db, d->brief ? BRIEF OF_LANE : FULL OF_LANE, -1, &d->rows, NULL) !=
            SQLITE_OK ||
        sqlite3_prepare_v2(
            l->db,
            "SELECT what, was, is_now, file, line, kind, facet, follows, places, dim "
            "FROM change WHERE recompile = ? ORDER BY number",
            -1, &d->of, NULL) != SQLITE_OK)
        rc = stet_ledger_fail(l, err, "cannot read");
    if (rc == STET_OK)
        sqlite3_bind_text(lanes, 1, run, -1, SQLITE_STATIC);
    while (rc == STET_OK && !d->over && sqlite3_step(lanes) == SQLITE_ROW) {
        sqlite3_reset(d->rows);
        sqlite3_bind_text(d->rows, 1, run, -1, SQLITE_STATIC);
        sqlite3_bind_value(d->rows, 2, sqlite3_column_value(lanes, 0));
        rc = read_lane(l, d, visit, context, err);
    }
    sqlite3_finalize(lanes);
    return rc;
}

static enum stet_rc each(struct stet_ledger *l, const char *run, bool brief, visit_recompile *visit,
                         void *context, struct stet_err *err)
{
    struct reading *d = stet_mem_calloc(1, sizeof *d);
    enum stet_rc rc;

    if (!d)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger");
    d->brief = brief;
    rc = read_lanes(l, d, run, visit, context, err);
    sqlite3_finalize(d->rows);
    sqlite3_finalize(d->of);
    stet_arena_release(&d->changes.arena);
    stet_mem_free(d);
    return rc;
}

enum stet_rc stet_ledger_recompiles(struct stet_ledger *l, const char *run,
                                    bool (*visit)(void *context, const struct stet_recompile *r),
                                    void *context, struct stet_err *err)
{
    return each(l, run, false, visit, context, err);
}

enum stet_rc stet_ledger_recompiles_brief(struct stet_ledger *l, const char *run,
                                          bool (*visit)(void *context,
                                                        const struct stet_recompile *r),
                                          void *context, struct stet_err *err)
{
    return each(l, run, true, visit, context, err);
}

/* ---- counters ---- */

enum { MOST_COUNTERS = 4096 };

static struct stet_view copied(struct stet_arena *arena, sqlite3_stmt *s, int column)
{
    struct stet_view v = text(s, column);

    return v.ptr ? stet_arena_copy(arena, v) : v;
}

enum stet_rc stet_ledger_counters(struct stet_ledger *l, const char *run, struct stet_arena *arena,
                                  const struct stet_counter **out, size_t *count,
                                  struct stet_err *err)
{
    struct stet_counter *items = NULL;
    sqlite3_stmt *s = NULL;
    size_t n = 0;

    *count = 0;
    *out = NULL;
    if (sqlite3_prepare_v2(l->db,
                           "SELECT process, framework, name, samples, total, file, line "
                           "FROM counter WHERE run = ? ORDER BY process, framework, name",
                           -1, &s, NULL) != SQLITE_OK)
        return stet_ledger_fail(l, err, "cannot read");
    sqlite3_bind_text(s, 1, run, -1, SQLITE_STATIC);
    while (n < MOST_COUNTERS && sqlite3_step(s) == SQLITE_ROW) {
        if (!items)
            items = STET_NEW_ARRAY(arena, struct stet_counter, MOST_COUNTERS);
        if (!items)
            break;
        items[n++] = (struct stet_counter){.process = number(s, 0),
                                           .framework = copied(arena, s, 1),
                                           .name = copied(arena, s, 2),
                                           .samples = number(s, 3),
                                           .total = number(s, 4),
                                           .at = {copied(arena, s, 5), {0}, number(s, 6)}};
    }
    sqlite3_finalize(s);
    *out = items;
    *count = n;
    return arena->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger") : STET_OK;
}

/* ---- totals ---- */

enum stet_rc stet_ledger_run_totals(struct stet_ledger *l, const char *run,
                                    struct stet_ledger_totals *out, struct stet_err *err)
{
    sqlite3_stmt *s = NULL;
    enum stet_rc rc = STET_NOT_FOUND;

    *out = (struct stet_ledger_totals){0};
    if (sqlite3_prepare_v2(
            l->db,
            "SELECT compiles, loads, failed, executions, compile_ns, programs, processes, "
            "settled_step, settled_why, "
            "(SELECT count(*) FROM recompile AS c WHERE c.run = r.id AND NOT benign AND "
            "event = 'recompile'), "
            "(SELECT sum(cost_ns) FROM recompile AS c WHERE c.run = r.id AND NOT benign AND "
            "served = 'compiled'), "
            "(SELECT sum(wait_ns) FROM recompile AS c WHERE c.run = r.id AND NOT benign) "
            "FROM run AS r WHERE r.id = ?",
            -1, &s, NULL) != SQLITE_OK)
        return stet_ledger_fail(l, err, "cannot read");
    sqlite3_bind_text(s, 1, run, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW) {
        *out = (struct stet_ledger_totals){
            .compiles = number(s, 0),
            .loads = number(s, 1),
            .failed = number(s, 2),
            .executions = number(s, 3),
            .compile_ns = number(s, 4),
            .programs = number(s, 5),
            .processes = number(s, 6),
            .settled = !is_null(s, 7),
            .settled_step = number(s, 7),
            .unsettled = stet_unsettled_find(text(s, 8)),
            .recompiles = number(s, 9),
            .lost_ns = number(s, 10),
            .wait_ns = number(s, 11),
        };
        rc = STET_OK;
    }
    sqlite3_finalize(s);
    return rc;
}
