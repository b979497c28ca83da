/* Finds which operation of one program corresponds to which of the other. Fills the tables of both
 * sides. */
#ifndef STET_EXPLAIN_MATCH_H
#define STET_EXPLAIN_MATCH_H

#include "explain/side.h"

/* Fills `match` and `value_match` of both sides, which have signatures and uses. */
enum stet_rc stet_match_programs(struct stet_side *a, struct stet_side *b, struct stet_err *err);
/* The same for prepared sides with equal skeletons, whose canonical orders already give it; *all if
 * nothing is left over. */
enum stet_rc stet_match_in_order(struct stet_side *a, struct stet_side *b, bool *all,
                                 struct stet_err *err);

/* Pairs the arguments of two blocks by their uses, then by name and type. */
enum stet_rc stet_match_arguments(struct stet_side *a, const struct stet_block *in_a,
                                  struct stet_side *b, const struct stet_block *in_b,
                                  struct stet_err *err);

static inline void stet_match_ops(struct stet_side *a, const struct stet_op *of_a,
                                  struct stet_side *b, const struct stet_op *of_b)
{
    a->match[of_a->id] = of_b;
    b->match[of_b->id] = of_a;
}

static inline void stet_match_values(struct stet_side *a, const struct stet_value *of_a,
                                     struct stet_side *b, const struct stet_value *of_b)
{
    a->value_match[of_a->id] = of_b;
    b->value_match[of_b->id] = of_a;
}

/* Do two values correspond to each other (arguments or results of matched operations)? */
bool stet_match_same(const struct stet_side *a, const struct stet_value *of_a,
                     const struct stet_value *of_b);

#endif
