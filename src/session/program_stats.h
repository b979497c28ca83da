/* Counts what one program contains: operations, lines, constants and repeated blocks. The caller
 * releases the result and keeps the program until then. */
#ifndef STET_SESSION_PROGRAM_STATS_H
#define STET_SESSION_PROGRAM_STATS_H

#include "explain/repeat.h"
#include "session/named_program.h"

struct stet_session_stats_count {
    struct stet_view text;     /* operation's name, or file */
    struct stet_view function; /* of a line */
    uint32_t line, count;
};

struct stet_session_stats_constant {
    const struct stet_op *op;
    const struct stet_attr *value;
    uint32_t uses;
    const struct stet_op *user; /* the first one with a location, or any, or NULL */
};

enum { STET_SHOW_REPEATS = 16 };

struct stet_session_stats {
    const struct stet_session_program *loaded;
    struct stet_side side;
    struct stet_session_stats_count *ops, *lines; /* most frequent first */
    uint32_t op_kinds, line_count;
    struct stet_session_stats_constant *constants; /* largest first */
    uint32_t constant_count;
    struct stet_repeat repeats[STET_SHOW_REPEATS];
    int repeat_count;
};

enum stet_rc stet_session_stats_gather(struct stet_session_stats *s,
                                       const struct stet_session_program *l, struct stet_err *err);
void stet_session_stats_release(struct stet_session_stats *s);
/* Writes schema stet.show/1. */
void stet_session_stats_json(struct stet_buf *out, const struct stet_session_stats *s);

#endif
