/* futex(2) takes relative, monotonic timeouts, which semaphores of glibc 2.28 do not. */
#include "intercept/wait.h"

#include "journal/write.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void stet_flag_set(struct stet_flag *f)
{
    if (!atomic_exchange(&f->set, 1))
        syscall(SYS_futex, &f->set, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool stet_flag_wait(struct stet_flag *f, int ms)
{
    uint64_t now = stet_journal_now(), end = now + (uint64_t)ms * 1000000u;

    for (; !atomic_load(&f->set) && now < end; now = stet_journal_now()) {
        struct timespec left = {.tv_sec = (time_t)((end - now) / 1000000000u),
                                .tv_nsec = (long)((end - now) % 1000000000u)};

        syscall(SYS_futex, &f->set, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
    }
    return atomic_load(&f->set) != 0;
}

bool stet_wait_lock_within(pthread_mutex_t *lock, int ms)
{
    uint64_t end = stet_journal_now() + (uint64_t)ms * 1000000u;
    struct timespec pause = {.tv_nsec = 200000};

    while (pthread_mutex_trylock(lock) != 0) {
        if (stet_journal_now() >= end)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}
