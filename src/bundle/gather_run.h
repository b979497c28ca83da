/* Bundles for the commands: of now, of a run, of a file. */
#ifndef STET_BUNDLE_GATHER_RUN_H
#define STET_BUNDLE_GATHER_RUN_H

#include "bundle/gather.h"

#include <sys/types.h>

struct stet_bundle_wishes {
    const char *python;   /* NULL: as stet_bundle_python_find looks for it */
    const char *plugin;   /* one more plugin file */
    const char *deadline; /* seconds of each child */
    bool client;          /* make a client too: platform version, devices */
    bool no_load;         /* load nothing */
};

/* Records what is here now. */
enum stet_rc stet_bundle_now(struct stet_inventory *v, const struct stet_bundle_wishes *w,
                             struct stet_err *err);
/* What `stet run` recorded, and what its journals add: plugins as they were used, devices. */
enum stet_rc stet_bundle_of_run(struct stet_inventory *v, const char *folder, struct stet_err *err);
/* `name` is a bundle file, a run, or "now". */
enum stet_rc stet_bundle_named(struct stet_inventory *v, const char *name,
                               const struct stet_bundle_wishes *w, struct stet_err *err);

/* For `stet run`: once the command has compiled something, starts a process beside it that writes
 * <folder>/bundle.json; *pid is 0 before and its id afterwards. */
void stet_bundle_follow(pid_t *pid, const char *folder, char *const *argv,
                        char *const *environment);
/* Waits for it, seconds at most. */
void stet_bundle_wait(pid_t pid);

/* Milliseconds of a "--deadline" value; false when it is none. */
bool stet_bundle_deadline(const char *text, int *milliseconds);

#endif
