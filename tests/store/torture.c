/* store-torture [PROCESSES OPERATIONS SECONDS]: many processes at one store, some killed in the
 * middle, with damage done to it meanwhile.
 *
 * Two folders. In the sound one entries are only put and got, by processes that are killed at any
 * moment or run out of disk: what was acknowledged must be there at the end. In the other they are
 * also removed, collected, cut short, overwritten, flipped in a bit, and lose their folders:
 * anything may be gone there. In both nothing wrong may ever be served. Prints figures; exits 1 on
 * a fault. */
#include "base/mem.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 400, MOST = 64, LARGEST = 48 << 10 };

enum count {
    PUT,
    PUT_REFUSED,
    GOT,
    GOT_NOTHING,
    GOT_DAMAGED,
    WRONG,
    REMOVED,
    FLIPPED,
    TORN,
    SWEPT,
    UNLINKED,
    LISTED,
    COUNTS
};
static const char *const names[] = {
    "puts acknowledged",
    "puts refused (disk full, folder gone)",
    "gets served",
    "gets of what is not there",
    "gets of what was found damaged",
    "gets of something wrong",
    "entries removed",
    "bits flipped",
    "writes torn",
    "collections",
    "folders unlinked",
    "listings",
};

struct shared {
    _Atomic uint64_t counts[COUNTS];
    _Atomic uint32_t done[MOST]; /* operations of each worker, over all its lives */
    _Atomic unsigned char acknowledged[KEYS];
};

static struct shared *shared;
static struct stet_store sound, rough;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* What the entry of a key holds follows from the key alone. */
static size_t fill(unsigned key, char *out)
{
    uint64_t state = 0x9e3779b97f4a7c15u * (key + 1);
    size_t size = 64 + next(&state) % LARGEST;

    for (size_t i = 0; i < size; i++)
        out[i] = (char)(i % 3 ? next(&state) >> 40 : 'x');
    return size;
}

static struct stet_kept kept_of(unsigned key, char *bytes, char text[32])
{
    struct stet_kept k = {.name = STET_VIEW("torture"), .format = STET_VIEW("mlir")};

    snprintf(text, 32, "program %u", key);
    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k.parts.part[i] = STET_VIEW("same");
    k.parts.part[STET_COMPONENT_PROGRAM] = stet_view_str(text);
    k.program = stet_view_str(text);
    k.executable = stet_view_of(bytes, fill(key, bytes));
    return k;
}

static void count(enum count c)
{
    atomic_fetch_add(&shared->counts[c], 1);
}

static void put(const struct stet_store *s, unsigned key, char *bytes)
{
    char text[32];
    struct stet_kept k = kept_of(key, bytes, text);
    uint64_t written;

    if (stet_store_put(s, &k, &written, NULL) != STET_OK) {
        count(PUT_REFUSED);
        return;
    }
    if (s == &sound)
        atomic_store(&shared->acknowledged[key], 1);
    count(PUT);
}

/* True unless an entry that must be there is not. */
static bool get(const struct stet_store *s, unsigned key, char *bytes)
{
    bool promised = s == &sound && atomic_load(&shared->acknowledged[key]);
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT;
    char text[32];
    struct stet_kept k = kept_of(key, bytes, text);
    struct stet_entry_file f;
    enum stet_rc rc = stet_store_get(s, stet_store_key_of(&k.parts), &f, NULL);
    bool whole = rc == STET_OK && stet_store_entry_program(&f, &program, NULL) == STET_OK &&
                 stet_store_entry_executable(&f, &executable, NULL) == STET_OK;

    if (rc == STET_NOT_FOUND)
        count(GOT_NOTHING);
    else if (!whole)
        count(GOT_DAMAGED);
    else if (stet_view_eq(stet_buf_as_view(&program), k.program) &&
             stet_view_eq(stet_buf_as_view(&executable), k.executable))
        count(GOT);
    else
        count(WRONG);
    if (rc == STET_OK)
        stet_store_entry_close(&f);
    stet_buf_release(&program);
    stet_buf_release(&executable);
    return whole || !promised;
}

static void path_of(unsigned key, char path[PATH_MAX + 64])
{
    char text[32];
    static char bytes[LARGEST + 64];
    struct stet_kept k = kept_of(key, bytes, text);

    stet_store_path(&rough, stet_store_key_of(&k.parts), path);
}

/* In place: what a disk does that loses its mind. A reader may have it mapped meanwhile, so it is
 * never made shorter than it is; that comes as another file of the name. */
static void damage(unsigned key, uint64_t *random)
{
    char path[PATH_MAX + 64], byte;
    int fd;
    off_t size, at;

    path_of(key, path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    if (size > 0) {
        at = (off_t)(next(random) % (uint64_t)size);
        if (pread(fd, &byte, 1, at) == 1) {
            byte = (char)(byte ^ (1 << next(random) % 8));
            if (pwrite(fd, &byte, 1, at) == 1)
                count(FLIPPED);
        }
    }
    if (fd >= 0)
        close(fd);
}

static void tear(unsigned key, uint64_t *random)
{
    char path[PATH_MAX + 64], torn[PATH_MAX + 96], text[32];
    static char bytes[LARGEST + 64];
    struct stet_kept k = kept_of(key, bytes, text);
    struct stet_buf out = STET_BUF_INIT;

    path_of(key, path);
    snprintf(torn, sizeof torn, "%s.%ld.torn", path, (long)getpid());
    if (stet_store_entry_pack(&out, &k, NULL) == STET_OK) {
        int fd = open(torn, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd >= 0 && stet_fs_write_all(fd, out.ptr, next(random) % out.len) == 0 &&
            rename(torn, path) == 0)
            count(TORN);
        if (fd >= 0)
            close(fd);
        unlink(torn);
    }
    stet_buf_release(&out);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

static void unlink_folder(uint64_t *random)
{
    char path[PATH_MAX + 64];

    path_of((unsigned)(next(random) % KEYS), path);
    *strrchr(path, '/') = '\0';
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    count(UNLINKED);
}

static void hostile(unsigned key, uint64_t *random)
{
    struct stet_store_gc gc = {.max_bytes = (uint64_t)2 << 20};
    struct stet_stored_list all;
    char path[PATH_MAX + 64];

    switch (next(random) % 12) {
    case 0:
    case 1:
    case 2:
        path_of(key, path);
        if (unlink(path) == 0)
            count(REMOVED);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        damage(key, random);
        break;
    case 7:
    case 8:
        tear(key, random);
        break;
    case 9:
        if (stet_store_gc(&rough, &gc, NULL) == STET_OK)
            count(SWEPT);
        break;
    case 10:
        unlink_folder(random);
        break;
    default:
        if (stet_store_list(&rough, &all, NULL) == STET_OK) {
            count(LISTED);
            stet_store_list_release(&all);
        }
    }
}

/* A disk that is full: files may grow to so much and no more, for the time of one put. */
static void put_on_a_full_disk(unsigned key, char *bytes, uint64_t *random)
{
    struct rlimit most = {next(random) % 4096, RLIM_INFINITY}, before;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &most);
    put(next(random) % 2 ? &sound : &rough, key, bytes);
    setrlimit(RLIMIT_FSIZE, &before);
}

static void operate(uint64_t *random, char *bytes)
{
    unsigned key = (unsigned)(next(random) % KEYS), what = (unsigned)(next(random) % 100);
    const struct stet_store *s = next(random) % 2 ? &sound : &rough;

    if (what < 30)
        put(s, key, bytes);
    else if (what < 35)
        put_on_a_full_disk(key, bytes, random);
    else if (what < 80) {
        if (!get(s, key, bytes))
            abort(); /* lost */
    } else {
        hostile(key, random);
    }
}

static _Noreturn void work(unsigned worker, unsigned life, uint32_t operations)
{
    uint64_t random = 88172645463325252u + worker * 7919u + life * 104729u;
    char *bytes = malloc(LARGEST + 64);

    while (bytes && atomic_fetch_add(&shared->done[worker], 1) < operations)
        operate(&random, bytes);
    _exit(0);
}

static pid_t start(unsigned worker, unsigned life, uint32_t operations)
{
    pid_t pid = fork();

    if (pid == 0)
        work(worker, life, operations);
    return pid;
}

/* How many of the acknowledged are gone, or not what they were. */
static unsigned lost(void)
{
    static char bytes[LARGEST + 64];
    unsigned n = 0;

    for (unsigned key = 0; key < KEYS; key++)
        n += atomic_load(&shared->acknowledged[key]) && !get(&sound, key, bytes);
    return n;
}

int main(int argc, char **argv)
{
    unsigned workers = argc > 1 ? (unsigned)atoi(argv[1]) : 4, lives[MOST] = {0}, kills = 0, gone;
    uint32_t operations = argc > 2 ? (uint32_t)atoi(argv[2]) : 200;
    time_t begin = time(NULL), most = argc > 3 ? atoi(argv[3]) : 120;
    char folder[] = "/tmp/stet-torture-XXXXXX", path[64];
    unsigned alive = 0, crashes = 0;
    pid_t pids[MOST];
    uint64_t random = 42;

    if (workers > MOST || !mkdtemp(folder))
        return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "%s/sound", folder);
    stet_store_open(&sound, path, NULL);
    snprintf(path, sizeof path, "%s/rough", folder);
    stet_store_open(&rough, path, NULL);
    for (unsigned w = 0; w < workers; w++, alive++)
        pids[w] = start(w, 0, operations);
    while (alive && time(NULL) - begin < most) {
        unsigned victim = (unsigned)(next(&random) % workers);

        nanosleep(&(struct timespec){.tv_nsec = (long)(next(&random) % 20) * 1000000}, NULL);
        if (pids[victim] && kill(pids[victim], SIGKILL) == 0)
            kills++;
        for (unsigned w = 0; w < workers; w++) {
            int status;

            if (!pids[w] || waitpid(pids[w], &status, WNOHANG) != pids[w])
                continue;
            crashes += WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
            pids[w] = WIFEXITED(status) ? 0 : start(w, ++lives[w], operations);
            alive -= !pids[w];
        }
    }
    for (unsigned w = 0; w < workers; w++) {
        if (pids[w]) {
            kill(pids[w], SIGKILL);
            waitpid(pids[w], NULL, 0);
        }
    }
    gone = lost();
    printf("%u processes x %u operations, %ld s, %u kills\n", workers, operations,
           (long)(time(NULL) - begin), kills);
    for (unsigned i = 0; i < COUNTS; i++)
        printf("  %8llu %s\n", (unsigned long long)shared->counts[i], names[i]);
    printf("  %8u acknowledged and lost\n  %8u crashes\n  %8u stuck\n", gone, crashes, alive);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return gone || crashes || alive || shared->counts[WRONG] ? 1 : 0;
}
