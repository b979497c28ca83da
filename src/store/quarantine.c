/* Handlers for fatal signals, set for the time of one load and taken away after it. */
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

/* One load at a time has handlers: they belong to the process. */
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before[FATAL];
/* made ready before, since a handler may not format */
static char note[PATH_MAX + 96], note_folder[PATH_MAX + 16];
static bool note_group;
static sigset_t mask;       /* of the loading thread, before */
static _Atomic long loader; /* the kernel's id of the loading thread; 0 for none */

static void folder_of(const struct stet_store *s, char out[PATH_MAX + 16])
{
    snprintf(out, PATH_MAX + 16, "%s/quarantine", s->folder);
}

/* Notes whose name begins with the key and then has `what`. */
static unsigned count(const struct stet_store *s, struct stet_hash key, const char *what)
{
    char folder[PATH_MAX + 16], name[STET_HASH_TEXT];
    unsigned n = 0;
    struct dirent *e;
    DIR *d;

    folder_of(s, folder);
    stet_hash_format(key, name);
    d = opendir(folder);
    while (d && (e = readdir(d)))
        n += !strncmp(e->d_name, name, 32) && !strncmp(e->d_name + 32, what, strlen(what));
    if (d)
        closedir(d);
    return n;
}

unsigned stet_quarantine_count(const struct stet_store *s, struct stet_hash key)
{
    return count(s, key, "");
}

bool stet_quarantine_condemned(const struct stet_store *s, struct stet_hash key)
{
    return count(s, key, ".crashed-") >= STET_STORE_STRIKES;
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
        if (!strncmp(e->d_name, name, 32))
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

static void restore(void)
{
    for (size_t i = 0; i < FATAL; i++)
        sigaction(fatal[i], &before[i], NULL);
}

/* Only what POSIX lists as safe in a handler. The signal comes again when it returns, and then
 * meets whoever stood here before: a fault by itself, an abort because it is raised. */
static void on_fatal(int number)
{
    if (atomic_load(&loader) == syscall(SYS_gettid)) {
        int fd;

        /* the store itself is there: an entry was read from it */
        if (mkdir(note_folder, 0700) == 0 && note_group)
            chmod(note_folder, 02770);
        fd = open(note, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
    }
    restore();
    if (number == SIGABRT)
        raise(number);
}

/* By time as well: in a container each restart may have the same pid. */
static bool make_note(const struct stet_store *s, struct stet_hash key, const char *what)
{
    char name[STET_HASH_TEXT];
    struct timespec now;

    folder_of(s, note_folder);
    note_group = s->group;
    stet_hash_format(key, name);
    clock_gettime(CLOCK_REALTIME, &now);
    return snprintf(note, sizeof note, "%s/%s.%s-%ld-%llx%09lx", note_folder, name, what,
                    (long)getpid(), (unsigned long long)now.tv_sec, now.tv_nsec) < (int)sizeof note;
}

void stet_quarantine_enter(const struct stet_store *s, struct stet_hash key)
{
    struct sigaction act = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigset_t open_to;

    if (s->read_only || pthread_mutex_trylock(&one) != 0)
        return;
    if (!make_note(s, key, "crashed")) {
        pthread_mutex_unlock(&one);
        return;
    }
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

void stet_quarantine_leave(void)
{
    if (atomic_load(&loader) != syscall(SYS_gettid))
        return;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    atomic_store(&loader, 0);
    for (size_t i = 0; i < FATAL; i++) {
        struct sigaction now;

        /* the plugin may have put in one of its own meanwhile: that one stays */
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == on_fatal)
            sigaction(fatal[i], &before[i], NULL);
    }
    pthread_mutex_unlock(&one);
}

void stet_quarantine_prepare(const struct stet_store *s)
{
    stet_mem_populate(note, sizeof note, true);
    stet_mem_populate(note_folder, sizeof note_folder, true);
    stet_mem_populate(before, sizeof before, true);
    count(s, (struct stet_hash){0}, "");
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
