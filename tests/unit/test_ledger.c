/* Facts about the ledger: what goes in comes out, and nothing that happens to it loses more than
 * the run being fed. */
#include "folder_help.h"
#include "test.h"

#include "base/arena.h"
#include "ledger/ledger.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[96];

static const char *fresh(void)
{
    make_folder("ledger");
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    return path;
}

static struct stet_ledger *opened(void)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;

    if (stet_ledger_open(&l, path, &err) != STET_OK)
        fprintf(stderr, "%s\n", err.text);
    EXPECT(l != NULL);
    return l;
}

static enum stet_rc feed(struct stet_ledger *l, const char *id, const char *lane,
                         enum stet_cause cause, int recompiles, const char *stamp)
{
    const struct stet_row_change changes[] = {
        {STET_VIEW("argument x dimension 0"),
         STET_VIEW("4"),
         STET_VIEW("6"),
         STET_VIEW("/home/u/train.py"),
         7,
         STET_CHANGE_ARGUMENT,
         STET_VIEW("shapes"),
         {0},
         1},
        {STET_VIEW("argument mask"),
         {0},
         STET_VIEW("f32[4]"),
         {0},
         0,
         STET_CHANGE_ARGUMENT_CAME,
         {0},
         {0},
         2},
    };
    struct stet_run run = {.id = id,
                           .folder = "/f",
                           .cwd = "/c",
                           .host = "h",
                           .command = "train",
                           .started_ns = 5,
                           .exit_code = -1};
    struct stet_ledger_run row = {
        .run = &run, .compiles = 9, .programs = 3, .settled = true, .settled_step = 12};
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = stet_ledger_begin(l, &row, stet_journal_lane_of(stet_view_str(lane)), &err);

    for (int i = 0; rc == STET_OK && i < recompiles; i++) {
        struct stet_recompile r = {.compile = (uint64_t)i,
                                   .rank = -1,
                                   .step_known = i > 0,
                                   .step = (uint64_t)i,
                                   .cause = cause,
                                   .also = {{STET_CAUSE_VARLEN, STET_CAUSE_GRAPH_BREAK}, 2},
                                   .function = STET_VIEW("f"),
                                   .origin = {STET_VIEW("/home/u/train.py"), STET_VIEW("f"), 7},
                                   .source = {STET_VIEW("/home/u/data.py"), STET_VIEW("g"), 3},
                                   .changes = changes,
                                   .change_count = 2,
                                   .wait_ns = 3000,
                                   .cost_ns = 1000,
                                   .served = i == 3 ? STET_SERVED_DISK : STET_SERVED_COMPILED,
                                   .benign = i == 1,
                                   .advice = STET_VIEW("{\"alone\":[]}"),
                                   .has_more = true,
                                   .temp_bytes_more = -5};

        rc = stet_ledger_add_recompile(l, &r, &err);
    }
    if (rc == STET_OK)
        return stet_ledger_end(l, stamp, true, &err);
    stet_ledger_end(l, stamp, false, NULL);
    return rc;
}

struct seen {
    int count, torch, benign;
    bool right;
};

static bool look(void *context, const struct stet_recompile *r)
{
    struct seen *s = context;

    s->count++;
    s->torch += r->lane == STET_LANE_TORCH;
    s->benign += r->benign;
    s->right =
        r->change_count == 2 && stet_view_is(r->changes[0].from, "4") &&
        r->changes[0].kind == STET_CHANGE_ARGUMENT && !r->changes[1].from.ptr &&
        r->changes[0].line == 7 && !r->program.ptr && r->rank == -1 && r->temp_bytes_more == -5 &&
        r->has_more && !r->has_memory && r->origin.line == 7 && !r->trigger.line &&
        r->source.line == 3 && stet_view_is(r->source.file, "/home/u/data.py") &&
        r->also.count == 2 && r->also.items[0] == STET_CAUSE_VARLEN &&
        r->also.items[1] == STET_CAUSE_GRAPH_BREAK && stet_view_is(r->advice, "{\"alone\":[]}") &&
        r->wait_ns == 3000 && r->cost_ns == 1000;
    return true;
}

static struct seen all_of(struct stet_ledger *l, const char *run)
{
    struct stet_err err = STET_ERR_INIT;
    struct seen s = {0};

    EXPECT_INT(STET_OK, stet_ledger_recompiles(l, run, look, &s, &err));
    return s;
}

TEST(rows_read_back_as_they_were_written)
{
    struct stet_ledger_totals totals;
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;
    struct seen s;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 4, "s1"));
    s = all_of(l, "r1");
    EXPECT_INT(4, s.count);
    EXPECT_INT(1, s.benign);
    EXPECT(s.right);
    EXPECT_INT(STET_OK, stet_ledger_run_totals(l, "r1", &totals, &err));
    EXPECT_INT(9, totals.compiles);
    EXPECT_INT(3, totals.recompiles);
    EXPECT_INT(2000, totals.lost_ns); /* the one from disk was not compiled */
    EXPECT_INT(9000, totals.wait_ns); /* and was waited for all the same */
    EXPECT(totals.settled && totals.settled_step == 12);
    EXPECT_INT(STET_NOT_FOUND, stet_ledger_run_totals(l, "r2", &totals, &err));
    stet_ledger_close(l);
    remove_folder();
}

TEST(feeding_twice_changes_nothing_and_lanes_are_independent)
{
    struct stet_ledger *l;
    struct seen s;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "torch", STET_CAUSE_GRAD_MODE, 2, "t1"));
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 3, "s1"));
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 3, "s2"));
    s = all_of(l, "r1");
    EXPECT_INT(5, s.count);
    EXPECT_INT(2, s.torch);
    EXPECT(!stet_ledger_has(l, "r1", STET_LANE_XLA, "s1"));
    EXPECT(stet_ledger_has(l, "r1", STET_LANE_XLA, "s2"));
    EXPECT(stet_ledger_has(l, "r1", STET_LANE_TORCH, "t1"));
    stet_ledger_close(l);
    remove_folder();
}

static bool look_at_foreign(void *context, const struct stet_recompile *r)
{
    int *right = context;

    *right += r->cause == STET_CAUSE_UNKNOWN && r->also.count == 2 &&
              r->also.items[0] == STET_CAUSE_VARLEN && r->also.items[1] == STET_CAUSE_UNKNOWN &&
              stet_view_starts(r->evidence, "the ledger names the cause \"from-the-future\", which "
                                            "this version of Stet does not know");
    return true;
}

TEST(a_cause_of_a_newer_version_is_read_as_unknown_and_named)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;
    sqlite3 *db;
    int right = 0;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 3, "s1"));
    stet_ledger_close(l);
    EXPECT_INT(SQLITE_OK, sqlite3_open(path, &db));
    EXPECT_INT(SQLITE_OK, sqlite3_exec(db,
                                       "UPDATE recompile SET class = 'from-the-future', "
                                       "also = 'varlen newer-still'",
                                       NULL, NULL, NULL));
    sqlite3_close(db);
    l = opened();
    EXPECT_INT(STET_OK, stet_ledger_recompiles(l, "r1", look_at_foreign, &right, &err));
    EXPECT_INT(3, right);
    stet_ledger_close(l);
    remove_folder();
}

TEST(a_killed_feeder_leaves_what_was_there)
{
    struct stet_ledger *l;
    int status;
    pid_t pid;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 3, "s1"));
    stet_ledger_close(l);
    pid = fork();
    if (!pid) {
        struct stet_run run = {.id = "r1", .folder = "/f", .cwd = "", .host = "", .command = ""};
        struct stet_ledger_run row = {.run = &run};
        struct stet_recompile r = {.cause = STET_CAUSE_UNKNOWN};

        l = opened();
        stet_ledger_begin(l, &row, STET_LANE_XLA, NULL);
        for (int i = 0; i < 1000; i++)
            stet_ledger_add_recompile(l, &r, NULL);
        kill(getpid(), SIGKILL);
    }
    EXPECT_INT(pid, waitpid(pid, &status, 0));
    EXPECT(WIFSIGNALED(status));
    l = opened();
    EXPECT_INT(3, all_of(l, "r1").count);
    EXPECT(stet_ledger_has(l, "r1", STET_LANE_XLA, "s1"));
    stet_ledger_close(l);
    remove_folder();
}

/* Making a file into one that is written ahead is what SQLite itself does not wait for. */
TEST(processes_that_create_a_ledger_together_wait_for_each_other)
{
    enum { ROUNDS = 25, MAKERS = 8 };
    struct stet_ledger *l;
    int status, gate[2];
    pid_t pids[MAKERS];
    char c;

    for (int round = 0; round < ROUNDS; round++) {
        fresh();
        EXPECT_INT(0, pipe(gate));
        for (int i = 0; i < MAKERS; i++) {
            pids[i] = fork();
            if (!pids[i]) {
                close(gate[1]);
                l = read(gate[0], &c, 1) == 0 ? opened() : NULL;
                stet_ledger_close(l);
                _exit(!l);
            }
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < MAKERS; i++) {
            EXPECT_INT(pids[i], waitpid(pids[i], &status, 0));
            EXPECT_INT(0, status);
        }
        remove_folder();
    }
}

TEST(concurrent_writers_wait_for_each_other)
{
    enum { WRITERS = 4 };
    struct stet_ledger *l;
    pid_t pids[WRITERS];
    int status;

    fresh();
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (!pids[i]) {
            int bad = 0;
            char id[16];

            l = opened();
            for (int k = 0; l && k < 10; k++) {
                snprintf(id, sizeof id, "r%d", k);
                bad += feed(l, id, "xla", STET_CAUSE_SHAPE_DRIFT, 5, "s") != STET_OK;
            }
            stet_ledger_close(l);
            _exit(bad || !l);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        EXPECT_INT(pids[i], waitpid(pids[i], &status, 0));
        EXPECT_INT(0, status);
    }
    l = opened();
    EXPECT_INT(5, all_of(l, "r0").count);
    EXPECT_INT(5, all_of(l, "r9").count);
    stet_ledger_close(l);
    remove_folder();
}

/* A file size limit stands for a disk that is full. */
TEST(a_full_disk_is_an_error_and_loses_nothing)
{
    struct stet_ledger *l;
    int status;
    pid_t pid;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 3, "s1"));
    stet_ledger_close(l);
    pid = fork();
    if (!pid) {
        struct rlimit limit = {200 << 10, 200 << 10};

        signal(SIGXFSZ, SIG_IGN);
        l = opened();
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(l && feed(l, "r2", "xla", STET_CAUSE_SHAPE_DRIFT, 20000, "s") == STET_IO ? 0 : 1);
    }
    EXPECT_INT(pid, waitpid(pid, &status, 0));
    EXPECT_INT(0, status);
    l = opened();
    EXPECT_INT(3, all_of(l, "r1").count);
    EXPECT_INT(0, all_of(l, "r2").count);
    stet_ledger_close(l);
    remove_folder();
}

TEST(an_older_ledger_gets_the_new_tables_and_keeps_its_rows)
{
    const struct stet_counter counter = {.framework = STET_VIEW("torch_xla"),
                                         .name = STET_VIEW("aten::nonzero"),
                                         .samples = 3,
                                         .at = {STET_VIEW("train.py"), {0}, 7}};
    const struct stet_run run = {
        .id = "r1", .folder = "/r", .cwd = "/", .host = "h", .command = "c"};
    const struct stet_ledger_run row = {.run = &run};
    struct stet_err err = STET_ERR_INIT;
    const struct stet_counter *found;
    struct stet_arena arena;
    struct stet_ledger *l;
    size_t count;
    sqlite3 *db;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 2, "s"));
    stet_ledger_close(l);
    EXPECT_INT(SQLITE_OK, sqlite3_open(path, &db));
    EXPECT_INT(SQLITE_OK, sqlite3_exec(db,
                                       "DROP TABLE counter; DROP VIEW cause; "
                                       "ALTER TABLE recompile DROP COLUMN event; "
                                       "ALTER TABLE recompile DROP COLUMN turn; "
                                       "ALTER TABLE recompile DROP COLUMN time_ns; "
                                       "ALTER TABLE change DROP COLUMN dim; "
                                       "ALTER TABLE recompile DROP COLUMN wait_ns; "
                                       "ALTER TABLE compile DROP COLUMN wait_ns; "
                                       "ALTER TABLE recompile DROP COLUMN advice; "
                                       "ALTER TABLE recompile DROP COLUMN source_file; "
                                       "ALTER TABLE recompile DROP COLUMN source_line; "
                                       "ALTER TABLE recompile DROP COLUMN source_function; "
                                       "CREATE VIEW cause AS SELECT run FROM recompile; "
                                       "PRAGMA user_version = 1",
                                       NULL, NULL, NULL));
    sqlite3_close(db);
    l = opened();
    EXPECT_INT(2, all_of(l, "r1").count);
    EXPECT_INT(STET_OK, stet_ledger_begin(l, &row, STET_LANE_XLA, &err));
    EXPECT_INT(STET_OK, stet_ledger_add_counter(l, &counter, &err));
    EXPECT_INT(STET_OK, stet_ledger_end(l, "s", true, &err));
    stet_arena_init(&arena, 8 << 20);
    EXPECT_INT(STET_OK, stet_ledger_counters(l, "r1", &arena, &found, &count, &err));
    EXPECT_INT(1, count);
    EXPECT_INT(3, found[0].samples);
    EXPECT_INT(7, found[0].at.line);
    stet_arena_release(&arena);
    stet_ledger_close(l);
    remove_folder();
}

TEST(a_newer_and_a_damaged_ledger_are_refused_with_advice)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;
    sqlite3 *db;
    FILE *f;

    fresh();
    EXPECT_INT(SQLITE_OK, sqlite3_open(path, &db));
    sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
    sqlite3_close(db);
    EXPECT_INT(STET_UNSUPPORTED, stet_ledger_open(&l, path, &err));
    EXPECT(strstr(err.text, "newer Stet") != NULL);
    f = fopen(path, "w");
    fputs("this is no database, whatever its name says; and it is long enough to be read as one",
          f);
    fclose(f);
    err = (struct stet_err)STET_ERR_INIT;
    EXPECT_INT(STET_BAD_INPUT, stet_ledger_open(&l, path, &err));
    EXPECT(strstr(err.text, "delete it") != NULL);
    remove_folder();
}

#ifdef STET_FAULT_INJECTION
TEST(a_ledger_on_a_network_file_system_is_refused)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;

    fresh();
    setenv("STET_TEST_FILESYSTEM", "NFS", 1);
    EXPECT_INT(STET_UNSUPPORTED, stet_ledger_open(&l, path, &err));
    EXPECT(strstr(err.text, "STET_LEDGER") != NULL);
    unsetenv("STET_TEST_FILESYSTEM");
    remove_folder();
}
#endif

TEST(old_runs_are_deleted_with_all_their_rows)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_ledger *l;

    fresh();
    l = opened();
    EXPECT_INT(STET_OK, feed(l, "r1", "xla", STET_CAUSE_SHAPE_DRIFT, 3, "s1"));
    EXPECT_INT(STET_OK, feed(l, "r2", "xla", STET_CAUSE_SHAPE_DRIFT, 4, "s1"));
    EXPECT_INT(STET_OK, stet_ledger_forget(l, "r1", &err));
    EXPECT_INT(0, all_of(l, "r1").count);
    EXPECT_INT(4, all_of(l, "r2").count);
    EXPECT_INT(STET_OK, stet_ledger_keep_newest(l, 0, &err));
    EXPECT_INT(0, all_of(l, "r2").count);
    stet_ledger_close(l);
    remove_folder();
}
