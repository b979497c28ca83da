/* Children that crash, hang, shout or leave others behind. */
#include "base/job.h"
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void answers(void *arg, int fd)
{
    if (write(fd, arg, strlen(arg)) < 0)
        _exit(1);
}

static void crashes(void *arg, int fd)
{
    answers(arg, fd);
    raise(SIGKILL);
}

static void hangs(void *arg, int fd)
{
    answers(arg, fd);
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

static void shouts(void *arg, int fd)
{
    (void)fd;
    for (int i = 0; i < 200000; i++)
        fputs(arg, stdout);
    fputs("last words\n", stdout);
    fflush(stdout);
}

static void leaves_one_behind(void *arg, int fd)
{
    if (fork() == 0)
        for (;;)
            pause();
    answers(arg, fd);
}

TEST(an_answer_comes_back_whole)
{
    struct stet_job job = {0};

    EXPECT_INT(STET_OK, stet_job_run(&job, answers, "hello", NULL));
    EXPECT(stet_job_fine(&job));
    EXPECT_STR("hello", job.answer.ptr);
    stet_job_release(&job);
}

TEST(a_crash_is_reported_with_the_output_before_it)
{
    struct stet_job job = {0};
    char how[64];

    EXPECT_INT(STET_OK, stet_job_run(&job, crashes, "so far", NULL));
    EXPECT(!stet_job_fine(&job) && !job.late);
    EXPECT_STR("so far", job.answer.ptr);
    stet_job_how(&job, how, sizeof how);
    EXPECT_STR("crashed (SIGKILL)", how);
    stet_job_release(&job);
}

TEST(a_job_that_hangs_is_killed_at_its_deadline)
{
    struct stet_job job = {.deadline_ms = 200};
    char how[64];

    EXPECT_INT(STET_OK, stet_job_run(&job, hangs, "so far", NULL));
    EXPECT(job.late && !job.stuck && job.milliseconds >= 200);
    EXPECT_STR("so far", job.answer.ptr);
    stet_job_how(&job, how, sizeof how);
    EXPECT_STR("did not answer within 0.2 s", how);
    stet_job_release(&job);
}

TEST(the_end_of_endless_output_is_kept)
{
    struct stet_job job = {.deadline_ms = 60000};

    EXPECT_INT(STET_OK, stet_job_run(&job, shouts, "noise noise noise\n", NULL));
    EXPECT(stet_job_fine(&job) && job.noise.len <= 32 << 10);
    EXPECT(strstr(job.noise.ptr, "last words") != NULL);
    stet_job_release(&job);
}

TEST(descendants_that_live_on_are_not_waited_for)
{
    struct stet_job job = {.deadline_ms = 3600000}; /* never comes */

    EXPECT_INT(STET_OK, stet_job_run(&job, leaves_one_behind, "done", NULL));
    EXPECT(stet_job_fine(&job));
    EXPECT_STR("done", job.answer.ptr);
    stet_job_release(&job);
}

TEST(a_missing_command_is_exit_code_127)
{
    char *argv[] = {"/no/such/command", NULL}, *envp[] = {NULL};
    struct stet_job job = {0};

    EXPECT_INT(STET_OK, stet_job_command(&job, argv, envp, NULL));
    EXPECT(WIFEXITED(job.status) && WEXITSTATUS(job.status) == 127);
    stet_job_release(&job);
}
