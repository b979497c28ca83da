/* Arguments that came: state made by the first step, gradients to add to. */
#include "explain/history_internal.h"

void stet_evidence_state(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_sighting *first;
    struct stet_turns turns;

    if (f->against == STET_NONE || !(f->facts.came || f->facts.went) ||
        (f->pair != STET_REASON_OPTIONAL_KEY && f->pair != STET_REASON_PYTHON_LOOP))
        return;
    first = &h->sightings[f->against];
    turns = stet_turns_of(h, f);
    if (f->facts.accumulates && (f->facts.came == 0) != (f->facts.went == 0)) {
        stet_finding_is(h, f, STET_REASON_GRAD_CREATE_ACCUMULATE,
                        turns.switches >= 3 ? STET_SURE_CERTAIN : STET_SURE_LIKELY, false,
                        "%u argument%s %s that %s only added to a result; the two programs "
                        "changed places %u times",
                        f->facts.came + f->facts.went,
                        f->facts.came + f->facts.went == 1 ? "" : "s",
                        f->facts.came ? "came" : "went",
                        f->facts.came + f->facts.went == 1 ? "is" : "are", turns.switches);
        stet_finding_drop(f, STET_REASON_GRAPH_CHANGE);
        stet_finding_drop(f, STET_REASON_DONATION_CHANGE);
        return;
    }
    /* Ran once, and never again after the one with more arguments came. */
    if (f->facts.came > f->facts.went && first->executions == 1 && turns.known &&
        turns.others == turns.others_before && turns.mine > 1 && (!s->step_known || s->step <= 2)) {
        stet_finding_is(h, f, STET_REASON_OPTIMIZER_STATE_INIT, STET_SURE_CERTAIN, false,
                        "the program without the %u argument%s that came ran once, this one %llu "
                        "times after it",
                        f->facts.came, f->facts.came == 1 ? "" : "s",
                        (unsigned long long)s->executions);
        f->also_count = 0;
        f->benign = true;
    }
}
