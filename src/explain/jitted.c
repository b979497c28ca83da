/* See jitted.h. */
#include "explain/jitted.h"

#include "explain/history_internal.h"
#include "explain/observed.h"

bool stet_explain_jitted(struct stet_history *h, const struct stet_finding *f,
                         enum stet_jit_line which, struct stet_place *at, bool *sure)
{
    /* the other way round, the earlier call is the one that waits */
    struct stet_finding turned = *f;
    struct stet_journal_function called;
    struct stet_python_made made;
    struct stet_observed seen;

    if (which == STET_JIT_BEFORE) {
        turned.sighting = f->against;
        turned.against = f->sighting;
    }
    called = stet_journal_values_function(stet_sighting_of(h, &turned)->values);
    stet_observed_init(&seen, h, &turned);
    made = stet_python_jitted(&h->sources, &seen.stack, called.file, called.line,
                              which == STET_JIT_MAKER);
    stet_observed_release(&seen);
    *at = stet_lines_place(h, &made);
    *sure = made.sure;
    return made.line != 0;
}
