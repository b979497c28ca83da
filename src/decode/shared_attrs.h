/* Equal attributes once: for formats that write an attribute out wherever it is used. */
#ifndef STET_DECODE_SHARED_ATTRS_H
#define STET_DECODE_SHARED_ATTRS_H

#include "program/build.h"

/* Zeroed to begin with; not to be copied. */
struct stet_shared_attrs {
    const struct stet_attr **slots;
    uint32_t count, room;
    const struct stet_attr *first[64]; /* the slots of the first few */
};

void stet_shared_attrs_release(struct stet_shared_attrs *t);

/* The attribute that says what `like` says: one of before, or a new one in the arena (NULL when it
 * is full). Items and fields are compared by address, so they have to come from here, too. The list
 * of `like` is the arena's: nobody else may hold it, for it is given back when it lies last there
 * and is not needed. Without memory for the table attributes are merely not shared. */
const struct stet_attr *stet_shared_attr(struct stet_shared_attrs *t, struct stet_arena *a,
                                         const struct stet_attr *like);

#endif
