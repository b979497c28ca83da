/* Reads what a plugin says when memory runs out: libtpu and XLA's GPU compiler and runtime, each in
 * its own words. Texts are borrowed from the message. */
#ifndef STET_FOOTPRINT_OUT_OF_MEMORY_H
#define STET_FOOTPRINT_OUT_OF_MEMORY_H

#include "base/view.h"

#include <stdint.h>

enum stet_oom_kind {
    STET_OOM_NONE,     /* the message is about something else */
    STET_OOM_PROGRAM,  /* a program needs more than a device has */
    STET_OOM_ALLOCATE, /* an array or a program did not fit beside what is there */
    STET_OOM_SCRATCH,  /* a kernel needs more of a TPU's vector memory than there is */
    STET_OOM_OTHER,    /* memory ran out, and the words are not known */
};

enum { STET_OOM_BUFFERS = 20 };

/* One of the buffers that the message lists, largest first. */
struct stet_oom_buffer {
    uint64_t size;
    struct stet_view shape, op_name, file;
    uint32_t line; /* 0: not told */
    bool argument;
};

/* A number that the message does not have is 0. */
struct stet_oom {
    enum stet_oom_kind kind;
    uint64_t needed;    /* in all, or for the one allocation */
    uint64_t available; /* in all, or free at that time */
    uint64_t missing;
    uint64_t arguments, temporaries, outputs;
    struct stet_view program; /* the module, "jit_step" */
    struct stet_oom_buffer buffers[STET_OOM_BUFFERS];
    uint32_t buffer_count;
};

void stet_oom_read(struct stet_oom *o, struct stet_view message);

/* "76.00G", "6.00MiB", "529.00M", "12884901888 bytes", "0B"; false for none of these. */
bool stet_oom_size(struct stet_view text, uint64_t *out);

#endif
