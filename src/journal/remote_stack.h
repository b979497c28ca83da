/* Reads the Python lines of a thread, of another process or of this one, without stopping it or
 * running anything in it (process_vm_readv, which needs the permission to trace that process). The
 * layer published where the thread's state is, and compared the layout with CPython's own answers
 * first. */
#ifndef STET_JOURNAL_REMOTE_STACK_H
#define STET_JOURNAL_REMOTE_STACK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { STET_REMOTE_FRAMES = 64 };

struct stet_remote_frame {
    char file[256], function[96]; /* "" if it is not plain ASCII */
    uint32_t line;                /* 0: not known */
};

struct stet_remote_place {
    pid_t pid;
    uint64_t state, code_type; /* addresses there */
    unsigned minor;            /* Python 3.<minor> */
};

/* The innermost frames, innermost first. While the thread runs, they are those of one moment or
 * none: what does not fit together is read again a few times. Returns 0 frames with the reason in
 * `err`. */
size_t stet_remote_stack_read(const struct stet_remote_place *p,
                              struct stet_remote_frame out[STET_REMOTE_FRAMES],
                              struct stet_err *err);

/* The line of an instruction, by a code object's table of lines (Python 3.11 and later,
 * Objects/locations.md): `at` is its offset in bytes. 0 if it has none. */
uint32_t stet_remote_stack_line(const unsigned char *table, size_t length, uint32_t first,
                                uint32_t at);

#endif
