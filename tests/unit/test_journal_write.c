/* Facts about the journal's writer: threads, forks, rotation, and every way a disk can fail. */
#include "test.h"

#include "journal_help.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

TEST(nothing_is_on_disk_before_the_first_record_and_all_of_it_in_one_write_after)
{
    struct stet_journal *j;
    struct tally t;

    fresh_scratch();
    j = scratch_journal(0, 0, 0);
    EXPECT_INT(0, each_file("", NULL, NULL));
    EXPECT(write_compile(j, 0));
    t = tally_scratch();
    EXPECT_INT(1, t.files);
    EXPECT(t.segments == 1 && t.processes == 1 && t.compiles == 1);
    stet_journal_free(j);
    drop_scratch();
}

TEST(a_null_journal_is_off)
{
    struct stet_exec e = {1, 1};

    EXPECT(!write_compile(NULL, 0));
    EXPECT(!stet_journal_write_execs(NULL, &e, 1));
    stet_journal_fork_prepare(NULL);
    stet_journal_fork_parent(NULL);
    stet_journal_fork_child(NULL);
    EXPECT_INT(0, stet_journal_stats(NULL).written);
    stet_journal_free(NULL);
}

enum { THREADS = 8, EACH = 500 };

static struct stet_journal *shared;

static void *write_many(void *arg)
{
    uint64_t base = *(uint64_t *)arg;

    for (uint64_t i = 0; i < EACH; i++) {
        write_compile(shared, base + i);
        write_steps(shared, 3);
    }
    return NULL;
}

TEST(many_threads_write_one_journal)
{
    pthread_t threads[THREADS];
    uint64_t bases[THREADS], n = THREADS * EACH;
    struct tally t;

    fresh_scratch();
    shared = scratch_journal(0, 0, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        bases[i] = i * EACH;
        pthread_create(&threads[i], NULL, write_many, &bases[i]);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_INT(2 * n, stet_journal_stats(shared).written);
    EXPECT_INT(0, stet_journal_stats(shared).lost);
    stet_journal_free(shared);
    t = tally_scratch();
    EXPECT_INT(n, t.compiles);
    EXPECT_INT(n * (n - 1) / 2, t.compile_indices);
    EXPECT_INT(3 * n, t.executions);
    EXPECT(!t.out_of_order && !t.damaged_regions && !t.tail && !t.losses);
    drop_scratch();
}

static void prepare(void)
{
    stet_journal_fork_prepare(shared);
}

static void parent(void)
{
    stet_journal_fork_parent(shared);
}

static void child(void)
{
    stet_journal_fork_child(shared);
}

static int wait_for(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

struct uids {
    struct stet_hash uid[64], parent[64];
    size_t n;
};

static void collect_uid(const char *path, void *data)
{
    struct uids *u = data;
    struct stet_journal_reader r;
    struct stet_journal_event e;

    stet_journal_reader_open(&r, path, NULL);
    if (stet_journal_next(&r, &e, NULL) == STET_OK && u->n < 64) {
        const struct stet_rec_segment *s = e.record;

        u->uid[u->n] = s->uid;
        u->parent[u->n++] = s->forked_from;
    }
    stet_journal_reader_close(&r);
}

static atomic_bool forking;
static unsigned written_meanwhile;

static void *write_while_forking(void *unused)
{
    while (atomic_load(&forking))
        written_meanwhile += write_compile(shared, 0);
    return unused;
}

/* Children fork while a thread of the parent writes, so the lock is often held at that moment. */
TEST(forked_children_have_journals_of_their_own)
{
    pthread_t thread;
    pid_t pids[20];
    struct tally t;
    struct uids u = {0};
    unsigned roots = 0;

    fresh_scratch();
    shared = scratch_journal(0, 0, 0);
    pthread_atfork(prepare, parent, child);
    write_compile(shared, 100000);
    atomic_store(&forking, true);
    pthread_create(&thread, NULL, write_while_forking, NULL);
    for (unsigned i = 0; i < 20; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            bool ok = i % 2 || write_compile(shared, 0); /* every other one is silent */

            stet_journal_free(shared);
            _exit(ok ? 0 : 1);
        }
    }
    for (unsigned i = 0; i < 20; i++)
        EXPECT_INT(0, wait_for(pids[i]));
    atomic_store(&forking, false);
    pthread_join(thread, NULL);
    stet_journal_free(shared);
    shared = NULL;
    t = tally_scratch();
    EXPECT_INT(1 + written_meanwhile + 10, t.compiles);
    EXPECT(!t.damaged_regions && !t.tail && !t.out_of_order);
    EXPECT_INT(11, each_file(".m", collect_uid, &u)); /* the parent and ten that spoke */
    for (size_t i = 0; i < u.n; i++) {
        roots += stet_hash_is_zero(u.parent[i]);
        for (size_t k = 0; k < i; k++)
            EXPECT(!stet_hash_eq(u.uid[i], u.uid[k]));
    }
    EXPECT_INT(1, roots);
    EXPECT_INT(11, t.processes);
    drop_scratch();
}

TEST(a_child_of_a_raw_fork_writes_nothing)
{
    struct stet_journal *j;
    pid_t pid;

    fresh_scratch();
    j = scratch_journal(0, 0, 0); /* not `shared`: the handlers don't know it */
    write_compile(j, 0);
    pid = fork();
    if (pid == 0)
        _exit(write_compile(j, 1) || write_steps(j, 1) ? 1 : 0);
    EXPECT_INT(0, wait_for(pid));
    stet_journal_free(j);
    EXPECT_INT(1, tally_scratch().compiles);
    EXPECT_INT(1, each_file("", NULL, NULL));
    drop_scratch();
}

static void add_size(const char *path, void *data)
{
    struct stat st;

    if (stat(path, &st) == 0)
        *(uint64_t *)data += (uint64_t)st.st_size;
}

TEST(rotation_drops_the_oldest_executions_and_keeps_every_compile)
{
    struct stet_journal *j;
    uint64_t bytes = 0, n = 0;
    struct tally t;

    fresh_scratch();
    j = scratch_journal(0, 4096, 4);
    for (uint64_t i = 0; i < 200; i++) {
        write_compile(j, i);
        write_steps(j, 640);
        n += 640;
    }
    EXPECT_INT(n, stet_journal_stats(j).executions);
    EXPECT_INT(0, stet_journal_stats(j).lost);
    EXPECT(stet_journal_stats(j).dropped > 0);
    stet_journal_free(j);
    EXPECT(each_file(".d", add_size, &bytes) <= 4);
    EXPECT(bytes <= 4 * (4096 + 1024));
    t = tally_scratch();
    EXPECT_INT(200, t.compiles);
    EXPECT_STR("rotated", t.why);
    EXPECT(t.executions > 0 && t.executions + t.lost_executions == n);
    drop_scratch();
}

TEST(the_main_stream_stops_at_its_cap_and_records_the_loss)
{
    struct stet_rec_process_end end = {.how = STET_VIEW("exit")};
    struct stet_journal *j;
    struct stet_frame frame = {STET_VIEW("t.py"), STET_VIEW("f"), 1};
    uint64_t bytes = 0, kept = 0;
    struct tally t;

    fresh_scratch();
    j = scratch_journal(64 << 10, 0, 0);
    for (uint64_t i = 0; i < 4000; i++) {
        kept += write_compile(j, i);
        frame.line = i;
        stet_journal_write_stack(j, (struct stet_frames){&frame, 1});
    }
    EXPECT(stet_journal_write(j, STET_REC_process_end, &end));
    stet_journal_free(j);
    each_file("", add_size, &bytes);
    EXPECT(bytes <= (64 << 10) + (64 << 10));
    t = tally_scratch();
    EXPECT(kept > 100 && kept < 4000);
    EXPECT_INT(kept, t.compiles);
    EXPECT(t.stacks < t.compiles);
    EXPECT_INT(1, t.ends);
    EXPECT_INT(8000, t.compiles + t.stacks + t.lost_records);
    EXPECT_STR("cap", t.why);
    drop_scratch();
}

TEST(a_deleted_file_is_recreated_and_the_loss_is_recorded)
{
    struct stet_journal *j;
    struct tally t;

    fresh_scratch();
    j = scratch_journal(0, 0, 0);
    for (uint64_t i = 0; i < 5; i++)
        write_compile(j, i);
    write_steps(j, 128);
    each_file("", remove_file, NULL);
    EXPECT(write_compile(j, 5));
    EXPECT(write_steps(j, 64));
    EXPECT(write_compile(j, 6));
    stet_journal_free(j);
    t = tally_scratch();
    EXPECT_INT(2, t.compiles);
    EXPECT_INT(1, t.processes);
    EXPECT_INT(64, t.executions);
    EXPECT_INT(128, t.lost_executions);
    EXPECT_INT(5 + 2, t.lost_records);
    EXPECT_STR("deleted", t.why);
    drop_scratch();
}

TEST(a_deleted_folder_is_made_again_but_not_its_parents)
{
    struct stet_journal_options options = {0};
    char dir[128], deep[160];
    struct stet_journal *j, *none;

    fresh_scratch();
    snprintf(dir, sizeof dir, "%s/journal", scratch_dir);
    snprintf(deep, sizeof deep, "%s/gone/journal", scratch_dir);
    options.dir = dir;
    j = stet_journal_new(&options);
    options.dir = deep;
    none = stet_journal_new(&options);
    EXPECT(write_compile(j, 0));
    EXPECT(!write_compile(none, 0));
    EXPECT(!stet_fs_exists(deep));
    EXPECT_INT(1, stet_journal_stats(none).lost);
    stet_journal_free(j);
    stet_journal_free(none);
    snprintf(scratch_dir + strlen(scratch_dir), sizeof scratch_dir - strlen(scratch_dir),
             "/journal");
    EXPECT_INT(1, tally_scratch().compiles);
    drop_scratch();
    *strrchr(scratch_dir, '/') = '\0';
    drop_scratch();
}

/* A program that closes all descriptors and then opens files of its own must not find our bytes in
 * them. */
TEST(a_descriptor_taken_over_by_the_host_is_left_alone)
{
    char path[128], content[16] = "";
    struct stet_journal *j;
    int theirs = -1, last;

    fresh_scratch();
    j = scratch_journal(0, 0, 0);
    write_compile(j, 0);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    snprintf(path, sizeof path, "%s/theirs.txt", scratch_dir);
    do {
        last = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
        theirs = theirs < 0 ? last : theirs;
    } while (last >= 0 && last < 400);
    EXPECT(write_compile(j, 1));
    stet_journal_free(j);
    EXPECT_INT(5, write(last, "intact", 6) - 1);
    EXPECT_INT(6, pread(theirs, content, sizeof content, 0));
    EXPECT_STR("intact", content);
    EXPECT_INT(2, tally_scratch().compiles);
    for (int fd = theirs; fd <= last; fd++)
        close(fd);
    drop_scratch();
}

/* In a child, since limits stay. SIGXFSZ keeps its default action: if it came, the child died. */
TEST(a_file_size_limit_is_a_counted_loss_and_no_signal)
{
    struct tally t;
    pid_t pid;

    fresh_scratch();
    pid = fork();
    if (pid == 0) {
        struct rlimit limit = {2000, RLIM_INFINITY};
        struct stet_journal *j = scratch_journal(0, 0, 0);
        bool failed = false;

        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        for (uint64_t i = 0; i < 50; i++)
            failed |= !write_compile(j, i);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        failed &= write_compile(j, 50);
        stet_journal_free(j);
        _exit(failed ? 0 : 1);
    }
    EXPECT_INT(0, wait_for(pid));
    t = tally_scratch();
    EXPECT(t.compiles > 1 && t.compiles < 51);
    EXPECT_INT(51, t.compiles + t.lost_records);
    EXPECT_STR("no-space", t.why);
    EXPECT(!t.damaged_regions && !t.tail);
    drop_scratch();
}

/* A real full disk: a tmpfs of 64 KB in a mount namespace of the child's own. */
TEST(a_full_disk_is_a_counted_loss_and_writing_resumes_when_there_is_room)
{
    enum { NO_NAMESPACE = 77 };
    int status;
    pid_t pid;

    fresh_scratch();
    pid = fork();
    if (pid == 0) {
        char filler[128];
        struct stet_journal *j;
        struct tally t;
        bool ok;
        int fd;

        if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            _exit(NO_NAMESPACE);
        if (mount("stet", scratch_dir, "tmpfs", 0, "size=64k") != 0)
            _exit(NO_NAMESPACE);
        snprintf(filler, sizeof filler, "%s/filler", scratch_dir);
        j = scratch_journal(0, 0, 0);
        ok = write_compile(j, 0);
        fd = open(filler, O_WRONLY | O_CREAT, 0600);
        while (write(fd, filler, sizeof filler) > 0)
            ;
        for (uint64_t i = 1; i < 200; i++) /* until the page at hand is full, and on */
            write_compile(j, i);
        ok &= stet_journal_stats(j).lost > 50;
        close(fd);
        unlink(filler);
        ok &= write_compile(j, 200);
        stet_journal_free(j);
        t = tally_scratch();
        ok &= t.compiles + t.lost_records == 201 && strcmp(t.why, "no-space") == 0;
        ok &= t.damaged_regions == 0 && t.tail == 0;
        _exit(ok ? 0 : 1);
    }
    status = wait_for(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACE)
        printf("no mount namespace here: the full disk was not tried\n");
    else
        EXPECT_INT(0, status);
    drop_scratch();
}

TEST(an_unwritable_folder_is_a_counted_loss)
{
    struct stet_journal_options options = {.dir = "/proc/self/journal"};
    struct stet_journal *j = stet_journal_new(&options);

    errno = 4242;
    EXPECT(!write_compile(j, 0));
    EXPECT(!write_steps(j, 3));
    EXPECT_INT(4242, errno); /* the host's errno is the host's */
    EXPECT_INT(2, stet_journal_stats(j).lost);
    stet_journal_free(j);
}

/* Each allocation in turn fails; what is written in between is whole, and the rest is counted. */
TEST(no_memory_is_a_counted_loss)
{
#ifdef STET_FAULT_INJECTION
    for (long n = 0; n < 40; n++) {
        struct stet_journal *j;
        struct tally t;
        unsigned ok = 0;

        fresh_scratch();
        stet_mem_fail_after(n, n % 2);
        j = scratch_journal(0, 0, 0);
        for (uint64_t i = 0; i < 5; i++) {
            struct stet_frame frame = {STET_VIEW("t.py"), STET_VIEW("f"), i};

            ok += write_compile(j, i);
            write_steps(j, 200);
            stet_journal_write_stack(j, (struct stet_frames){&frame, 1});
        }
        stet_mem_fail_after(-1, false);
        stet_journal_free(j);
        t = tally_scratch();
        EXPECT_INT(ok, t.compiles);
        EXPECT(!t.damaged_regions && !t.tail);
        drop_scratch();
    }
#endif
}

TEST(a_stack_is_written_once)
{
    struct stet_frame frames[] = {{STET_VIEW("train.py"), STET_VIEW("step"), 12},
                                  {STET_VIEW("train.py"), STET_VIEW("<module>"), 40}};
    struct stet_journal *j;
    struct stet_hash a, b, c;

    fresh_scratch();
    j = scratch_journal(0, 0, 0);
    a = stet_journal_write_stack(j, (struct stet_frames){frames, 2});
    b = stet_journal_write_stack(j, (struct stet_frames){frames, 2});
    frames[0].line = 13;
    c = stet_journal_write_stack(j, (struct stet_frames){frames, 2});
    EXPECT(stet_hash_eq(a, b) && !stet_hash_eq(a, c) && !stet_hash_is_zero(a));
    EXPECT(stet_hash_is_zero(stet_journal_write_stack(j, (struct stet_frames){0})));
    stet_journal_free(j);
    EXPECT_INT(2, tally_scratch().stacks);
    drop_scratch();
}

TEST(many_ranks_on_one_folder_do_not_collide)
{
    enum { RANKS = 32 };
    pid_t pids[RANKS];
    struct tally t;

    fresh_scratch();
    for (unsigned i = 0; i < RANKS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct stet_journal *j = scratch_journal(0, 0, 0);
            bool ok = write_compile(j, i) && write_steps(j, 100);

            stet_journal_free(j);
            _exit(ok ? 0 : 1);
        }
    }
    for (unsigned i = 0; i < RANKS; i++)
        EXPECT_INT(0, wait_for(pids[i]));
    t = tally_scratch();
    EXPECT_INT(2 * RANKS, t.files);
    EXPECT_INT(RANKS * (RANKS - 1) / 2, t.compile_indices);
    EXPECT_INT(100 * RANKS, t.executions);
    drop_scratch();
}
