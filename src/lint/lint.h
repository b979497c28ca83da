/* The library interface of stet lint, which finds Python code that recompiles or stalls compiled
 * programs. The result owns its findings; release it with stet_lint_release. */
#ifndef STET_LINT_LINT_H
#define STET_LINT_LINT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* A row of the table of rules, for other modules. */
struct stet_lint_rule {
    const char *code, *trap, *title, *why, *fix, *severity;
};

size_t stet_lint_rule_count(void);
struct stet_lint_rule stet_lint_rule_at(size_t index);

struct stet_lint_finding {
    const char *path;
    unsigned rule;     /* index */
    unsigned severity; /* 0 note, 1 warning, 2 error */
    uint32_t line, column, end_line, end_column;
    struct stet_view what;   /* about this place */
    struct stet_view traced; /* why this code counts as compiled; may be empty */
    struct stet_view source; /* the line */
    struct stet_view fix;
    uint32_t edit_start, edit_end;
    struct stet_view edit; /* .ptr is NULL when there is no safe fix */
    char id[33];           /* stays the same when lines above move */
    /* Joined with a run: what this line cost there. */
    double cost_s;
    uint32_t compiles;
};

struct stet_lint_options {
    char **paths; /* files and folders */
    int path_count;
    const char *stdin_path; /* not NULL: one file from `stdin_text`, named so */
    struct stet_view stdin_text;
    bool *rules;     /* stet_lint_rule_count() of them: which are on; NULL for all */
    bool apart;      /* each line of a host-function is a finding of its own */
    char **excludes; /* path endings or folder names */
    size_t exclude_count;
    const char *cache_folder; /* NULL: none */
    unsigned threads;         /* 0: as many as there are processors */
};

struct stet_lint_result {
    struct stet_lint_finding *findings;
    size_t finding_count;
    size_t files, cached, unreadable, broken, ignored;
    size_t excluded; /* when there are no files: those that would be there without excludes */
    uint64_t bytes;
    uint64_t steps; /* steps that searching took; they must not grow faster than the text */
    void *inside;
};

/* Files that cannot be read are counted and reported on stderr; they are not an error. */
enum stet_rc stet_lint_run(struct stet_lint_result *r, const struct stet_lint_options *o,
                           struct stet_err *err);
void stet_lint_release(struct stet_lint_result *r);

/* One text alone, without cache and without files: for fuzzing. */
enum stet_rc stet_lint_text(struct stet_lint_result *r, const char *path, struct stet_view text,
                            struct stet_err *err);

#endif
