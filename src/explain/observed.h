/* What was observed of Python at the two compiles of a finding, in the form in which values are
 * followed through the source (python/queries.h): the lines that wait, the generators that are
 * suspended, and what each variable was at both. The values borrow from the sightings. */
#ifndef STET_EXPLAIN_OBSERVED_H
#define STET_EXPLAIN_OBSERVED_H

#include "explain/history.h"
#include "python/queries.h"

struct stet_observed_values;

struct stet_observed {
    struct stet_python_stack stack;
    const struct stet_sighting *was, *is; /* was: NULL for a first compile */
    double from, to;                      /* what is followed changed so, if `numbers` */
    bool numbers;
    /* Of each frame of the stack: the number that its values have at the two compiles. */
    struct {
        uint32_t was, is;
        bool both; /* it was there at both */
    } frames[STET_PYTHON_WATCHED];
    struct stet_observed_values *values; /* read when they are first needed */
};

/* The stack points to the observation: it must not be moved. */
void stet_observed_init(struct stet_observed *o, const struct stet_history *h,
                        const struct stet_finding *f);
void stet_observed_release(struct stet_observed *o);

/* The frame of the stack that a value was found in; false if it is not in the stack. */
bool stet_observed_frame(const struct stet_observed *o, enum stet_journal_value_scope scope,
                         uint32_t frame, size_t *out);
/* Finds the next variable that changed from one of these whole numbers to the other; begin with
 * *at 0. False at the end. */
bool stet_observed_number(struct stet_observed *o, double from, double to, uint32_t *at,
                          size_t *frame, struct stet_view *path);

#endif
