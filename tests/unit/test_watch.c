/* Processes that the layer cannot reach. */
#include "test.h"

#include "launch/watch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIBRARY_ROOM = 64 };

/* Starts a program that stops before its first instruction: its interpreter has mapped nothing. */
static pid_t stopped_at_its_start(bool preload)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        char *argv[] = {(char *)"sleep", (char *)"60", NULL};
        char *with[] = {(char *)"LD_PRELOAD=/nowhere/libstet-of-test.so", NULL},
             *without[] = {NULL};

        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execve("/bin/sleep", argv, preload ? with : without);
        _exit(127);
    }
    EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    return pid;
}

/* Lets it run until its first call of the kernel that only a loaded program makes: it sleeps. */
static void let_it_load(pid_t pid)
{
    char path[LIBRARY_ROOM], state = 'R';

    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    while (state != 'S') {
        FILE *f = fopen(path, "r");

        EXPECT(f && fscanf(f, "%*d %*s %c", &state) == 1);
        if (!f)
            return;
        fclose(f);
        usleep(1000);
    }
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(a_process_that_is_just_being_started_is_judged_later)
{
    struct stet_launch_watch w;
    pid_t pid = stopped_at_its_start(true);

    stet_launch_watch_init(&w, "libstet-of-test.so");
    stet_launch_watch_sample(&w, pid);
    EXPECT_INT(0, w.stranger_count);
    let_it_load(pid);
    stet_launch_watch_sample(&w, pid);
    EXPECT_INT(1, w.stranger_count);
    EXPECT(strstr(w.strangers[0].reason, "the loader did not load the layer") != NULL);
    stet_launch_watch_sample(&w, pid);
    EXPECT_INT(1, w.stranger_count);
    stet_launch_watch_release(&w);
    end(pid);
}

TEST(a_process_without_the_preload_is_named)
{
    struct stet_launch_watch w;
    pid_t pid = stopped_at_its_start(false);

    stet_launch_watch_init(&w, "libstet-of-test.so");
    let_it_load(pid);
    stet_launch_watch_sample(&w, pid);
    EXPECT_INT(1, w.stranger_count);
    EXPECT_STR("environment without LD_PRELOAD", w.strangers[0].reason);
    stet_launch_watch_release(&w);
    end(pid);
}
