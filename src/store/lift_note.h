/* How a family of programs was lifted, so that the next run lifts it from its first program.
 * <folder>/lifts/<32 hex>, named after the family and its compiler; a hint (docs/formats.md). */
#ifndef STET_STORE_LIFT_NOTE_H
#define STET_STORE_LIFT_NOTE_H

#include "base/fs.h"
#include "store/store.h"

/* It goes up when places of uses or kinds of arguments get another meaning. */
#define STET_LIFT_NOTE_VERSION 2

struct stet_store_lift {
    struct stet_hash base;  /* the entry of the family's first program; zero: do not lift it */
    uint32_t checked;       /* how many values were compared with plain programs beyond the first */
    struct stet_view kinds; /* of the arguments, a byte each */
    struct stet_view argument_of; /* by use of a constant, a byte each */
    struct stet_file file;        /* contains the views; private */
};

/* The note that all programs of a family share: `family` distinguishes families, `parts` compilers.
 * Program and options in `parts` do not count. */
struct stet_hash stet_store_lift_name(struct stet_hash family, const struct stet_key_parts *parts);
/* The note of all programs of one skeleton, for any shapes and any compiler: only its places of
 * uses have a meaning. */
struct stet_hash stet_store_lift_skeleton_name(struct stet_hash skeleton);
/* False if there is none that is valid. If true, the caller closes it. */
bool stet_store_lift_open(const struct stet_store *s, struct stet_hash name,
                          struct stet_store_lift *out);
void stet_store_lift_close(struct stet_store_lift *l);
/* Does nothing if the store is read-only. */
void stet_store_lift_write(const struct stet_store *s, struct stet_hash name,
                           const struct stet_store_lift *l);

#endif
