/* What the bench programs share: two ways to the same plugin in one process, and medians. */
#ifndef STET_BENCH_H
#define STET_BENCH_H

#include "harness.h"

/* The plugin itself, and the layer over the same plugin: one process, one plugin, two tables. */
struct bench {
    struct harness bare, layer;
    char state[64]; /* where the layer keeps its journal; removed by bench_end */
};

/* Opens both with a client each, pins the process to one processor. Exits when it can't. */
void bench_begin(struct bench *b);
/* The same over another plugin of the build, with a store when asked for. */
void bench_begin_with(struct bench *b, const char *plugin, bool store);
void bench_end(struct bench *b);

struct bench_bytes {
    char *ptr; /* malloc'd, the caller's */
    size_t len;
};

/* Exit when the file can't be read, or the plugin said no. An empty folder is none. */
struct bench_bytes bench_read(const char *folder, const char *name);
PJRT_LoadedExecutable *bench_must(struct harness *h, PJRT_LoadedExecutable *loaded);

double bench_now_ns(void);
/* What this thread has used: on a shared machine the wall clock tells about others. */
double bench_cpu_ns(void);
/* Sorts. */
double bench_quantile(double *values, size_t count, double q);

/* One line of JSON: a figure, what it is measured against, and the limit it must keep (0: none). */
void bench_print(const char *name, const char *unit, double value, double low, double high,
                 const char *against, double baseline, double limit);

#endif
