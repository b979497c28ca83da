/* A minimal Python reader that finds what a name is to a function: a parameter, a default, a
 * closure variable. */
#ifndef STET_INGEST_PYTHON_ROLES_H
#define STET_INGEST_PYTHON_ROLES_H

#include "base/buf.h"

enum stet_ingest_py_role {
    STET_PY_UNKNOWN,   /* the file cannot be read, or has no such function there */
    STET_PY_PARAMETER, /* without a default */
    STET_PY_DEFAULT,   /* a parameter with a default */
    STET_PY_FREE,      /* no parameter: a closure variable */
};

/* What `name` is to the function defined at or just after `line` of `file` (decorators come
 * before). Appends the text of its default to `value`. */
enum stet_ingest_py_role stet_ingest_py_role(struct stet_view file, uint64_t line,
                                             struct stet_view name, struct stet_buf *value);
/* The line of the `def` of a code object whose first line is `line`: decorators count as its first
 * lines. `line` itself if the file cannot be read or no `def` follows. */
uint64_t stet_ingest_py_def_line(struct stet_view file, uint64_t line);
/* That line of the file, trimmed; false if it cannot be read. */
bool stet_ingest_py_line(struct stet_view file, uint64_t line, struct stet_buf *out);

#endif
