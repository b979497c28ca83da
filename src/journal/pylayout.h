/* Where CPython keeps what leads from a thread to the lines of its code. The layer reads its own
 * process with it (intercept/pyline.c) and compares it with CPython's answers; `stet ranks` then
 * reads that process from outside. */
#ifndef STET_JOURNAL_PYLAYOUT_H
#define STET_JOURNAL_PYLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct stet_pylayout {
    uint16_t thread_frame; /* in a thread: the innermost frame... */
    uint16_t inner;        /* ...or where in a struct it points to, and... */
    bool indirect;         /* ...that there is such a struct */
    uint16_t code, previous, instruction, owner;
    uint16_t code_bytes; /* in a code object: its instructions; 0: the frame holds an index */
    uint16_t index_size; /* bytes for one step of that index */
    uint16_t file, name, first_line;
    uint16_t lines; /* in a code object: its table of lines; 0: of an older form */
    uint16_t text;  /* in a string: its characters */
};

/* From 3.12, `owner` of a frame without Python code is this or more. */
enum { STET_PYLAYOUT_OWNED_BY_C = 3 };

/* Of Python 3.<minor>; NULL if it is not known. */
const struct stet_pylayout *stet_journal_pylayout(unsigned minor);

#endif
