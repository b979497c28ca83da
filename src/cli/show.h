/* What `stet show` tells about a program, gathered once and printed as text or JSON. */
#ifndef STET_CLI_SHOW_H
#define STET_CLI_SHOW_H

#include "cli/command.h"
#include "cli/load.h"
#include "explain/repeat.h"

struct stet_show_count {
    struct stet_view text;     /* operation's name, or file */
    struct stet_view function; /* of a line */
    uint32_t line, count;
};

struct stet_show_constant {
    const struct stet_op *op;
    const struct stet_attr *value;
    uint32_t uses;
    const struct stet_op *user; /* the first one with a location, or any, or NULL */
};

enum { STET_SHOW_REPEATS = 16 };

struct stet_show {
    const struct stet_loaded *loaded;
    struct stet_side side;
    struct stet_show_count *ops, *lines; /* most frequent first */
    uint32_t op_kinds, line_count;
    struct stet_show_constant *constants; /* largest first */
    uint32_t constant_count;
    struct stet_repeat repeats[STET_SHOW_REPEATS];
    int repeat_count;
};

/* How much to print. */
struct stet_show_options {
    bool text;      /* the program itself, as StableHLO */
    bool locations; /* with its locations */
    bool all;       /* no list is cut */
    bool colour;
};

/* `stet show FILE`: the exit code. */
int stet_show_file(const char *path, enum stet_format format,
                   const struct stet_show_options *options);

enum stet_rc stet_show_gather(struct stet_show *s, const struct stet_loaded *l,
                              struct stet_err *err);
void stet_show_release(struct stet_show *s);
void stet_show_text(struct stet_buf *out, const struct stet_show *s,
                    const struct stet_show_options *options);
/* Schema stet.show/1. */
void stet_show_json(struct stet_buf *out, const struct stet_show *s);

#endif
