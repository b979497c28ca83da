/* Runs on disk. It lists the runs of the state folder, finds a run by name, and reads run.json. The
 * list owns its runs; texts are in the arena of the list or of the caller. */
#ifndef STET_LEDGER_RUN_FOLDER_H
#define STET_LEDGER_RUN_FOLDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct stet_run {
    const char *id, *folder;
    const char *cwd, *host, *stet_version; /* "" if unknown */
    const char *torch_trace;               /* a trace folder of the user's own, else "" */
    const char *command;                   /* argv joined by blanks, for people */
    const char *const *argv;               /* ends with NULL */
    size_t argc;
    uint64_t started_ns, ended_ns; /* CLOCK_REALTIME; ended_ns 0 while it runs, or was cut off */
    int64_t pid, parent;           /* of the command and of its `stet run`; 0 if unknown */
    int exit_code;                 /* -1 when not known */
    int signal;                    /* 0 for none */
    uint64_t unchecked;            /* descendants the layer could not reach */
};

struct stet_runs {
    struct stet_arena arena;
    struct stet_run *items; /* newest first */
    size_t count;
    size_t unreadable; /* folders whose run.json can't be read; skipped */
};

/* All runs of the state folder (stet_ledger_state_dir); an empty list is not an error. */
enum stet_rc stet_ledger_runs_open(struct stet_runs *runs, struct stet_err *err);
void stet_ledger_runs_close(struct stet_runs *runs);

/* Finds the run with this name: an id, a unique prefix of one, or a folder with a run.json. NULL or
 * "latest" is the newest one started in this working folder (otherwise the newest of all). The
 * result points into `runs`, which may grow. Returns STET_NOT_FOUND with a text. */
enum stet_rc stet_ledger_runs_find(struct stet_runs *runs, const char *name,
                                   const struct stet_run **out, struct stet_err *err);
/* Opens the runs and finds one. After a failure there is nothing to close. */
enum stet_rc stet_ledger_runs_open_at(struct stet_runs *runs, const char *name,
                                      const struct stet_run **out, struct stet_err *err);

/* Did both runs run the same command in the same folder? */
bool stet_ledger_run_is_same(const struct stet_run *a, const struct stet_run *b);
/* Did both run the same script in the same folder? Other arguments may differ: a larger batch is
 * what one wants to compare. */
bool stet_ledger_run_is_of_same_script(const struct stet_run *a, const struct stet_run *b);
/* Was the same command run in the same folder before this run? */
bool stet_ledger_run_has_earlier(const struct stet_runs *runs, const struct stet_run *run);

/* Reads <folder>/run.json; strings are in `arena`. */
enum stet_rc stet_ledger_run_read(struct stet_run *run, struct stet_arena *arena,
                                  const char *folder, struct stet_err *err);

/* A file of a run folder that `stet run` touches now and then while the command runs. */
#define STET_RUN_ALIVE "alive"

/* Does the process of a run without a recorded end still exist? Of a run on another host, its
 * `stet run` must have given a sign of life in the last minute. */
bool stet_ledger_run_is_alive(const struct stet_run *run);
/* Appends "running", "exit 0", "signal 9" or "cut off". */
void stet_ledger_run_outcome(struct stet_buf *out, const struct stet_run *run);

#endif
