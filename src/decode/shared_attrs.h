/* Shares equal attributes, for formats that write an attribute at each of its uses. The attributes
 * are in the program's arena. */
#ifndef STET_DECODE_SHARED_ATTRS_H
#define STET_DECODE_SHARED_ATTRS_H

#include "program/build.h"

/* Zeroed at the start; must not be copied. */
struct stet_shared_attrs {
    const struct stet_attr **slots;
    uint32_t count, room;
    const struct stet_attr *first[64]; /* the slots of the first few */
};

void stet_decode_shared_attrs_release(struct stet_shared_attrs *t);

/* The attribute equal to `like`: an earlier one, or a new one in the arena (NULL if it is full).
 * Items and fields are compared by address, so they must come from here, too. The list of `like` is
 * in the arena and must not be used elsewhere: it is released if it is the last allocation and not
 * needed. If there is no memory for the table, attributes are not shared. */
const struct stet_attr *stet_decode_shared_attr(struct stet_shared_attrs *t, struct stet_arena *a,
                                                const struct stet_attr *like);

#endif
