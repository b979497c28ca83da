/* Handlers for fatal signals, installed for the time of one load, and a list of the loads in
 * progress for the deadline check. */
#include "store/quarantine.h"

#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { FATAL = sizeof fatal / sizeof *fatal };

enum { NOTE = PATH_MAX + 64 };
#define LONG_NS UINT64_C(10000000000)

/* The strikes of an entry, one file each, so that counting them needs no folder listing. */
struct place {
    char note[NOTE]; /* the last character is the strike's number */
    size_t folder;   /* the length of the folder's part */
    bool group;
};

/* Only one load at a time has handlers, because handlers belong to the process. */
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before[FATAL];
static struct place crash;  /* prepared in advance, because a handler may not format */
static sigset_t mask;       /* of the loading thread, before */
static _Atomic long loader; /* the kernel's id of the loading thread; 0 for none */

static void folder_of(const struct stet_store *s, char out[PATH_MAX + 16])
{
    snprintf(out, PATH_MAX + 16, "%s/quarantine", s->folder);
}

static void place_of(const struct stet_store *s, struct stet_hash key, struct place *out)
{
    char name[STET_HASH_TEXT];

    stet_hash_format(key, name);
    snprintf(out->note, NOTE, "%s/quarantine/%s.strike-1", s->folder, name);
    out->folder = (size_t)(strrchr(out->note, '/') - out->note);
    out->group = s->group;
}

static char *number_of(struct place *p)
{
    return p->note + strlen(p->note) - 1;
}

/* Uses only what POSIX lists as safe in a signal handler. False if all strikes exist already, or if
 * it cannot be written. */
static bool strike(struct place *p, const char *why, size_t n)
{
    char *number = number_of(p);
    int fd = -1;

    p->note[p->folder] = '\0'; /* the store itself exists: an entry was read from it */
    if (mkdir(p->note, 0700) == 0 && p->group)
        chmod(p->note, 02770);
    p->note[p->folder] = '/';
    for (int i = 0; i < STET_STORE_STRIKES && fd < 0; i++) {
        *number = (char)('1' + i);
        fd = open(p->note, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (fd < 0)
        return false;
    if (write(fd, why, n) < 0) { /* its existence is enough */
    }
    close(fd);
    return true;
}

static bool is_of(const char *name, const char key[STET_HASH_TEXT])
{
    return !strncmp(name, key, 32) && name[32] == '.';
}

unsigned stet_quarantine_count(const struct stet_store *s, struct stet_hash key)
{
    char folder[PATH_MAX + 16], name[STET_HASH_TEXT];
    unsigned n = 0;
    struct dirent *e;
    DIR *d;

    folder_of(s, folder);
    stet_hash_format(key, name);
    d = opendir(folder);
    while (d && (e = readdir(d)))
        n += is_of(e->d_name, name);
    if (d)
        closedir(d);
    return n;
}

bool stet_quarantine_condemned(const struct stet_store *s, struct stet_hash key)
{
    struct place p;

    place_of(s, key, &p);
    for (int i = STET_STORE_STRIKES; i > 0; i--) {
        *number_of(&p) = (char)('0' + i);
        if (!stet_fs_exists(p.note))
            return false;
    }
    return true;
}

void stet_quarantine_clear(const struct stet_store *s, struct stet_hash key)
{
    char folder[PATH_MAX + 16], name[STET_HASH_TEXT];
    struct dirent *e;
    DIR *d;

    folder_of(s, folder);
    stet_hash_format(key, name);
    d = opendir(folder);
    while (d && (e = readdir(d))) {
        if (is_of(e->d_name, name))
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

/* ---- loads that crash ---- */

static void restore(void)
{
    for (size_t i = 0; i < FATAL; i++)
        sigaction(fatal[i], &before[i], NULL);
}

/* When this returns, the signal is raised again and reaches the previous handler: a fault by
 * itself, an abort because we raise it. */
static void on_fatal(int number)
{
    static const char why[] = "the load crashed\n";

    if (atomic_load(&loader) == syscall(SYS_gettid))
        strike(&crash, why, sizeof why - 1);
    restore();
    if (number == SIGABRT)
        raise(number);
}

static void catch_crashes(const struct stet_store *s, struct stet_hash key)
{
    struct sigaction act = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigset_t open_to;

    if (pthread_mutex_trylock(&one) != 0)
        return;
    place_of(s, key, &crash);
    sigemptyset(&act.sa_mask);
    sigemptyset(&open_to);
    for (size_t i = 0; i < FATAL; i++) {
        sigaddset(&open_to, fatal[i]);
        sigaction(fatal[i], &act, &before[i]);
    }
    atomic_store(&loader, syscall(SYS_gettid));
    /* a fault whose signal is blocked ends the process without a handler */
    pthread_sigmask(SIG_UNBLOCK, &open_to, &mask);
}

static void let_crashes_be(void)
{
    if (atomic_load(&loader) != syscall(SYS_gettid))
        return;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    atomic_store(&loader, 0);
    for (size_t i = 0; i < FATAL; i++) {
        struct sigaction now;

        /* the plugin may have installed its own handler meanwhile; that one stays */
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == on_fatal)
            sigaction(fatal[i], &before[i], NULL);
    }
    pthread_mutex_unlock(&one);
}

/* ---- loads that hang ---- */

/* What a load's deadline may be beside a time. 0: the load is over. Others: a strike is being
 * written, or was written; or the load ended while it was being written, and the writer removes the
 * strike again. */
enum { OVER, WRITING, WRITTEN, TOO_LATE };

static struct load {
    _Atomic long thread; /* the kernel's id of the loading thread; 0: free */
    _Atomic uint64_t deadline_ns;
    pid_t process; /* the child of a fork finds its parent's loads here, and ignores them */
    struct place place;
    bool noted;
} loads[8];

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t stet_quarantine_patience_ns(const struct stet_store *s, uint64_t compile_ns)
{
    if (s->load_ms)
        return s->load_ms * 1000000u;
    return compile_ns > LONG_NS / 2 && compile_ns < UINT64_MAX / 4 ? 2 * compile_ns : LONG_NS;
}

static void free_load(struct load *l)
{
    atomic_store(&l->deadline_ns, OVER);
    atomic_store(&l->thread, 0);
}

/* Loads beyond the room in this list are not watched. */
static void begin_watch(const struct stet_store *s, struct stet_hash key, uint64_t compile_ns)
{
    long self = syscall(SYS_gettid);

    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct load *l = &loads[i];
        long none = 0;

        if (!atomic_compare_exchange_strong(&l->thread, &none, self))
            continue;
        l->process = getpid();
        place_of(s, key, &l->place);
        atomic_store(&l->deadline_ns, now_ns() + stet_quarantine_patience_ns(s, compile_ns));
        return;
    }
}

static void end_watch(void)
{
    long self = syscall(SYS_gettid);

    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct load *l = &loads[i];
        uint64_t deadline = atomic_load(&l->deadline_ns);

        if (atomic_load(&l->thread) != self)
            continue;
        while (!atomic_compare_exchange_weak(&l->deadline_ns, &deadline,
                                             deadline == WRITING ? TOO_LATE : OVER))
            continue;
        if (deadline == WRITING)
            return; /* freed by the thread that writes the strike */
        if (deadline == WRITTEN && l->noted)
            unlink(l->place.note);
        free_load(l);
        return;
    }
}

static void note_stuck(struct load *l)
{
    static const char why[] = "the process ended in a load that took too long\n";
    uint64_t writing = WRITING;

    l->noted = strike(&l->place, why, sizeof why - 1);
    if (atomic_compare_exchange_strong(&l->deadline_ns, &writing, WRITTEN))
        return;
    if (l->noted)
        unlink(l->place.note);
    free_load(l);
}

void stet_quarantine_watch(void)
{
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct load *l = &loads[i];
        uint64_t deadline = atomic_load(&l->deadline_ns);

        if (deadline <= TOO_LATE || now_ns() < deadline)
            continue;
        if (!atomic_compare_exchange_strong(&l->deadline_ns, &deadline, WRITING))
            continue;
        if (l->process == getpid())
            note_stuck(l);
        else
            free_load(l);
    }
}

/* ---- around a load ---- */

void stet_quarantine_enter(const struct stet_store *s, struct stet_hash key, uint64_t compile_ns)
{
    if (s->read_only)
        return;
    begin_watch(s, key, compile_ns);
    catch_crashes(s, key);
}

void stet_quarantine_leave(void)
{
    let_crashes_be();
    end_watch();
}

void stet_quarantine_prepare(const struct stet_store *s)
{
    stet_mem_populate(&crash, sizeof crash, true);
    stet_mem_populate(loads, sizeof loads, true);
    stet_mem_populate(before, sizeof before, true);
    stet_quarantine_condemned(s, (struct stet_hash){0});
}

void stet_quarantine_failed(const struct stet_store *s, struct stet_hash key, struct stet_view why)
{
    char path[PATH_MAX + 96], folder[PATH_MAX + 16], name[STET_HASH_TEXT];

    if (s->read_only)
        return;
    folder_of(s, folder);
    stet_hash_format(key, name);
    snprintf(path, sizeof path, "%s/%s.failed", folder, name); /* the last reason will do */
    if (stet_store_mkdirs(s, folder, NULL) == STET_OK)
        stet_store_write_note(s, path, why);
    stet_store_remove(s, key, NULL);
}
