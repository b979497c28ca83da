/* The detector of a matrix row: an expression over the items of a bundle, parsed once. Everything
 * is in the arena of the matrix. */
#ifndef STET_BUNDLE_DETECTOR_H
#define STET_BUNDLE_DETECTOR_H

#include "bundle/inventory.h"

enum stet_detector_kind {
    STET_DETECT_AND,
    STET_DETECT_OR,
    STET_DETECT_NOT,
    STET_DETECT_ITEM, /* an item that matches the pattern and whose value passes the comparison */
};

enum stet_detector_op {
    STET_OP_PRESENT,
    STET_OP_EQ,
    STET_OP_NE,
    STET_OP_LT,
    STET_OP_LE,
    STET_OP_GT,
    STET_OP_GE,
    STET_OP_LIKE, /* ~ a pattern with * */
    STET_OP_SAME, /* ^ the same first two numbers */
};

struct stet_item_ref {
    enum stet_group group; /* `package` also finds compilers and others */
    const char *pattern;
};

struct stet_detector {
    enum stet_detector_kind kind;
    enum stet_detector_op op;
    const struct stet_detector *a, *b; /* of AND, OR, NOT */
    struct stet_item_ref item;
    const char *value;          /* to compare with, or NULL */
    struct stet_item_ref other; /* or another item's value, when `value` is NULL */
};

/* `text` is a part of the file. On failure returns NULL; *at is the position in it and *what the
 * reason, a literal. */
const struct stet_detector *stet_detector_parse(struct stet_arena *arena, struct stet_view text,
                                                const char **at, const char **what);
bool stet_detector_fits(const struct stet_detector *d, const struct stet_inventory *v,
                        struct stet_buf *why);

#endif
