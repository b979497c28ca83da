/* Which recompiles may get another name from the rest of the run. A live report waits for those:
 * what cannot be known at the first change is not claimed. */
#include "explain/history_internal.h"

#include <math.h>

/* A smaller size that came once is the last batch, or the first of many sizes. */
static bool may_be_last(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_series *sizes = stet_fixes_series(h, f);

    return stet_cause_is(f->cause, STET_CAUSE_IS_SIZE) && f->facts.size_to < f->facts.size_from &&
           (!sizes || sizes->distinct <= 2) && stet_turns_of(h, f).mine < 2;
}

static bool is_first_step(const struct stet_series *s)
{
    return s && s->findings < 2 && s->numeric && fabs(s->step) == 1;
}

/* A number that went one up or down once is a counter, or a setting. It is a setting when the new
 * program ran again. */
static bool may_count(const struct stet_history *h, const struct stet_finding *f)
{
    bool first = false;

    if (!stet_cause_is(f->cause, STET_CAUSE_MAY_COUNT) || stet_turns_of(h, f).mine > 1)
        return false;
    for (uint32_t i = 0; i < f->change_count && !first; i++)
        first = is_first_step(stet_series_of(h, f, &f->changes[i]));
    for (uint32_t i = 0; i < f->moved_count && !first; i++)
        first = f->moved[i].numeric && !f->moved[i].flag &&
                is_first_step(stet_series_of_moved(h, f, &f->moved[i]));
    return first;
}

/* Another function of one definition, or a new version of the same. It is the latter when it ran
 * again, and the other one did not. */
static bool may_be_apart(const struct stet_history *h, const struct stet_finding *f)
{
    return stet_history_is_other_object(h, f) && stet_turns_of(h, f).mine < 2;
}

bool stet_finding_is_open(const struct stet_history *h, const struct stet_finding *f)
{
    return !h->whole && !f->benign && f->against != STET_NONE &&
           (may_be_last(h, f) || may_count(h, f) || may_be_apart(h, f));
}
