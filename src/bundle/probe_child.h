/* The child's side of a probe: calls the plugin and reports over a pipe. Only probe.c and the
 * probe_*.c files use it. */
#ifndef STET_BUNDLE_PROBE_CHILD_H
#define STET_BUNDLE_PROBE_CHILD_H

#include "abi/api.h"
#include "bundle/probe.h"

/* Lines of the answer: "B<step>" begun, "F<step> text" fine, "X…" failed, "M…" missing,
 * "V<name>\t<value>", "D<id>\t<in use>\t<limit>\t<peak>\t<kind>\t<text>" ("-" for an unknown
 * figure; all three if there are none). */
struct stet_prober {
    const char *path;
    enum stet_probe_step through;
    bool no_tpu;  /* the bus shows none */
    bool warm;    /* the second process: load what the first one kept */
    int fd, keep; /* the answer; a file for the serialised executable */
    const PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Device *device;
    PJRT_LoadedExecutable *loaded;
};

/* The body of the job; arg is a struct stet_prober. */
void stet_probe_child(void *arg, int fd);

/* probe_run.c: compile … execute again; false if a step failed. */
bool stet_prober_programs(struct stet_prober *p);

void stet_prober_begin(const struct stet_prober *p, enum stet_probe_step s);
void stet_prober_end(const struct stet_prober *p, char how, enum stet_probe_step s, const char *fmt,
                     ...) __attribute__((format(printf, 4, 5)));
/* True for NULL; otherwise reports the step as failed with the error's code and text. */
bool stet_prober_ok(const struct stet_prober *p, enum stet_probe_step s, const char *entry,
                    PJRT_Error *error);

/* Declares the arguments of an entry with struct_size set, the rest zero or as given. */
#define STET_PROBE_ASK(entry, name) entry##_Args name = {.struct_size = entry##_Args_STRUCT_SIZE}
#define STET_PROBE_ARGS(entry, name, ...)                                                          \
    entry##_Args name = {.struct_size = entry##_Args_STRUCT_SIZE, __VA_ARGS__}

#endif
