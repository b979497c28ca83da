/* Opens the ledger: checks its location and version, creates and upgrades its tables. */
#include "ledger/ledger_internal.h"

#include "base/fs.h"
#include "base/mem.h"
#include "ledger/state.h"
#include "ledger_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 10000 };

enum stet_rc stet_ledger_fail(struct stet_ledger *l, struct stet_err *err, const char *doing)
{
    int code = l->db ? sqlite3_errcode(l->db) & 0xff : SQLITE_NOMEM;
    const char *text = l->db ? sqlite3_errmsg(l->db) : "out of memory";
    enum stet_rc rc = STET_IO;

    if (code == SQLITE_NOMEM)
        rc = STET_NO_MEMORY;
    else if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return stet_fail(err, STET_BAD_INPUT,
                         "%s: damaged (%s); delete it, it is made again from the run folders",
                         l->path, text);
    else if (code == SQLITE_FULL)
        text = "the disk is full";
    else if (code == SQLITE_BUSY)
        text = "another process has been writing to it for ten seconds";
    return stet_fail(err, rc, "%s: %s: %s", l->path, doing, text);
}

enum stet_rc stet_ledger_exec(struct stet_ledger *l, const char *sql, const char *doing,
                              struct stet_err *err)
{
    if (sqlite3_exec(l->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return stet_ledger_fail(l, err, doing);
    return STET_OK;
}

static enum stet_rc check_place(const char *path, struct stet_err *err)
{
    char *folder = stet_mem_strdup(path), *slash;
    enum stet_rc rc = STET_OK;
    const char *kind;

    if (!folder)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger");
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    rc = stet_fs_mkdirs(slash ? folder : ".", err);
    /* SQLite's locks and shared memory do not work there: two hosts would destroy the file. */
    kind = rc == STET_OK ? stet_fs_network(slash ? folder : ".") : NULL;
    if (kind)
        rc = stet_fail(err, STET_UNSUPPORTED,
                       "%s is on a network filesystem (%s), where SQLite is not safe: name a local "
                       "file in STET_LEDGER; run folders may stay where they are",
                       path, kind);
    stet_mem_free(folder);
    return rc;
}

static int user_version(struct stet_ledger *l)
{
    sqlite3_stmt *s = NULL;
    int version = -1;

    if (sqlite3_prepare_v2(l->db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return version;
}

/* The statements that versions 2 to 6 added; the rest of an older file is unchanged. All runs are
 * fed again anyway when they are read (STET_EXPLAIN_VERSION). */
static const char *const upgrades[STET_LEDGER_VERSION] = {
    [1] = "CREATE TABLE counter (run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE, "
          "process INTEGER NOT NULL, framework TEXT NOT NULL, name TEXT NOT NULL, "
          "samples INTEGER NOT NULL, total INTEGER NOT NULL, file TEXT, line INTEGER, "
          "PRIMARY KEY (run, process, framework, name)) WITHOUT ROWID",
    [2] = "ALTER TABLE recompile ADD COLUMN advice TEXT; DROP VIEW cause; "
          "CREATE VIEW cause AS "
          "SELECT run, lane, class, function, origin_file, origin_line, count(*) AS times, "
          "sum(CASE served WHEN 'compiled' THEN cost_ns ELSE 0 END) / 1e9 AS seconds, "
          "min(step) AS first_step, max(step) AS last_step FROM recompile WHERE NOT benign "
          "GROUP BY run, lane, class, function, origin_file, origin_line",
    [3] = "ALTER TABLE recompile ADD COLUMN source_file TEXT; "
          "ALTER TABLE recompile ADD COLUMN source_line INTEGER; "
          "ALTER TABLE recompile ADD COLUMN source_function TEXT",
    [4] = "ALTER TABLE compile ADD COLUMN wait_ns INTEGER NOT NULL DEFAULT 0; "
          "ALTER TABLE recompile ADD COLUMN wait_ns INTEGER NOT NULL DEFAULT 0; DROP VIEW cause; "
          "CREATE VIEW cause AS "
          "SELECT run, lane, class, function, origin_file, origin_line, count(*) AS times, "
          "sum(wait_ns) / 1e9 AS seconds, min(step) AS first_step, max(step) AS last_step, "
          "sum(CASE served WHEN 'compiled' THEN cost_ns ELSE 0 END) / 1e9 AS compiler_seconds "
          "FROM recompile WHERE NOT benign "
          "GROUP BY run, lane, class, function, origin_file, origin_line",
    [5] = "ALTER TABLE recompile ADD COLUMN event TEXT NOT NULL DEFAULT 'recompile'; "
          "ALTER TABLE recompile ADD COLUMN turn INTEGER; "
          "ALTER TABLE recompile ADD COLUMN time_ns INTEGER NOT NULL DEFAULT 0; "
          "ALTER TABLE change ADD COLUMN dim INTEGER",
};

/* Several processes may open an empty or older file at once: one creates the tables, the others
 * find them. */
static enum stet_rc make_tables(struct stet_ledger *l, struct stet_err *err)
{
    char set[64];
    int version;
    enum stet_rc rc = stet_ledger_exec(l, "BEGIN IMMEDIATE", "cannot begin", err);

    if (rc != STET_OK)
        return rc;
    snprintf(set, sizeof set, "PRAGMA user_version = %d", STET_LEDGER_VERSION);
    version = user_version(l);
    if (version < 0)
        rc = stet_ledger_fail(l, err, "cannot read the version");
    else if (version == 0)
        rc = stet_ledger_exec(l, stet_ledger_schema, "cannot make the tables", err);
    for (int from = version; from > 0 && from < STET_LEDGER_VERSION && rc == STET_OK; from++)
        rc = stet_ledger_exec(l, upgrades[from], "cannot make the tables", err);
    if (rc == STET_OK && version < STET_LEDGER_VERSION)
        rc = stet_ledger_exec(l, set, "cannot set the version", err);
    if (rc == STET_OK)
        return stet_ledger_exec(l, "COMMIT", "cannot make the tables", err);
    sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* SQLite does not wait here, because two readers that both want to write would wait for each other.
 * Processes that open a new file at once would then fail without having waited, so this retries. */
static enum stet_rc write_ahead(struct stet_ledger *l, struct stet_err *err)
{
    enum { NAP_MS = 5 };
    int code, waited = 0;

    sqlite3_busy_timeout(l->db, 0); /* so that SQLite does not wait at each try */
    while ((code = sqlite3_exec(l->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL)) ==
               SQLITE_BUSY &&
           waited < WAIT_MS)
        waited += sqlite3_sleep(NAP_MS);
    sqlite3_busy_timeout(l->db, WAIT_MS);
    return code == SQLITE_OK ? STET_OK : stet_ledger_fail(l, err, "cannot set up");
}

/* The ledger is readable only for its owner, wherever it is; SQLite gives the files beside it the
 * same mode. An existing file is not opened here: closing it would drop the locks of other
 * connections. SQLite reports a file that cannot be created or changed. */
static void keep_private(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat st;

    if (fd >= 0)
        close(fd);
    else if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077))
        chmod(path, 0600);
}

/* Another user may have written the file and its schema. Nothing in it is executed: no trigger, no
 * view, no function with effects; sizes are bounded. The schema's view is only for other programs
 * that open the file. */
static void distrust(sqlite3 *db)
{
    static const struct {
        int what, to;
    } switches[] =
        {
            {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
            {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
            {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        },
      limits[] = {
          {SQLITE_LIMIT_LENGTH, 256 << 20}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
          {SQLITE_LIMIT_EXPR_DEPTH, 100},   {SQLITE_LIMIT_COMPOUND_SELECT, 10},
          {SQLITE_LIMIT_ATTACHED, 0},       {SQLITE_LIMIT_TRIGGER_DEPTH, 10},
          {SQLITE_LIMIT_WORKER_THREADS, 0},
      };

    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        sqlite3_db_config(db, switches[i].what, switches[i].to, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].what, limits[i].to);
    sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

static enum stet_rc set_up(struct stet_ledger *l, struct stet_err *err)
{
    enum stet_rc rc;
    int version;

    keep_private(l->path);
    if (sqlite3_open_v2(l->path, &l->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) /* only one thread uses a ledger */
        return stet_ledger_fail(l, err, "cannot open");
    sqlite3_busy_timeout(l->db, WAIT_MS);
    distrust(l->db);
    version = user_version(l);
    if (version < 0)
        return stet_ledger_fail(l, err, "cannot read");
    if (version > STET_LEDGER_VERSION)
        return stet_fail(err, STET_UNSUPPORTED,
                         "%s was made by a newer Stet (version %d; this one knows %d): use that "
                         "one, or name another file in STET_LEDGER",
                         l->path, version, STET_LEDGER_VERSION);
    rc = write_ahead(l, err);
    if (rc == STET_OK)
        rc = stet_ledger_exec(l,
                              "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"
                              "PRAGMA temp_store = MEMORY",
                              "cannot set up", err);
    return rc == STET_OK && version < STET_LEDGER_VERSION ? make_tables(l, err) : rc;
}

static char *default_path(struct stet_err *err)
{
    const char *named = getenv("STET_LEDGER");
    char *state, *path;

    if (named && *named)
        return stet_mem_strdup(named);
    state = stet_ledger_state_dir(err);
    path = state ? stet_fs_join(state, "ledger.db") : NULL;
    stet_mem_free(state);
    return path;
}

enum stet_rc stet_ledger_open(struct stet_ledger **out, const char *path, struct stet_err *err)
{
    struct stet_ledger *l = stet_mem_calloc(1, sizeof *l);
    enum stet_rc rc;

    *out = NULL;
    if (!l)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger");
    l->path = path ? stet_mem_strdup(path) : default_path(err);
    rc = l->path ? check_place(l->path, err)
                 : stet_fail(err, STET_NO_MEMORY, "out of memory for the ledger");
    if (rc == STET_OK)
        rc = set_up(l, err);
    if (rc != STET_OK) {
        stet_ledger_close(l);
        return rc;
    }
    *out = l;
    return STET_OK;
}

void stet_ledger_close(struct stet_ledger *l)
{
    if (!l)
        return;
    for (int i = 0; i < STET_SQL_STATEMENTS; i++)
        sqlite3_finalize(l->statements[i]);
    if (l->feeding)
        sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(l->db);
    stet_mem_free(l->run);
    stet_mem_free(l->path);
    stet_mem_free(l);
}

static const char *const unsettled[] = {
    [STET_UNSETTLED_NO_STEPS] = "its steps are not known",
    [STET_UNSETTLED_COMPILING] = "it was still compiling in its last steps",
};

const char *stet_unsettled_text(enum stet_unsettled u)
{
    return unsettled[u];
}

enum stet_unsettled stet_unsettled_find(struct stet_view text)
{
    for (int u = STET_UNSETTLED_NO_STEPS; u <= STET_UNSETTLED_COMPILING; u++)
        if (stet_view_is(text, unsettled[u]))
            return (enum stet_unsettled)u;
    return STET_UNSETTLED_NONE;
}
