/* What the files that compare the values of two compiles share. */
#ifndef STET_EXPLAIN_MOVED_INTERNAL_H
#define STET_EXPLAIN_MOVED_INTERNAL_H

#include "explain/held_table.h"
#include "explain/moved.h"

enum { STET_MOVED_STATICS = 32 };

/* Two compiles, and what differs between them so far. */
struct stet_moved_pair {
    struct stet_arena *arena; /* of the result */
    const struct stet_held_table *a, *b;
    int64_t static_numbers[STET_MOVED_STATICS];
    struct stet_view static_names[STET_MOVED_STATICS];
    size_t number_count, name_count;
    uint32_t count;
    struct stet_moved out[STET_MOVED_MOST];
};

/* Adds a difference; one of the two may be NULL. NULL when there is no room. */
struct stet_moved *stet_moved_add(struct stet_moved_pair *c, const struct stet_journal_value *from,
                                  const struct stet_journal_value *to);
/* The digits of args[N]…; -1 for anything else. `end` is after the bracket. */
int64_t stet_moved_argument(struct stet_view path, size_t *end);
/* The name in kwargs['name']…, or an empty view. */
struct stet_view stet_moved_keyword(struct stet_view path, size_t *end);

/* Was another object made, of the same definition, that its key takes for another value? */
bool stet_moved_anew(const struct stet_moved_pair *c, const struct stet_journal_value *was,
                     const struct stet_journal_value *is);
/* What was made anew and holds the value in a function, from the outside; empty for none. */
struct stet_view stet_moved_maker(const struct stet_moved_pair *c,
                                  const struct stet_journal_value *v);
/* Is it a function that was made with another one whose making is listed? */
bool stet_moved_made_with(const struct stet_moved_pair *c, const struct stet_journal_value *is);
/* Does jit take the argument of this path as static? */
bool stet_moved_is_static(const struct stet_moved_pair *c, struct stet_view path);

/* Is the function that the framework received a library's? Its arguments then have the library's
 * names, and their places shift when one comes or goes. */
bool stet_moved_wraps(const struct stet_held_table *t);
/* Compares the arguments of a library's function around the user's. */
void stet_moved_wrapped(struct stet_moved_pair *c);
/* Compares what the user's line passed to a library's wrapper, except arrays. */
void stet_moved_passed(struct stet_moved_pair *c);

#endif
