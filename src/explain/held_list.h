/* The values of one compile as a list, in which each variable has all of its values.
 *
 * The layer reads an object once: where another variable holds the same one, only its address is in
 * the journal. Here it has the same fields in both places. */
#ifndef STET_EXPLAIN_HELD_LIST_H
#define STET_EXPLAIN_HELD_LIST_H

#include "base/arena.h"
#include "journal/values_record.h"

enum { STET_HELD_LIST_MOST = 4096 };

struct stet_held_list {
    struct stet_journal_value
        *items; /* by frame, the innermost first, and then as they were read */
    uint32_t count;
};

/* Paths are in the arena; other texts borrow from the bytes. False when there is no memory. */
bool stet_held_list_read(struct stet_held_list *l, struct stet_arena *arena,
                         struct stet_view bytes);
/* The value in the same place as this one, whatever the frame; NULL for none. */
const struct stet_journal_value *stet_held_list_like(const struct stet_held_list *l,
                                                     const struct stet_journal_value *like);
/* Is `path` a part of what is held under `whole`: "self.plan.lr" of "self.plan"? */
bool stet_held_list_below(struct stet_view path, struct stet_view whole);

#endif
