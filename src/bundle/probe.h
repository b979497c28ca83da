/* Checks whether a plugin works. It tries the plugin step by step in child processes, so that a
 * crash, a hang or an invalid answer only becomes a verdict. The caller owns the struct. */
#ifndef STET_BUNDLE_PROBE_H
#define STET_BUNDLE_PROBE_H

#include "base/arena.h"
#include "base/err.h"

enum stet_probe_step {
#define STEP(id, name, what) STET_STEP_##id,
#include "bundle/probe_steps.def"
#undef STEP
    STET_STEPS
};

enum stet_probe_result {
    STET_PROBE_SKIPPED, /* one before it failed, or not asked for */
    STET_PROBE_FINE,
    STET_PROBE_MISSING, /* the plugin has no such function: the rest may work */
    STET_PROBE_FAILED,
    STET_PROBE_CRASHED,
    STET_PROBE_HUNG,
};

const char *stet_probe_step_name(enum stet_probe_step s);
const char *stet_probe_result_name(enum stet_probe_result r);

struct stet_probe_outcome {
    enum stet_probe_result result;
    int milliseconds;
    const char *detail; /* never NULL */
};

enum { STET_PROBE_DEVICES = 64, STET_PROBE_VALUES = 128 };

struct stet_probe_device {
    int id;
    const char *kind, *text;
    bool has_memory, has_limit, has_peak;
    int64_t in_use, limit, peak;
};

struct stet_probe_value {
    const char *name, *value;
};

struct stet_probe {
    /* Set by the caller. */
    const char *path;
    int deadline_ms;              /* of each child; 0: 60 s */
    enum stet_probe_step through; /* the last step to try */
    void (*tick)(void *arg, int milliseconds);
    void *tick_arg;
    /* Filled in. */
    struct stet_arena arena;
    struct stet_probe_outcome steps[STET_STEPS];
    enum stet_probe_step reached;                      /* the last step that was begun */
    struct stet_probe_value values[STET_PROBE_VALUES]; /* api, extensions, platform, attributes… */
    size_t value_count;
    struct stet_probe_device devices[STET_PROBE_DEVICES];
    size_t device_count;
    const char *noise; /* the last lines the plugin printed */
};

/* STET_IO if no child could be started. */
enum stet_rc stet_probe_run(struct stet_probe *p, struct stet_err *err);
void stet_probe_release(struct stet_probe *p);

/* "" if it was not reported. */
const char *stet_probe_value(const struct stet_probe *p, const char *name);
/* Did every step that was tried succeed (apart from a missing function)? */
bool stet_probe_alive(const struct stet_probe *p);
/* The first step that failed, crashed or hung; STET_STEPS if none did. */
enum stet_probe_step stet_probe_broken(const struct stet_probe *p);

#endif
