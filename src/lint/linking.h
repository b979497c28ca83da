/* Internal to the findings; only findings.c and host_functions.c include it. All files while their
 * candidates are decided. */
#ifndef STET_LINT_LINKING_H
#define STET_LINT_LINKING_H

#include "lint/findings.h"

/* The functions of one file that work on the host; NULL for a file without any. */
struct lint_hosts {
    bool *stops;            /* by function */
    struct stet_view *text; /* by function: what its one finding says */
};

struct lint_linking {
    const struct lint_summary *files;
    const char *const *paths;
    size_t file_count;
    struct stet_flow_linked linked;
    struct lint_hosts *hosts; /* by file; NULL: each line is a finding of its own */
    struct stet_arena *arena;
    bool failed;
};

/* Does the candidate hold, as the files are linked now? (findings.c) */
bool lint_holds(const struct lint_linking *l, uint32_t file, const struct lint_candidate *c);

/* Finds the functions that work on the host; true if there is one, and then the files are linked
 * again. (host_functions.c) */
bool lint_hosts_find(struct lint_linking *l);
void lint_hosts_release(struct lint_linking *l);
static inline bool lint_hosts_has(const struct lint_linking *l, uint32_t file, uint32_t fn)
{
    return l->hosts && l->hosts[file].stops && l->hosts[file].stops[fn];
}

#endif
