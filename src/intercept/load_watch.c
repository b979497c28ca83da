/* Handlers for fatal signals, which are set during one load and removed after it, and the list of
 * the loads under way with their deadlines. */
#include "intercept/load_watch.h"

#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { FATAL = sizeof fatal / sizeof *fatal };

/* One load at a time has handlers: they belong to the process. */
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before[FATAL];
static struct stet_strike_place crash; /* prepared before, because a handler may not format */
static sigset_t mask;                  /* of the loading thread, before */
static _Atomic long loader;            /* the kernel's id of the loading thread; 0 for none */

/* ---- loads that crash ---- */

static void restore(void)
{
    for (size_t i = 0; i < FATAL; i++)
        sigaction(fatal[i], &before[i], NULL);
}

/* The signal arrives again when this returns, and then reaches the previous handler: a fault by
 * itself, an abort because it is raised. */
static void on_fatal(int number)
{
    static const char why[] = "the load crashed\n";

    if (atomic_load(&loader) == syscall(SYS_gettid))
        stet_store_quarantine_strike(&crash, why, sizeof why - 1);
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
    stet_store_quarantine_place(s, key, &crash);
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

        /* the plugin may have installed a handler meanwhile: that one stays */
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == on_fatal)
            sigaction(fatal[i], &before[i], NULL);
    }
    pthread_mutex_unlock(&one);
}

/* ---- loads that hang ---- */

/* Special values of a load's deadline. OVER (0): the load has ended. WRITING, WRITTEN: its strike
 * is being written, or was. TOO_LATE: the load ended during the write, and the writing thread
 * removes the strike. */
enum { OVER, WRITING, WRITTEN, TOO_LATE };

static struct load {
    _Atomic long thread; /* the kernel's id of the loading thread; 0: free */
    _Atomic uint64_t deadline_ns;
    pid_t process; /* a forked child finds its parent's loads here and ignores them */
    struct stet_strike_place place;
    bool noted;
} loads[8];

static void free_load(struct load *l)
{
    atomic_store(&l->deadline_ns, OVER);
    atomic_store(&l->thread, 0);
}

/* Loads beyond the room are not watched. */
static void begin_watch(const struct stet_store *s, struct stet_hash key, uint64_t compile_ns)
{
    long self = syscall(SYS_gettid);

    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct load *l = &loads[i];
        long none = 0;

        if (!atomic_compare_exchange_strong(&l->thread, &none, self))
            continue;
        l->process = getpid();
        stet_store_quarantine_place(s, key, &l->place);
        atomic_store(&l->deadline_ns,
                     stet_clock_ns() + stet_store_quarantine_patience_ns(s, compile_ns));
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
            return; /* the writing thread frees it */
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

    l->noted = stet_store_quarantine_strike(&l->place, why, sizeof why - 1);
    if (atomic_compare_exchange_strong(&l->deadline_ns, &writing, WRITTEN))
        return;
    if (l->noted)
        unlink(l->place.note);
    free_load(l);
}

void stet_intercept_load_watch(void)
{
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct load *l = &loads[i];
        uint64_t deadline = atomic_load(&l->deadline_ns);

        if (deadline <= TOO_LATE || stet_clock_ns() < deadline)
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

void stet_intercept_load_enter(const struct stet_store *s, struct stet_hash key,
                               uint64_t compile_ns)
{
    if (s->read_only)
        return;
    begin_watch(s, key, compile_ns);
    catch_crashes(s, key);
}

void stet_intercept_load_leave(void)
{
    let_crashes_be();
    end_watch();
}

void stet_intercept_load_prepare(const struct stet_store *s)
{
    stet_mem_populate(&crash, sizeof crash, true);
    stet_mem_populate(loads, sizeof loads, true);
    stet_mem_populate(before, sizeof before, true);
    stet_store_quarantine_condemned(s, (struct stet_hash){0});
}
