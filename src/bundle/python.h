/* The Python that a command would use, and what is installed for it. Packages are read from their
 * metadata; nothing is imported. The struct owns its texts. */
#ifndef STET_BUNDLE_PYTHON_H
#define STET_BUNDLE_PYTHON_H

#include "bundle/inventory.h"

enum { STET_PYTHON_PATHS = 64 };

struct stet_python {
    struct stet_arena arena;
    const char *executable; /* as found; NULL when there is none */
    const char *why_not;    /* or why it tells nothing */
    const char *version;    /* "3.11.2"; NULL when it does not answer */
    const char *implementation, *prefix;
    const char *paths[STET_PYTHON_PATHS]; /* sys.path, folders only */
    size_t path_count;
};

/* `wanted` is a path or a name; NULL means $VIRTUAL_ENV's, else python3 or python on PATH. Runs the
 * interpreter once, without the layer. A Python that is missing or does not answer is a fact, not
 * an error. */
void stet_python_find(struct stet_python *p, const char *wanted, char *const *environment);
/* The interpreter of a command line: its first word if that is one, the one named in a script's
 * first line, else as above. */
void stet_python_of_command(struct stet_python *p, char *const *argv, char *const *environment);
void stet_python_release(struct stet_python *p);

/* <site>/<relative> of the first sys.path folder that has it, in `out`; false if none does. */
bool stet_python_file(const struct stet_python *p, const char *relative, char *out, size_t room);

/* Groups python, package, compiler, other, wheel, commit, patch. */
void stet_python_packages(const struct stet_python *p, struct stet_inventory *v);

/* Entry points of a group: called with the name and "module[:object]". */
typedef void stet_entry_point(void *arg, struct stet_view name, struct stet_view target);
void stet_python_entry_points(const struct stet_python *p, const char *group,
                              stet_entry_point *take, void *arg);

#endif
