/* The layer's state in this process: settings, counters, start, fork, exit. Process-global; the
 * hooks use it. */
#ifndef STET_INTERCEPT_LAYER_H
#define STET_INTERCEPT_LAYER_H

#include "intercept/ring.h"
#include "journal/flow.h"
#include "journal/vocabulary.h"
#include "store/store.h"

#include <limits.h>

enum stet_capture { STET_CAPTURE_STRUCTURE, STET_CAPTURE_FULL, STET_CAPTURE_HASH };

struct stet_layer {
    char dir[PATH_MAX]; /* the run folder */
    enum stet_capture capture;
    bool values; /* read what Python holds during a compile: STET_VALUES */
    struct stet_store store;
    struct stet_entry_unpacker unpacker;
    bool storing;               /* the store above is in use */
    enum stet_outcome no_store; /* or why it is not, though one was named */
    struct stet_err no_store_why;
    struct stet_journal *journal;
    struct stet_ring ring;
    struct stet_flow flow;
    _Atomic uint64_t compiles, loads, errors;
    _Atomic uint32_t last_executable, last_client;
    _Atomic uint64_t missed; /* executions that found the ring full */
    _Atomic uint64_t faults[STET_FAULTS];
};

extern struct stet_layer stet_layer;

/* How the layer was loaded, for the process record; each shared object has its own. */
extern const char stet_entry_name[];

/* May be called at any time: reads STET, allocates nothing. */
bool stet_layer_wanted(void);
/* Called when the first table is returned. False if the process must be left alone. */
bool stet_layer_start(void);

/* Called after a call of the plugin. exit(3) runs handlers in the reverse order of their
 * registration, and the same list destroys what the plugin created in its functions (C++'s local
 * statics). Our threads that call the plugin must stop before that. So the handler that stops them
 * is registered again whenever there may be something new to destroy. */
void stet_layer_leave_first(void);

static inline void stet_fault(enum stet_fault f)
{
    atomic_fetch_add_explicit(&stet_layer.faults[f], 1, memory_order_relaxed);
}

/* A line in the file of STET_LOG; never on standard output. */
void stet_layer_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
