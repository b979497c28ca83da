/* Just enough Python to tell what a name is to a function. */
#ifndef STET_INGEST_PYTHON_ROLES_H
#define STET_INGEST_PYTHON_ROLES_H

#include "base/buf.h"

enum stet_ingest_py_role {
    STET_PY_UNKNOWN,   /* the file can't be read, or holds no such function there */
    STET_PY_PARAMETER, /* without a default */
    STET_PY_DEFAULT,   /* a parameter with a default */
    STET_PY_FREE,      /* no parameter: a closure variable */
};

/* What `name` is to the function defined at or just after `line` of `file` (decorators stand
 * before). The text of its default is appended to `value`. */
enum stet_ingest_py_role stet_ingest_py_role(struct stet_view file, uint64_t line,
                                             struct stet_view name, struct stet_buf *value);
/* The line of the `def` that belongs to a code object whose first line is `line`: decorators count
 * as its first lines. `line` itself when the file can't be read or no `def` follows. */
uint64_t stet_ingest_py_def_line(struct stet_view file, uint64_t line);
/* That line of the file, trimmed; false when it can't be read. */
bool stet_ingest_py_line(struct stet_view file, uint64_t line, struct stet_buf *out);

#endif
