/* Work in a child process with a deadline: it may crash, hang or talk without end, and the caller
 * learns how far it came. */
#ifndef STET_BASE_JOB_H
#define STET_BASE_JOB_H

#include "base/buf.h"
#include "base/err.h"

struct stet_job {
    /* Set by the caller; zero means a default. */
    int deadline_ms; /* default 30 s */
    /* Called about every 100 ms while it runs, with the milliseconds so far; may be NULL. */
    void (*tick)(void *arg, int milliseconds);
    void *tick_arg;
    /* Filled in. */
    struct stet_buf answer; /* what the body wrote to its descriptor; 1 MB at most */
    struct stet_buf noise;  /* the end of what it wrote to standard output and error */
    int status;             /* as waitpid gives it */
    bool late;              /* ended by us: past its deadline */
    bool stuck;             /* and it could not even be killed */
    int milliseconds;
};

/* Runs in the child; `fd` is where the answer goes. The child leaves when it returns. */
typedef void stet_job_body(void *arg, int fd);

/* Runs `body` in a fork of this process, its own process group, standard input closed. STET_OK
 * says that it ran and ended somehow: ask status, late and stuck. */
enum stet_rc stet_job_run(struct stet_job *job, stet_job_body *body, void *arg,
                          struct stet_err *err);
/* The same for a command; its standard output is the answer. */
enum stet_rc stet_job_command(struct stet_job *job, char *const argv[], char *const envp[],
                              struct stet_err *err);
void stet_job_release(struct stet_job *job);

/* Exit 0 and in time? */
bool stet_job_fine(const struct stet_job *job);
/* "crashed (SIGSEGV)", "did not answer within 30 s", "exit code 3"; into `out`. */
void stet_job_how(const struct stet_job *job, char *out, size_t room);

#endif
