/* Parses the text of a torch.compile guard failure. All views borrow from the text. */
#ifndef STET_INGEST_GUARD_TEXT_H
#define STET_INGEST_GUARD_TEXT_H

#include "base/view.h"

enum stet_guard_kind {
    STET_GUARD_OTHER,
    STET_GUARD_SIZE,   /* tensor 'x' size mismatch at index 0. expected 4, actual 6 */
    STET_GUARD_STRIDE, /* the same of strides */
    STET_GUARD_RANK,
    STET_GUARD_DTYPE,
    STET_GUARD_DEVICE,
    STET_GUARD_MARKING, /* a tensor has dimensions marked dynamic, or no longer */
    STET_GUARD_REQUIRES_GRAD,
    STET_GUARD_DISPATCH, /* dispatch key set: inference mode, subclasses */
    STET_GUARD_STATE,    /* GLOBAL_STATE changed: grad_mode */
    STET_GUARD_ALIAS,    /* one tensor given twice, or no longer */
    STET_GUARD_TYPE,
    STET_GUARD_IDENTITY, /* another object (a function, an enum member) */
    STET_GUARD_KEY,      /* a dictionary has or lacks a key */
    STET_GUARD_NONE,     /* None or not None */
    STET_GUARD_LENGTH,   /* len(xs) == 2, not xs */
    STET_GUARD_EQUALS,   /* n == 2 */
    STET_GUARD_SHAPE,    /* 2 <= x.size()[0], x.size()[0] == y.size()[0] */
};

/* All views point into the text that was parsed. */
struct stet_guard {
    enum stet_guard_kind kind;
    int64_t compile;                   /* the cached entry it belongs to, -1 if unknown */
    struct stet_view expr;             /* the guard without its comment */
    struct stet_view source;           /* of what: "x", "self.count", "G['SCALE']"; may be empty */
    struct stet_view holder;           /* of a key: the dictionary */
    int dim;                           /* of a size, stride or shape guard; -1 if unknown */
    struct stet_view expected, actual; /* empty if unknown */
    struct stet_view code;             /* the line of code, in the comment */
    struct stet_view place;            /* "mp/tl/a.py:13 in forward": shortened by torch */
    struct stet_view hint;
    /* The innermost line of the user's own in "User stack trace", else empty. */
    struct stet_view file, function;
    uint64_t line;
};

void stet_ingest_guard_parse(struct stet_guard *g, struct stet_view text);
/* Is `source`, in the form of the environment (L['s'].c), what a guard calls `what` (s.c)? */
bool stet_ingest_guard_same_source(struct stet_view source, struct stet_view what);
/* Is it a file of an installed package, of torch or of Python itself, or no file? */
bool stet_ingest_guard_is_library(struct stet_view file);
/* A file of torch itself. */
bool stet_ingest_guard_is_torch(struct stet_view file);

/* "mp/tl/a.py:13 in forward": file, line, function. */
bool stet_ingest_guard_place(struct stet_view place, struct stet_view *file, uint64_t *line,
                             struct stet_view *function);

#endif
