/* Runs work in a child process with a deadline. The child may crash, hang or print without end; the
 * caller gets its answer so far, the end of its output, and how it ended. The caller owns the
 * struct and releases it with stet_job_release. */
#ifndef STET_BASE_JOB_H
#define STET_BASE_JOB_H

#include "base/buf.h"
#include "base/err.h"

struct stet_job {
    /* Set by the caller; zero means a default. */
    int deadline_ms; /* default 30 s */
    /* Called about every 100 ms while the child runs, with the milliseconds so far; may be NULL. */
    void (*tick)(void *arg, int milliseconds);
    void *tick_arg;
    /* Filled in by the run. */
    struct stet_buf answer; /* what the body wrote to its descriptor; 1 MB at most */
    struct stet_buf noise;  /* the end of what it wrote to standard output and error */
    int status;             /* as waitpid gives it */
    bool late;              /* we killed it after its deadline */
    bool stuck;             /* it did not even end when it was killed */
    int milliseconds;
};

/* Runs in the child and writes its answer to `fd`. The child exits when it returns. */
typedef void stet_job_body(void *arg, int fd);

/* Runs `body` in a fork of this process, with its own process group and a closed standard input.
 * STET_OK means that it ran and ended somehow; check status, late and stuck. */
enum stet_rc stet_job_run(struct stet_job *job, stet_job_body *body, void *arg,
                          struct stet_err *err);
/* The same for a command; its standard output is the answer. */
enum stet_rc stet_job_command(struct stet_job *job, char *const argv[], char *const envp[],
                              struct stet_err *err);
void stet_job_release(struct stet_job *job);

/* Did it exit with 0 before its deadline? */
bool stet_job_fine(const struct stet_job *job);
/* "crashed (SIGSEGV)", "did not answer within 30 s", "exit code 3"; into `out`. */
void stet_job_how(const struct stet_job *job, char *out, size_t room);

#endif
