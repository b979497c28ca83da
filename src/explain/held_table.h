/* The values of one compile, to be looked up by scope and path. */
#ifndef STET_EXPLAIN_HELD_TABLE_H
#define STET_EXPLAIN_HELD_TABLE_H

#include "explain/held_list.h"

enum { STET_HELD_TABLE_CUTS = 64 };

struct stet_held_table {
    struct stet_journal_value *items;
    uint32_t count;
    uint16_t *slots; /* number + 1 by hash of scope and path */
    bool hashes;     /* set by the caller: hashes and addresses compare with the other's */
    /* The paths of arguments that were not read to their end. */
    struct stet_view cuts[STET_HELD_TABLE_CUTS];
    size_t cut_count;
};

/* Begins with a table that is all zero except `hashes`. If several frames have a name, the
 * innermost counts. False when there is no memory. */
bool stet_held_table_fill(struct stet_held_table *t, struct stet_arena *arena,
                          struct stet_view bytes);
/* The value with the scope and path of this one, or NULL. */
const struct stet_journal_value *stet_held_table_find(const struct stet_held_table *t,
                                                      const struct stet_journal_value *like);
/* Is the argument missing in the table only because it was not read? */
bool stet_held_table_unread(const struct stet_held_table *t, const struct stet_journal_value *v);

/* Are two values the same? Objects and functions are compared by class and definition only. */
bool stet_held_table_same(const struct stet_journal_value *a, const struct stet_journal_value *b);
bool stet_held_table_same_array(const struct stet_journal_value *a,
                                const struct stet_journal_value *b);

#endif
