/* The table that changes.def makes. */
#include "cause/change.h"

static const struct {
    const char *id;
    enum stet_change_side side;
} changes[STET_CHANGES] = {
    [STET_CHANGE_NONE] = {"", STET_SIDE_BOTH},
#define CHANGE(identifier, id, side, what) [STET_CHANGE_##identifier] = {id, STET_SIDE_##side},
#include "cause/changes.def"
#undef CHANGE
};

const char *stet_cause_change_id(enum stet_change_kind kind)
{
    return changes[kind].id;
}

enum stet_change_kind stet_cause_change_find(struct stet_view id)
{
    for (int k = STET_CHANGE_NONE + 1; k < STET_CHANGES; k++)
        if (stet_view_is(id, changes[k].id))
            return (enum stet_change_kind)k;
    return STET_CHANGE_NONE;
}

enum stet_change_side stet_cause_change_side(enum stet_change_kind kind)
{
    return changes[kind].side;
}
