/* Replaces a lane of a run in one transaction. */
#include "ledger/ledger_internal.h"

#include "base/mem.h"

static const char *const sql[STET_SQL_STATEMENTS] = {
    [STET_SQL_ADD_PROCESS] = "INSERT INTO process VALUES (?,?,?,?,?,?,?,?)",
    [STET_SQL_ADD_PART] = "INSERT OR REPLACE INTO part VALUES (?,?,?,?)",
    [STET_SQL_ADD_COMPILE] = "INSERT INTO compile VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [STET_SQL_ADD_COUNTER] = "INSERT OR REPLACE INTO counter VALUES (?,?,?,?,?,?,?,?)",
    [STET_SQL_ADD_RECOMPILE] =
        ("INSERT INTO recompile VALUES "
         "(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
    [STET_SQL_ADD_CHANGE] = "INSERT INTO change VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
};

/* ---- binding by position ---- */

struct binder {
    sqlite3_stmt *s;
    int at;
};

static void number(struct binder *b, uint64_t v)
{
    sqlite3_bind_int64(b->s, ++b->at, (sqlite3_int64)v);
}

static void number_if(struct binder *b, bool known, uint64_t v)
{
    if (known)
        number(b, v);
    else
        sqlite3_bind_null(b->s, ++b->at);
}

static void text(struct binder *b, struct stet_view v)
{
    sqlite3_bind_text64(b->s, ++b->at, v.ptr ? v.ptr : "", v.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void text_if(struct binder *b, struct stet_view v)
{
    if (v.ptr)
        text(b, v);
    else
        sqlite3_bind_null(b->s, ++b->at);
}

static void cstr(struct binder *b, const char *v)
{
    text(b, stet_view_str(v));
}

static void line(struct binder *b, const struct stet_line *l)
{
    text_if(b, l->line ? l->file : (struct stet_view){0});
    number_if(b, l->line != 0, l->line);
    text_if(b, l->line ? l->function : (struct stet_view){0});
}

static bool prepare(struct stet_ledger *l, enum stet_statement which, struct binder *b)
{
    *b = (struct binder){0};
    if (!l->statements[which] &&
        sqlite3_prepare_v2(l->db, sql[which], -1, &l->statements[which], NULL) != SQLITE_OK)
        return false;
    b->s = l->statements[which];
    return true;
}

static enum stet_rc run_it(struct stet_ledger *l, struct binder *b, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (sqlite3_step(b->s) != SQLITE_DONE)
        rc = stet_ledger_fail(l, err, "cannot write");
    sqlite3_reset(b->s);
    return rc;
}

/* ---- a statement used once ---- */

static enum stet_rc once(struct stet_ledger *l, const char *statement, const char *a, const char *b,
                         const char *c, struct stet_err *err)
{
    const char *values[] = {a, b, c};
    sqlite3_stmt *s = NULL;
    enum stet_rc rc = STET_OK;

    if (sqlite3_prepare_v2(l->db, statement, -1, &s, NULL) != SQLITE_OK)
        return stet_ledger_fail(l, err, "cannot write");
    for (int i = 0; i < 3 && values[i]; i++)
        sqlite3_bind_text(s, i + 1, values[i], -1, SQLITE_STATIC);
    if (sqlite3_step(s) != SQLITE_DONE)
        rc = stet_ledger_fail(l, err, "cannot write");
    sqlite3_finalize(s);
    return rc;
}

bool stet_ledger_has(struct stet_ledger *l, const char *run, enum stet_lane lane, const char *stamp)
{
    sqlite3_stmt *s = NULL;
    bool has = false;

    if (sqlite3_prepare_v2(l->db, "SELECT 1 FROM fed WHERE run = ? AND lane = ? AND stamp = ?", -1,
                           &s, NULL) == SQLITE_OK) {
        sqlite3_bind_text(s, 1, run, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, stet_journal_lane_word(lane), -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 3, stamp, -1, SQLITE_STATIC);
        has = sqlite3_step(s) == SQLITE_ROW;
    }
    sqlite3_finalize(s);
    return has;
}

/* ---- the run's own row ---- */

static enum stet_rc add_run(struct stet_ledger *l, const struct stet_ledger_run *r, bool replace,
                            struct stet_err *err)
{
    const struct stet_run *run = r->run;
    struct binder b = {0};
    enum stet_rc rc;

    if (sqlite3_prepare_v2(l->db,
                           replace ? "INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                                   : "INSERT OR IGNORE INTO run VALUES "
                                     "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                           -1, &b.s, NULL) != SQLITE_OK)
        return stet_ledger_fail(l, err, "cannot write");
    cstr(&b, run->id);
    cstr(&b, run->folder);
    cstr(&b, run->cwd);
    cstr(&b, run->host);
    cstr(&b, run->command);
    number(&b, run->started_ns);
    number_if(&b, run->ended_ns != 0, run->ended_ns);
    number_if(&b, run->exit_code >= 0, (uint64_t)run->exit_code);
    number_if(&b, run->signal != 0, (uint64_t)run->signal);
    number(&b, r->processes);
    number(&b, r->compiles);
    number(&b, r->loads);
    number(&b, r->failed);
    number(&b, r->executions);
    number(&b, r->compile_ns);
    number(&b, r->programs);
    number_if(&b, r->settled, r->settled_step);
    text_if(&b, stet_view_str(stet_unsettled_text(r->unsettled)));
    rc = run_it(l, &b, err);
    sqlite3_finalize(b.s);
    return rc;
}

static enum stet_rc clear(struct stet_ledger *l, const struct stet_ledger_run *run, bool all,
                          struct stet_err *err)
{
    static const char *const tables[] = {"process", "part", "compile", "counter"};
    const char *id = run->run->id;
    char statement[80];
    enum stet_rc rc = once(l, "DELETE FROM recompile WHERE run = ? AND lane = ?", id,
                           stet_journal_lane_word(l->lane), NULL, err);

    for (size_t i = 0; all && rc == STET_OK && i < sizeof tables / sizeof *tables; i++) {
        sqlite3_snprintf(sizeof statement, statement, "DELETE FROM %s WHERE run = ?", tables[i]);
        rc = once(l, statement, id, NULL, NULL, err);
    }
    return rc;
}

/* The row is updated in place: deleting it would also delete the other lanes' recompiles. */
static enum stet_rc put_run(struct stet_ledger *l, const struct stet_ledger_run *run, bool replace,
                            struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (replace) {
        rc = stet_ledger_exec(l, "PRAGMA defer_foreign_keys = ON", "cannot write", err);
        if (rc == STET_OK)
            rc = once(l, "UPDATE run SET id = id || '~' WHERE id = ?", run->run->id, NULL, NULL,
                      err);
    }
    if (rc == STET_OK)
        rc = add_run(l, run, replace, err);
    if (rc == STET_OK && replace)
        rc = once(l, "DELETE FROM run WHERE id = ? || '~'", run->run->id, NULL, NULL, err);
    return rc;
}

enum stet_rc stet_ledger_begin(struct stet_ledger *l, const struct stet_ledger_run *run,
                               enum stet_lane lane, struct stet_err *err)
{
    bool all = lane == STET_LANE_XLA;
    enum stet_rc rc;

    stet_mem_free(l->run);
    l->run = stet_mem_strdup(run->run->id);
    l->lane = lane;
    if (!l->run)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger");
    rc = stet_ledger_exec(l, "BEGIN IMMEDIATE", "cannot begin", err);
    if (rc != STET_OK)
        return rc;
    l->feeding = true;
    rc = clear(l, run, all, err);
    if (rc == STET_OK)
        rc = put_run(l, run, all, err);
    if (rc != STET_OK)
        stet_ledger_end(l, "", false, NULL);
    return rc;
}

enum stet_rc stet_ledger_end(struct stet_ledger *l, const char *stamp, bool good,
                             struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (!l->feeding)
        return STET_OK;
    if (good)
        rc = once(l, "INSERT OR REPLACE INTO fed VALUES (?,?,?)", l->run,
                  stet_journal_lane_word(l->lane), stamp, err);
    if (good && rc == STET_OK)
        rc = stet_ledger_exec(l, "COMMIT", "cannot write", err);
    if (!good || rc != STET_OK)
        sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    l->feeding = false;
    return rc;
}

/* ---- rows ---- */

enum stet_rc stet_ledger_add_process(struct stet_ledger *l, const struct stet_ledger_process *p,
                                     struct stet_err *err)
{
    struct binder b;

    if (!prepare(l, STET_SQL_ADD_PROCESS, &b))
        return stet_ledger_fail(l, err, "cannot write");
    cstr(&b, l->run);
    number(&b, p->process);
    text(&b, p->host);
    number(&b, p->pid);
    number_if(&b, p->rank >= 0, (uint64_t)p->rank);
    text(&b, p->python);
    number_if(&b, p->steps_known, p->steps);
    number(&b, p->executions);
    return run_it(l, &b, err);
}

enum stet_rc stet_ledger_add_part(struct stet_ledger *l, uint64_t process, struct stet_view name,
                                  struct stet_view value, struct stet_err *err)
{
    struct binder b;

    if (!prepare(l, STET_SQL_ADD_PART, &b))
        return stet_ledger_fail(l, err, "cannot write");
    cstr(&b, l->run);
    number(&b, process);
    text(&b, name);
    text(&b, value);
    return run_it(l, &b, err);
}

enum stet_rc stet_ledger_add_counter(struct stet_ledger *l, const struct stet_counter *c,
                                     struct stet_err *err)
{
    struct binder b;

    if (!prepare(l, STET_SQL_ADD_COUNTER, &b))
        return stet_ledger_fail(l, err, "cannot write");
    cstr(&b, l->run);
    number(&b, c->process);
    text(&b, c->framework);
    text(&b, c->name);
    number(&b, c->samples);
    number(&b, c->total);
    text_if(&b, c->at.line ? c->at.file : (struct stet_view){0});
    number_if(&b, c->at.line != 0, c->at.line);
    return run_it(l, &b, err);
}

enum stet_rc stet_ledger_add_compile(struct stet_ledger *l, const struct stet_ledger_compile *c,
                                     struct stet_err *err)
{
    struct binder b;

    if (!prepare(l, STET_SQL_ADD_COMPILE, &b))
        return stet_ledger_fail(l, err, "cannot write");
    cstr(&b, l->run);
    number(&b, c->process);
    number(&b, c->compile);
    number(&b, c->time_ns);
    text(&b, c->function);
    text(&b, c->program);
    number(&b, c->cost_ns);
    number(&b, c->executions);
    number_if(&b, c->step_known, c->step);
    number(&b, c->served);
    number_if(&b, c->has_memory, c->temp_bytes);
    text_if(&b, c->error);
    number(&b, c->wait_ns);
    return run_it(l, &b, err);
}

static enum stet_rc add_change(struct stet_ledger *l, sqlite3_int64 recompile, size_t n,
                               const struct stet_row_change *c, struct stet_err *err)
{
    struct binder b;

    if (!prepare(l, STET_SQL_ADD_CHANGE, &b))
        return stet_ledger_fail(l, err, "cannot write");
    number(&b, (uint64_t)recompile);
    number(&b, n);
    text(&b, c->what);
    text_if(&b, c->from);
    text_if(&b, c->to);
    text_if(&b, c->line ? c->file : (struct stet_view){0});
    number_if(&b, c->line != 0, c->line);
    cstr(&b, stet_cause_change_id(c->kind));
    text_if(&b, c->facet);
    text_if(&b, c->follows);
    number(&b, c->count);
    number_if(&b, c->dim != 0, c->dim - 1);
    return run_it(l, &b, err);
}

enum stet_rc stet_ledger_add_recompile(struct stet_ledger *l, const struct stet_recompile *r,
                                       struct stet_err *err)
{
    char also[STET_CAUSE_LIST_TEXT];
    struct binder b;
    enum stet_rc rc;
    sqlite3_int64 id;

    if (!prepare(l, STET_SQL_ADD_RECOMPILE, &b))
        return stet_ledger_fail(l, err, "cannot write");
    cstr(&b, l->run);
    cstr(&b, stet_journal_lane_word(l->lane));
    number(&b, r->process);
    number(&b, r->compile);
    number_if(&b, r->rank >= 0, (uint64_t)r->rank);
    number_if(&b, r->step_known, r->step);
    cstr(&b, stet_cause_id(r->cause));
    text(&b, stet_cause_list_text(&r->also, also));
    text(&b, r->function);
    text_if(&b, r->program);
    text_if(&b, r->against);
    line(&b, &r->origin);
    line(&b, &r->trigger);
    number(&b, r->cost_ns);
    text(&b, stet_view_str(stet_journal_served_word(r->served)));
    number(&b, r->benign);
    text(&b, stet_view_str(stet_sure_name(r->sure)));
    text(&b, r->evidence);
    number_if(&b, r->has_memory, r->temp_bytes);
    number_if(&b, r->has_more, (uint64_t)r->temp_bytes_more);
    number(&b, r->left_out);
    text(&b, r->fix);
    text_if(&b, r->advice);
    line(&b, &r->source);
    number(&b, r->wait_ns);
    cstr(&b, stet_ledger_event_word(r->event));
    number_if(&b, r->turn_known, r->turn);
    number(&b, r->time_ns);
    rc = run_it(l, &b, err);
    id = sqlite3_last_insert_rowid(l->db);
    for (size_t i = 0; rc == STET_OK && i < r->change_count; i++)
        rc = add_change(l, id, i, &r->changes[i], err);
    return rc;
}

bool stet_ledger_feed(void *feed, const struct stet_recompile *r)
{
    struct stet_ledger_feed *f = feed;

    f->rc = stet_ledger_add_recompile(f->ledger, r, f->err);
    return f->rc == STET_OK;
}

/* ---- removing ---- */

enum stet_rc stet_ledger_forget(struct stet_ledger *l, const char *run, struct stet_err *err)
{
    return once(l, "DELETE FROM run WHERE id = ?", run, NULL, NULL, err);
}

enum stet_rc stet_ledger_keep_newest(struct stet_ledger *l, unsigned keep, struct stet_err *err)
{
    char statement[128];

    sqlite3_snprintf(sizeof statement, statement,
                     "DELETE FROM run WHERE id IN (SELECT id FROM run ORDER BY started_ns DESC "
                     "LIMIT -1 OFFSET %u)",
                     keep);
    return stet_ledger_exec(l, statement, "cannot write", err);
}
