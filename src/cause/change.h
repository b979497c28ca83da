/* The kinds of changes that a recompile lists. One list, changes.def, serves both lanes. All
 * returned texts are literals. */
#ifndef STET_CAUSE_CHANGE_H
#define STET_CAUSE_CHANGE_H

#include "base/view.h"

enum stet_change_kind {
    STET_CHANGE_NONE,
#define CHANGE(identifier, id, side, what) STET_CHANGE_##identifier,
#include "cause/changes.def"
#undef CHANGE
    STET_CHANGES
};

/* The compile that has it. */
enum stet_change_side { STET_SIDE_BOTH, STET_SIDE_CAME, STET_SIDE_WENT };

/* "argument-came"; "" for STET_CHANGE_NONE. */
const char *stet_cause_change_id(enum stet_change_kind kind);
/* STET_CHANGE_NONE when this version has no such id. */
enum stet_change_kind stet_cause_change_find(struct stet_view id);
enum stet_change_side stet_cause_change_side(enum stet_change_kind kind);

#endif
