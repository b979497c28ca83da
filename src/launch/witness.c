/* See witness.h. A signal that is sent by a program's name (pkill stet) must not reach the witness
 * if it does not reach the command. So the witness changes its name and its command line. */
#include "launch/witness.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNALS = 65 };

/* The kernel puts the arguments in front of the environment. */
static void forget_name(void)
{
    char *from = program_invocation_name, *to = environ ? environ[0] : NULL;

    prctl(PR_SET_NAME, "signal-witness");
    if (from && to && to > from && to - from < 1 << 21)
        memset(from, 0, (size_t)(to - from));
}

/* The witness must not hold a file open if another process waits for its end. */
static void close_all(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 0, ~0u, 0) == 0)
        return;
#endif
    for (long fd = sysconf(_SC_OPEN_MAX) < 4096 ? sysconf(_SC_OPEN_MAX) : 4096; fd-- > 0;)
        close((int)fd);
}

static _Noreturn void watch(_Atomic uint64_t *came_ns, pid_t parent)
{
    siginfo_t info;
    sigset_t all;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    forget_name();
    close_all();
    sigfillset(&all);
    for (;;) {
        int number = sigwaitinfo(&all, &info);

        if (number > 0 && number < SIGNALS && info.si_code <= 0) /* not from the terminal */
            atomic_store(&came_ns[number], stet_clock_ns());
    }
}

void stet_launch_witness_start(struct stet_witness *w)
{
    pid_t parent = getpid();
    sigset_t all, before;
    void *shared = mmap(NULL, SIGNALS * sizeof *w->came_ns, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    *w = (struct stet_witness){0};
    if (shared == MAP_FAILED)
        return;
    w->came_ns = shared;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    w->pid = fork();
    if (w->pid == 0)
        watch(w->came_ns, parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (w->pid < 0)
        w->pid = 0;
}

void stet_launch_witness_stop(struct stet_witness *w)
{
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    w->pid = 0; /* its notes stay: another thread may be reading them */
}

bool stet_launch_witness_saw(const struct stet_witness *w, int number, uint64_t since_ns)
{
    uint64_t came = w->came_ns && number < SIGNALS ? atomic_load(&w->came_ns[number]) : 0;

    return came && came >= since_ns;
}
