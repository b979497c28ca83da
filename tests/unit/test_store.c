/* The store: entries, the folder, the memory, the quarantine. */
#include "folder_help.h"
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "intercept/executable_memory.h"
#include "intercept/load_watch.h"
#include "store/layout.h"
#include "store/quarantine.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct stet_store new_store(void)
{
    struct stet_store s;

    make_folder("store");
    EXPECT_INT(STET_OK, stet_store_open(&s, folder, NULL));
    return s;
}

static struct stet_kept kept(const char *program, const char *executable)
{
    struct stet_kept k = {
        .name = STET_VIEW("jit_f"),
        .format = STET_VIEW("mlir"),
        .program = stet_view_str(program),
        .executable = stet_view_str(executable),
        .compile_ns = 1234567,
    };

    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k.parts.part[i] = stet_view_str(stet_store_component_name((enum stet_component)i));
    k.parts.part[STET_COMPONENT_PROGRAM] = stet_view_str(program);
    return k;
}

static struct stet_hash put(const struct stet_store *s, const struct stet_kept *k)
{
    uint64_t bytes;

    EXPECT_INT(STET_OK, stet_store_put(s, k, &bytes, NULL));
    EXPECT(bytes > 0);
    return stet_store_key_of(&k->parts);
}

static void expect_executable(const struct stet_store *s, struct stet_hash key, const char *want)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_entry_file f;

    EXPECT_INT(STET_OK, stet_store_get(s, key, &f, NULL));
    EXPECT_INT(STET_OK, stet_store_entry_executable(&f, &out, NULL));
    EXPECT_STR(want, out.ptr);
    stet_buf_release(&out);
    stet_store_entry_close(&f);
}

TEST(an_entry_reads_back_as_it_was_put)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("program", "executable");
    struct stet_hash key = put(&s, &k);
    struct stet_entry_file f;

    EXPECT_INT(STET_OK, stet_store_get(&s, key, &f, NULL));
    EXPECT(stet_view_is(f.name, "jit_f"));
    EXPECT(stet_view_is(f.format, "mlir"));
    EXPECT_INT(1234567, f.compile_ns);
    EXPECT(stet_view_is(f.parts.part[STET_COMPONENT_PLUGIN], "plugin"));
    stet_store_entry_close(&f);
    expect_executable(&s, key, "executable");
    EXPECT_INT(STET_NOT_FOUND, stet_store_get(&s, (struct stet_hash){1, 2}, &f, NULL));
    remove_folder();
}

TEST(every_component_changes_the_key)
{
    struct stet_kept k = kept("p", "x");
    struct stet_hash key = stet_store_key_of(&k.parts);

    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        struct stet_kept other = k;

        other.parts.part[i] = STET_VIEW("another");
        EXPECT(!stet_hash_eq(key, stet_store_key_of(&other.parts)));
    }
}

/* Whatever is done to an entry, it is refused or gives back what was put. */
static bool refused_or_right(struct stet_view bytes)
{
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT;
    struct stet_entry_file f;
    bool right = true;

    if (stet_store_entry_read(&f, bytes, NULL) == STET_OK &&
        stet_store_entry_program(&f, &program, NULL) == STET_OK &&
        stet_store_entry_executable(&f, &executable, NULL) == STET_OK)
        right = stet_view_is(stet_buf_as_view(&program), "the program") &&
                stet_view_is(stet_buf_as_view(&executable), "the executable");
    stet_buf_release(&program);
    stet_buf_release(&executable);
    return right;
}

TEST(all_damage_is_detected)
{
    struct stet_kept k = kept("the program", "the executable");
    struct stet_buf whole = STET_BUF_INIT;
    struct stet_entry_file f;
    size_t accepted = 0;

    EXPECT_INT(STET_OK, stet_store_entry_pack(&whole, &k, NULL));
    EXPECT_INT(STET_OK, stet_store_entry_read(&f, stet_buf_as_view(&whole), NULL));
    for (size_t n = 0; n < whole.len; n++) {
        struct stet_err err = STET_ERR_INIT;

        EXPECT(stet_store_entry_read(&f, stet_view_of(whole.ptr, n), &err) != STET_OK);
        EXPECT(err.text[0] != '\0');
    }
    for (size_t bit = 0; bit < whole.len * 8; bit++) {
        whole.ptr[bit / 8] ^= (char)(1 << bit % 8);
        EXPECT(refused_or_right(stet_buf_as_view(&whole)));
        accepted += stet_store_entry_read(&f, stet_buf_as_view(&whole), NULL) == STET_OK;
        whole.ptr[bit / 8] ^= (char)(1 << bit % 8);
    }
    /* only damage in the packed bytes waits until they are unpacked */
    EXPECT(accepted <= (f.program.packed + f.executable.packed) * 8);
    stet_buf_release(&whole);
}

/* The checksum of the head, made anew. */
static void reseal(struct stet_buf *whole)
{
    struct stet_buf sum = STET_BUF_INIT;
    struct stet_hash h = stet_hash_bytes(stet_view_of(whole->ptr, STET_ENTRY_HEAD));

    stet_buf_u64(&sum, h.hi);
    stet_buf_u64(&sum, h.lo);
    memcpy(whole->ptr + STET_ENTRY_HEAD, sum.ptr, sum.len);
    stet_buf_release(&sum);
}

TEST(a_newer_version_is_not_damage)
{
    struct stet_kept k = kept("p", "x");
    struct stet_buf whole = STET_BUF_INIT;
    struct stet_entry_file f;

    EXPECT_INT(STET_OK, stet_store_entry_pack(&whole, &k, NULL));
    whole.ptr[8] = STET_ENTRY_VERSION + 1;
    EXPECT_INT(STET_BAD_INPUT, stet_store_entry_read(&f, stet_buf_as_view(&whole), NULL));
    reseal(&whole);
    EXPECT_INT(STET_UNSUPPORTED, stet_store_entry_read(&f, stet_buf_as_view(&whole), NULL));
    stet_buf_release(&whole);
}

TEST(an_entry_under_another_name_is_not_served)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x"), other = kept("q", "y");
    struct stet_hash key = put(&s, &k), wrong = stet_store_key_of(&other.parts);
    char from[PATH_MAX + 64], to[PATH_MAX + 64];
    struct stet_entry_file f;

    put(&s, &other);
    stet_store_path(&s, key, from);
    stet_store_path(&s, wrong, to);
    EXPECT_INT(0, rename(from, to));
    EXPECT_INT(STET_BAD_INPUT, stet_store_get(&s, wrong, &f, NULL));
    remove_folder();
}

TEST(the_least_recently_used_go_first)
{
    struct stet_store s = new_store();
    struct stet_store_gc gc = {.max_bytes = 1};
    struct stet_hash keys[3];
    struct stet_stored_list all;

    for (int i = 0; i < 3; i++) {
        char program[16];
        struct stet_kept k;
        char path[PATH_MAX + 64];

        snprintf(program, sizeof program, "p%d", i);
        k = kept(program, "x");
        keys[i] = put(&s, &k);
        stet_store_path(&s, keys[i], path);
        utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}},
                  0);
    }
    stet_store_touch(&s, keys[0]); /* used: now the youngest */
    EXPECT_INT(STET_OK, stet_store_list(&s, &all, NULL));
    EXPECT_INT(3, all.count);
    EXPECT(stet_hash_eq(keys[1], all.items[0].key));
    gc.max_bytes = all.bytes - 1;
    stet_store_list_release(&all);
    EXPECT_INT(STET_OK, stet_store_gc(&s, &gc, NULL));
    EXPECT_INT(1, gc.removed);
    gc = (struct stet_store_gc){.max_age_s = 3600};
    EXPECT_INT(STET_OK, stet_store_gc(&s, &gc, NULL));
    EXPECT_INT(1, gc.removed);
    EXPECT_INT(1, gc.left);
    expect_executable(&s, keys[0], "x");
    remove_folder();
}

TEST(a_read_only_store_is_left_alone)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x");
    uint64_t bytes;

    s.read_only = true;
    EXPECT_INT(STET_UNSUPPORTED, stet_store_put(&s, &k, &bytes, NULL));
    stet_store_quarantine_failed(&s, stet_store_key_of(&k.parts), STET_VIEW("no"));
    EXPECT_INT(0, stet_store_quarantine_count(&s, stet_store_key_of(&k.parts)));
    remove_folder();
}

/* How a child ends that does `what` while it loads. */
static int child_ends(const struct stet_store *s, struct stet_hash key, int how)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        stet_intercept_load_enter(s, key, 0);
        if (how == SIGKILL)
            kill(getpid(), SIGKILL);
        else if (how == SIGABRT)
            abort();
        else if (how)
            raise(how);
        stet_intercept_load_leave();
        _exit(0);
    }
    EXPECT_INT(pid, waitpid(pid, &status, 0));
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* As on a thread of the layer's own: all signals are blocked, but for the time of the load. */
static void load_with_signals_blocked(const struct stet_store *s, struct stet_hash key)
{
    sigset_t all, now;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    stet_intercept_load_enter(s, key, 0);
    stet_intercept_load_leave();
    sigprocmask(SIG_SETMASK, NULL, &now);
    if (!sigismember(&now, SIGSEGV))
        _exit(1);
    stet_intercept_load_enter(s, key, 0);
    raise(SIGSEGV); /* to no effect where it is blocked */
    _exit(0);
}

TEST(a_crash_in_a_load_is_noted_though_its_signal_is_blocked)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x");
    struct stet_hash key = put(&s, &k);
    int status;
    pid_t pid = fork();

    if (pid == 0)
        load_with_signals_blocked(&s, key);
    EXPECT_INT(pid, waitpid(pid, &status, 0));
    EXPECT_INT(0, status);
    EXPECT_INT(1, stet_store_quarantine_count(&s, key));
    remove_folder();
}

TEST(only_crashes_inside_a_load_condemn_an_entry)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x");
    struct stet_hash key = put(&s, &k);

    EXPECT_INT(SIGKILL, child_ends(&s, key, SIGKILL)); /* a preemption */
    EXPECT_INT(SIGTERM, child_ends(&s, key, SIGTERM));
    EXPECT_INT(0, child_ends(&s, key, 0));
    EXPECT_INT(0, stet_store_quarantine_count(&s, key));
    EXPECT_INT(SIGABRT, child_ends(&s, key, SIGABRT));
    EXPECT_INT(1, stet_store_quarantine_count(&s, key));
    EXPECT(!stet_store_quarantine_condemned(&s, key));
    EXPECT_INT(SIGABRT, child_ends(&s, key, SIGABRT));
    EXPECT(stet_store_quarantine_condemned(&s, key));
    stet_store_quarantine_clear(&s, key);
    EXPECT(!stet_store_quarantine_condemned(&s, key));
    remove_folder();
}

/* Until the load that is under way has taken longer than it may. */
static void watch_until_late(const struct stet_store *s, struct stet_hash key, unsigned strikes)
{
    while (stet_store_quarantine_count(s, key) < strikes)
        stet_intercept_load_watch();
}

TEST(a_load_that_takes_too_long_is_a_strike_unless_it_comes_back)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x");
    struct stet_hash key = put(&s, &k);

    s.load_ms = 1;
    stet_intercept_load_enter(&s, key, 0);
    watch_until_late(&s, key, 1);
    stet_intercept_load_watch();
    EXPECT_INT(1, stet_store_quarantine_count(&s, key)); /* one load, one strike */
    stet_intercept_load_leave();
    EXPECT_INT(0, stet_store_quarantine_count(&s, key));
    stet_intercept_load_watch();
    EXPECT_INT(0, stet_store_quarantine_count(&s, key));
    for (unsigned i = 1; i <= STET_STORE_STRIKES; i++) {
        pid_t pid;

        EXPECT(!stet_store_quarantine_condemned(&s, key));
        pid = fork();
        if (pid == 0) {
            stet_intercept_load_enter(&s, key, 0);
            watch_until_late(&s, key, i);
            raise(SIGKILL);
        }
        EXPECT_INT(pid, waitpid(pid, NULL, 0));
    }
    EXPECT(stet_store_quarantine_condemned(&s, key));
    EXPECT(!stet_store_quarantine_condemned(&s, (struct stet_hash){key.hi, key.lo + 1}));
    remove_folder();
}

TEST(a_child_does_not_note_what_its_parent_loads)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x");
    struct stet_hash key = put(&s, &k);
    int status;
    pid_t pid;

    s.load_ms = 1;
    stet_intercept_load_enter(&s, key, 0);
    pid = fork();
    if (pid == 0) {
        usleep(5000);
        stet_intercept_load_watch();
        _exit(stet_store_quarantine_count(&s, key) == 0 ? 0 : 1);
    }
    EXPECT_INT(pid, waitpid(pid, &status, 0));
    EXPECT_INT(0, status);
    stet_intercept_load_leave();
    remove_folder();
}

TEST(a_load_may_take_ten_seconds_or_twice_the_compile)
{
    struct stet_store s = {.read_only = false};
    uint64_t second = 1000000000;

    EXPECT_INT(10 * second, stet_store_quarantine_patience_ns(&s, 0));
    EXPECT_INT(10 * second, stet_store_quarantine_patience_ns(&s, 5 * second));
    EXPECT_INT(120 * second, stet_store_quarantine_patience_ns(&s, 60 * second));
    EXPECT_INT(10 * second,
               stet_store_quarantine_patience_ns(&s, UINT64_MAX)); /* what no entry says */
    s.load_ms = 300;
    EXPECT_INT(300000000, stet_store_quarantine_patience_ns(&s, 60 * second));
}

TEST(a_failed_load_takes_its_entry_away)
{
    struct stet_store s = new_store();
    struct stet_kept k = kept("p", "x");
    struct stet_hash key = put(&s, &k);
    struct stet_entry_file f;

    stet_store_quarantine_failed(&s, key, STET_VIEW("the plugin said no"));
    EXPECT_INT(STET_NOT_FOUND, stet_store_get(&s, key, &f, NULL));
    EXPECT_INT(1, stet_store_quarantine_count(&s, key));
    remove_folder();
}

TEST(many_writers_and_a_killer_leave_only_whole_entries)
{
    enum { WRITERS = 8, ROUNDS = 40 };
    struct stet_store s = new_store();
    struct stet_stored_list all;
    pid_t pids[WRITERS];

    for (int w = 0; w < WRITERS; w++) {
        pids[w] = fork();
        if (pids[w] == 0) {
            for (int i = 0;; i++) {
                char program[16];
                struct stet_kept k;
                uint64_t bytes;

                snprintf(program, sizeof program, "p%d", i % ROUNDS);
                k = kept(program, program);
                stet_store_put(&s, &k, &bytes, NULL);
            }
        }
    }
    for (int i = 0, some = 0; i < 600 && !some; i++) { /* a busy disk may take seconds to sync */
        usleep(300000);
        EXPECT_INT(STET_OK, stet_store_list(&s, &all, NULL));
        some = all.count > 0;
        stet_store_list_release(&all);
    }
    for (int w = 0; w < WRITERS; w++)
        kill(pids[w], SIGKILL);
    for (int w = 0; w < WRITERS; w++)
        waitpid(pids[w], NULL, 0);
    EXPECT_INT(STET_OK, stet_store_list(&s, &all, NULL));
    EXPECT(all.count > 0);
    for (size_t i = 0; i < all.count; i++) {
        struct stet_buf out = STET_BUF_INIT;
        struct stet_entry_file f;

        EXPECT_INT(STET_OK, stet_store_get(&s, all.items[i].key, &f, NULL));
        EXPECT_INT(STET_OK, stet_store_entry_executable(&f, &out, NULL));
        EXPECT(stet_view_eq(stet_buf_as_view(&out), f.parts.part[STET_COMPONENT_PROGRAM]));
        stet_buf_release(&out);
        stet_store_entry_close(&f);
    }
    stet_store_list_release(&all);
    remove_folder();
}

TEST(a_file_is_read_once_until_it_changes)
{
    struct stet_store s = new_store();
    struct stet_hash first, again, other;
    char path[128];

    snprintf(path, sizeof path, "%s/plugin.so", folder);
    EXPECT_INT(STET_NOT_FOUND, stet_store_file_hash(&s, path, &first, NULL));
    EXPECT_INT(STET_OK, stet_fs_write(path, STET_VIEW("one"), NULL));
    EXPECT_INT(STET_OK, stet_store_file_hash(&s, path, &first, NULL));
    EXPECT(stet_hash_eq(first, stet_hash_bytes(STET_VIEW("one"))));
    EXPECT_INT(STET_OK, stet_store_file_hash(&s, path, &again, NULL));
    EXPECT(stet_hash_eq(first, again));
    EXPECT_INT(STET_OK, stet_fs_write(path, STET_VIEW("two"), NULL)); /* same length, other file */
    EXPECT_INT(STET_OK, stet_store_file_hash(&s, path, &other, NULL));
    EXPECT(stet_hash_eq(other, stet_hash_bytes(STET_VIEW("two"))));
    remove_folder();
}

/* Of `size` bytes, the first of which is `first`. */
static void remember(struct stet_hash key, char first, size_t size)
{
    struct stet_buf program = STET_BUF_INIT, executable = {.cap = STET_MEMORY_MAX};

    stet_buf_str(&program, "p");
    EXPECT(stet_buf_reserve(&executable, size + 1) != NULL);
    executable.ptr[0] = first;
    stet_buf_grew(&executable, size);
    stet_intercept_memory_adopt(key, &program, &executable, 5);
    EXPECT(!program.ptr && !executable.ptr);
}

static bool is_remembered(struct stet_hash key, char first)
{
    struct stet_remembered *m = stet_intercept_memory_get(key);
    bool right = m && stet_view_is(m->program, "p") && m->executable.ptr[0] == first;

    if (m)
        stet_intercept_memory_put_back(m);
    return right;
}

TEST(entries_that_do_not_fit_leave_the_memory_tier)
{
    struct stet_hash a = {1, 1}, b = {2, 2};
    struct stet_remembered *m;

    remember(a, 'x', 1);
    m = stet_intercept_memory_get(a);
    EXPECT(m && stet_view_is(m->executable, "x"));
    for (uint64_t i = 10; i < 13; i++)
        remember((struct stet_hash){i, i}, 'z', STET_MEMORY_MAX / 2 - 4096);
    EXPECT(stet_intercept_memory_get(a) == NULL);
    remember(a, 'y', 1);
    EXPECT(stet_view_is(m->executable, "x")); /* held by its reader */
    stet_intercept_memory_put_back(m);
    EXPECT(is_remembered(a, 'y'));
    EXPECT(stet_intercept_memory_get((struct stet_hash){10, 10}) == NULL);
    EXPECT(is_remembered((struct stet_hash){12, 12}, 'z'));
    EXPECT(stet_intercept_memory_get(b) == NULL);
}

TEST(a_held_entry_stays_after_it_left_the_memory_tier)
{
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT;
    struct stet_hash key = {4, 4};
    struct stet_remembered *m;

    stet_buf_str(&program, "p");
    stet_buf_str(&executable, "x");
    m = stet_intercept_memory_hold(key, &program, &executable, 5);
    EXPECT(m && !program.ptr && !executable.ptr);
    EXPECT(is_remembered(key, 'x'));
    for (uint64_t i = 10; i < 13; i++)
        remember((struct stet_hash){i, i}, 'z', STET_MEMORY_MAX / 2 - 4096);
    EXPECT(stet_intercept_memory_get(key) == NULL);
    EXPECT(stet_view_is(m->program, "p") && stet_view_is(m->executable, "x"));
    stet_intercept_memory_put_back(m);
}

TEST(the_memory_tier_evicts_the_least_recently_used_first)
{
    enum { MANY = 20000 };

    for (uint64_t i = 0; i < MANY; i++)
        remember((struct stet_hash){i, i * 64}, (char)('a' + i % 26), 1);
    for (uint64_t i = 0; i < MANY; i++)
        EXPECT(is_remembered((struct stet_hash){i, i * 64}, (char)('a' + i % 26)));
    EXPECT(is_remembered((struct stet_hash){0, 0}, 'a')); /* used last */
    for (uint64_t i = 0; i < 2; i++)                      /* room for little beside these */
        remember((struct stet_hash){MANY, i}, 'z', STET_MEMORY_MAX / 2 - 200);
    EXPECT(stet_intercept_memory_get((struct stet_hash){1, 64}) == NULL);
    EXPECT(is_remembered((struct stet_hash){0, 0}, 'a') ||
           stet_intercept_memory_get((struct stet_hash){MANY - 1, (MANY - 1) * 64}) == NULL);
}

TEST(the_memory_tier_counts_all_its_bytes)
{
    enum { SIZE = 1 << 20 }; /* a buffer of twice as much holds it and its end */
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT;
    struct stet_hash key = {3, 3};
    struct stet_remembered *m;

    stet_buf_str(&program, "p");
    EXPECT(stet_buf_reserve(&executable, SIZE) != NULL);
    memset(executable.ptr, 'x', SIZE);
    stet_buf_grew(&executable, SIZE);
    EXPECT(executable.room > SIZE + SIZE / 2);
    stet_intercept_memory_adopt(key, &program, &executable, 5);
    m = stet_intercept_memory_get(key);
    EXPECT(m && m->executable.len == SIZE && m->executable.ptr[SIZE - 1] == 'x');
    EXPECT(m && malloc_usable_size(m->adopted[1]) < SIZE + SIZE / 2);
    stet_intercept_memory_put_back(m);
}

TEST(a_hint_is_of_one_version_and_ages)
{
    struct stet_store s = new_store();
    struct stet_hash bytes = {1, 2}, program = {3, 4}, other = {5, 6}, found;
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char path[128];

    EXPECT(!stet_store_alias(&s, bytes, 2, &found));
    stet_store_alias_set(&s, bytes, 2, program);
    EXPECT(stet_store_alias(&s, bytes, 2, &found) && stet_hash_eq(found, program));
    EXPECT(!stet_store_alias(&s, bytes, 3, &found));
    stet_store_alias_set(&s, bytes, 3, other); /* a newer Stet's word replaces it */
    EXPECT(stet_store_alias(&s, bytes, 3, &found) && stet_hash_eq(found, other));
    stet_store_hints_gc(&s, 0);
    EXPECT(stet_store_alias(&s, bytes, 3, &found));
    snprintf(path, sizeof path, "%s/programs/00/00000000000000010000000000000002", folder);
    EXPECT_INT(0, utimensat(AT_FDCWD, path, old, AT_SYMLINK_NOFOLLOW));
    stet_store_hints_gc(&s, 0);
    EXPECT(!stet_store_alias(&s, bytes, 3, &found));
    remove_folder();
}
