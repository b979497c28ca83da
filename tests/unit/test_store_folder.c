/* The store's folder: large entries, other people, other clocks, and what happens under a reader.
 */
#include "folder_help.h"
#include "test.h"

#include "base/mem.h"
#include "store/quarantine.h"
#include "store/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static struct stet_store new_store(mode_t mode)
{
    struct stet_store s;

    make_folder("folder");
    EXPECT_INT(0, chmod(folder, mode));
    EXPECT_INT(STET_OK, stet_store_open(&s, folder, NULL));
    return s;
}

static struct stet_kept kept(const char *program, struct stet_view executable)
{
    struct stet_kept k = {.name = STET_VIEW("jit_f"),
                          .format = STET_VIEW("mlir"),
                          .program = stet_view_str(program),
                          .executable = executable};

    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k.parts.part[i] = STET_VIEW("same");
    k.parts.part[STET_COMPONENT_PROGRAM] = stet_view_str(program);
    return k;
}

static struct stet_hash put(const struct stet_store *s, const struct stet_kept *k)
{
    uint64_t bytes;

    EXPECT_INT(STET_OK, stet_store_put(s, k, &bytes, NULL));
    return stet_store_key_of(&k->parts);
}

/* Bytes of memory: now, or the most so far. */
static long memory(const char *field)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof line, f)) {
        if (!strncmp(line, field, strlen(field)))
            kb = atol(line + strlen(field));
    }
    if (f)
        fclose(f);
    return kb * 1024;
}

/* Half of it can't be packed. */
static void fill(char *out, size_t size)
{
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i + 8 <= size; i += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(out + i, i & 8 ? "constant" : (char *)&state, 8);
    }
}

TEST(a_large_executable_streams)
{
    const size_t size = SANITIZED ? (size_t)8 << 20 : (size_t)256 << 20, slack = 16 << 20;
    struct stet_store s = new_store(0700);
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct stet_buf out = STET_BUF_INIT;
    struct stet_entry_file f;
    struct stet_hash key;
    struct stet_kept k;
    long before;

    EXPECT(bytes != MAP_FAILED);
    fill(bytes, size);
    k = kept("large", stet_view_of(bytes, size));
    before = memory("VmRSS:");
    key = put(&s, &k);
    printf("put %zu MB with %ld KB beside it", size >> 20, (memory("VmHWM:") - before) >> 10);
    if (!SANITIZED)
        EXPECT(memory("VmHWM:") - before < (long)slack);
    EXPECT_INT(STET_OK, stet_store_get(&s, key, &f, NULL));
    EXPECT(f.executable.packed > size / 2 - size / 16 && f.executable.packed < size * 3 / 4);
    before = memory("VmRSS:");
    EXPECT_INT(STET_OK, stet_store_entry_executable(&f, &out, NULL));
    printf(", got with %ld KB\n", (memory("VmHWM:") - before - (long)size) >> 10);
    if (!SANITIZED)
        EXPECT(memory("VmHWM:") - before < (long)(size + slack));
    EXPECT(out.len == size && !memcmp(out.ptr, bytes, size));
    stet_buf_release(&out);
    stet_store_entry_close(&f);
    munmap(bytes, size);
    remove_folder();
}

TEST(an_entry_that_shrinks_under_its_reader_is_damaged_and_no_crash)
{
    static char bytes[3 << 20];
    struct stet_store s = new_store(0700);
    struct stet_buf out = STET_BUF_INIT;
    char path[PATH_MAX + 64];
    struct stet_entry_file f;
    struct stet_hash key;
    struct stet_kept k;

    fill(bytes, sizeof bytes);
    k = kept("p", stet_view_of(bytes, sizeof bytes));
    key = put(&s, &k);
    EXPECT_INT(STET_OK, stet_store_get(&s, key, &f, NULL));
    stet_store_path(&s, key, path);
    EXPECT_INT(0, truncate(path, 4096));
    EXPECT_INT(STET_BAD_INPUT, stet_store_entry_executable(&f, &out, NULL));
    EXPECT_INT(0, out.len);
    stet_buf_release(&out);
    stet_store_entry_close(&f);
    remove_folder();
}

TEST(an_entry_that_is_removed_under_its_reader_can_still_be_read)
{
    struct stet_store s = new_store(0700);
    struct stet_kept k = kept("p", STET_VIEW("executable"));
    struct stet_buf out = STET_BUF_INIT;
    struct stet_hash key = put(&s, &k);
    struct stet_entry_file f;

    EXPECT_INT(STET_OK, stet_store_get(&s, key, &f, NULL));
    EXPECT_INT(STET_OK, stet_store_remove(&s, key, NULL));
    EXPECT_INT(STET_OK, stet_store_entry_executable(&f, &out, NULL));
    EXPECT_STR("executable", out.ptr);
    stet_buf_release(&out);
    stet_store_entry_close(&f);
    remove_folder();
}

static unsigned mode_of(const char *format, const char *of)
{
    char path[PATH_MAX];
    struct stat st = {0};

    snprintf(path, sizeof path, format, of);
    EXPECT_INT(0, stat(path, &st));
    return st.st_mode & 07777;
}

/* Everything below the folder has one of two modes, files and folders. */
static void expect_modes(unsigned file, unsigned sub)
{
    char command[256], line[128];
    FILE *f;

    snprintf(command, sizeof command, "find %s -mindepth 1 ! -type l -printf '%%y %%m %%p\\n'",
             folder);
    f = popen(command, "r");
    EXPECT(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        unsigned mode = (unsigned)strtoul(line + 2, NULL, 8);

        EXPECT_INT(line[0] == 'd' ? sub : file, mode);
    }
    if (f)
        pclose(f);
}

static void use_all(const struct stet_store *s)
{
    struct stet_kept k = kept("p", STET_VIEW("x")), bad = kept("q", STET_VIEW("x"));
    struct stet_hash h;

    put(s, &k);
    stet_store_quarantine_failed(s, put(s, &bad), STET_VIEW("no"));
    stet_store_alias_set(s, (struct stet_hash){1, 2}, 1, (struct stet_hash){3, 4});
    EXPECT_INT(STET_OK, stet_store_file_hash(s, "/proc/self/exe", &h, NULL));
}

TEST(a_folder_is_its_users_alone_unless_it_is_a_groups)
{
    mode_t mask = umask(0);
    struct stet_store s = new_store(0700);

    EXPECT(!s.group);
    use_all(&s);
    expect_modes(0600, 0700);
    remove_folder();
    umask(077); /* of no matter either */
    s = new_store(02770);
    EXPECT(s.group);
    use_all(&s);
    expect_modes(0660, 02770);
    remove_folder();
    s = new_store(0755); /* readable for others, as for a read-only store: written by its owner */
    EXPECT(!s.group);
    remove_folder();
    umask(mask);
}

TEST(a_new_folder_is_its_users_alone)
{
    mode_t mask = umask(0);
    struct stet_kept k = kept("p", STET_VIEW("x"));
    char path[128];
    struct stet_store s = new_store(0700);

    snprintf(path, sizeof path, "%s/new/store", folder);
    EXPECT_INT(STET_OK, stet_store_open(&s, path, NULL));
    put(&s, &k);
    EXPECT_INT(0700, mode_of("%s/new/store", folder));
    EXPECT_INT(0700, mode_of("%s/new", folder));
    remove_folder();
    umask(mask);
}

TEST(a_folder_that_anyone_can_write_to_is_refused)
{
    struct stet_store s = new_store(0700);
    struct stet_err err = STET_ERR_INIT;
    const mode_t open_ones[] = {0777, 01777, 02777, 0702};

    for (size_t i = 0; i < sizeof open_ones / sizeof *open_ones; i++) {
        EXPECT_INT(0, chmod(folder, open_ones[i]));
        EXPECT_INT(STET_REFUSED, stet_store_open(&s, folder, &err));
        EXPECT(strstr(err.text, "anyone") != NULL);
    }
    remove_folder();
}

static void set_time(const struct stet_store *s, struct stet_hash key, time_t when)
{
    char path[PATH_MAX + 64];

    stet_store_path(s, key, path);
    EXPECT_INT(
        0, utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_sec = when}, {.tv_sec = when}}, 0));
}

/* Entries written before the clock was set back lie in the future: they are young, not infinitely
 * old, they still go first by bytes when they are the least recently used, and a use brings one
 * back to now. */
TEST(a_clock_that_jumps_costs_no_entry)
{
    struct stet_store s = new_store(0700);
    struct stet_kept a = kept("a", STET_VIEW("x")), b = kept("b", STET_VIEW("x")),
                     c = kept("c", STET_VIEW("x"));
    struct stet_hash future = put(&s, &a), now = put(&s, &b), past = put(&s, &c);
    struct stet_store_gc gc = {.max_age_s = 3600};
    struct stet_stored_list all;

    set_time(&s, future, time(NULL) + 10L * 365 * 24 * 3600);
    set_time(&s, past, 0); /* a clock that began in 1970 */
    EXPECT_INT(STET_OK, stet_store_gc(&s, &gc, NULL));
    EXPECT_INT(1, gc.removed);
    EXPECT_INT(2, gc.left);
    stet_store_touch(&s, future);
    EXPECT_INT(STET_OK, stet_store_list(&s, &all, NULL));
    EXPECT_INT(2, all.count);
    EXPECT(stet_hash_eq(all.items[0].key, now));
    EXPECT(all.items[1].used_ns / 1000000000 <= time(NULL) + 1);
    stet_store_list_release(&all);
    remove_folder();
}

/* Begins to write an entry in a process of its own, which then dies, or lives on until it is
 * killed. */
static pid_t writer(const char *entry, bool dies)
{
    int ready[2];
    char byte;
    pid_t pid;

    EXPECT_INT(0, pipe(ready));
    pid = fork();
    if (pid == 0) {
        struct stet_writing w;

        if (stet_fs_begin(&w, entry, NULL) != STET_OK ||
            stet_fs_write_all(w.fd, "half an entry", 13) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        if (dies)
            raise(SIGKILL);
        while (true)
            pause();
    }
    EXPECT_INT(1, read(ready[0], &byte, 1));
    close(ready[0]);
    close(ready[1]);
    if (dies)
        EXPECT_INT(pid, waitpid(pid, NULL, 0));
    return pid;
}

static size_t files_in(const char *of_entry)
{
    char path[PATH_MAX + 64];
    struct dirent *e;
    size_t n = 0;
    DIR *d;

    strcpy(path, of_entry);
    *strrchr(path, '/') = '\0';
    d = opendir(path);
    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

TEST(files_of_dead_writers_are_removed_and_those_of_living_ones_stay)
{
    struct stet_store s = new_store(0700);
    struct stet_kept k = kept("p", STET_VIEW("x"));
    struct stet_hash key = put(&s, &k);
    struct stet_store_gc gc = {.max_bytes = 0};
    char path[PATH_MAX + 64];
    pid_t alive;

    stet_store_path(&s, key, path);
    writer(path, true);
    writer(path, true);
    alive = writer(path, false);
    EXPECT_INT(4, files_in(path));
    put(&s, &k);
    EXPECT_INT(2, files_in(path));
    writer(path, true);
    EXPECT_INT(STET_OK, stet_store_gc(&s, &gc, NULL)); /* without limits too */
    EXPECT_INT(1, gc.temporaries);
    EXPECT_INT(1, gc.left);
    EXPECT_INT(2, files_in(path));
    kill(alive, SIGKILL);
    EXPECT_INT(alive, waitpid(alive, NULL, 0));
    EXPECT_INT(STET_OK, stet_store_gc(&s, &gc, NULL));
    EXPECT_INT(1, files_in(path));
    remove_folder();
}

/* Of a writer on another machine, or in another container, only the age says something. */
TEST(temporary_files_of_other_hosts_stay_for_an_hour)
{
    struct stet_store s = new_store(0700);
    struct stet_kept k = kept("p", STET_VIEW("x"));
    struct stet_hash key = put(&s, &k);
    char path[PATH_MAX + 64], other[PATH_MAX + 128];
    time_t old = time(NULL) - 3700;

    stet_store_path(&s, key, path);
    snprintf(other, sizeof other, "%s.1-0123abcd.AbC123", path);
    EXPECT_INT(STET_WRITER_ELSEWHERE, stet_fs_writer_of(other));
    EXPECT_INT(0, rename(path, other));
    put(&s, &k);
    EXPECT(stet_fs_exists(other));
    EXPECT_INT(
        0, utimensat(AT_FDCWD, other, (struct timespec[]){{.tv_sec = old}, {.tv_sec = old}}, 0));
    put(&s, &k);
    EXPECT(!stet_fs_exists(other));
    remove_folder();
}

TEST(names_that_are_not_temporary_have_no_writer)
{
    static const char *const names[] = {"",
                                        "a",
                                        "0123456789abcdef0123456789abcdef.stet",
                                        "x.12-0123abcd.AbC12",
                                        "x.12-0123abcX.AbC123",
                                        "x.-0123abcd.AbC123",
                                        ".12-0123abcd.AbC123x",
                                        "12-0123abcd.AbC123",
                                        "x12-0123abcd.AbC123",
                                        "x.1a-0123abcd.AbC123"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        EXPECT_INT(STET_WRITER_NONE, stet_fs_writer_of(names[i]));
    EXPECT_INT(STET_WRITER_ELSEWHERE, stet_fs_writer_of("x.99999999999-0123abcd.AbC123"));
    EXPECT_INT(STET_WRITER_ELSEWHERE, stet_fs_writer_of("x.1-00000000.AbC123")); /* no /proc */
    EXPECT_INT(STET_WRITER_ELSEWHERE, stet_fs_writer_of("x.12.AbC123")); /* of an older Stet */
}

TEST(a_store_without_a_limit_has_the_usual_one)
{
    const uint64_t gib = UINT64_C(1) << 30;

    EXPECT_INT(20 * gib, stet_store_usual_limit(0)); /* a file system that does not say */
    EXPECT_INT(20 * gib, stet_store_usual_limit(1000 * gib));
    EXPECT_INT(10 * gib, stet_store_usual_limit(100 * gib));
}

/* What an NFS client leaves of files that were removed while open, and other things of others. */
TEST(foreign_files_are_left_alone)
{
    struct stet_store s = new_store(0700);
    struct stet_kept k = kept("p", STET_VIEW("x"));
    struct stet_hash key = put(&s, &k);
    struct stet_store_gc gc = {.max_bytes = 1};
    char path[PATH_MAX + 64], *slash;
    struct stet_stored_list all;

    stet_store_path(&s, key, path);
    slash = strrchr(path, '/');
    strcpy(slash, "/.nfs000000000000a1b2");
    EXPECT_INT(STET_OK, stet_fs_write(path, STET_VIEW("silly"), NULL));
    strcpy(slash, "/README");
    EXPECT_INT(STET_OK, stet_fs_write(path, STET_VIEW("mine"), NULL));
    EXPECT_INT(STET_OK, stet_store_list(&s, &all, NULL));
    EXPECT_INT(1, all.count);
    EXPECT_INT(1, all.foreign);
    stet_store_list_release(&all);
    EXPECT_INT(STET_OK, stet_store_gc(&s, &gc, NULL));
    EXPECT_INT(0, gc.left);
    EXPECT(stet_fs_exists(path));
    remove_folder();
}
