/* Arguments that were added: state created by the first step, gradients to add to. */
#include "explain/history_internal.h"

static bool made_by_first(const struct stet_finding *f, const struct stet_turns *turns)
{
    return turns->others_before == 1 && f->facts.made == f->facts.came;
}

/* PyTorch/XLA passes Python numbers as arguments, except 0 and 1, which it compiles in: the same
 * operations with one number less or more. A number that only scales what is written back over
 * donated arguments is the optimizer's. */
static bool special_number(struct stet_history *h, struct stet_finding *f)
{
    uint32_t moved = f->facts.came + f->facts.went;

    const char *when = !f->facts.came ? "now" : !f->facts.went ? "no more" : "now, or no more";

    if (stet_sighting_of(h, f)->traits->framework != STET_FRAMEWORK_TORCH_XLA ||
        f->pair != STET_CAUSE_OPTIONAL_KEY || f->facts.scalars != moved || !f->facts.only_arguments)
        return false;
    if (f->facts.updates == moved)
        stet_finding_hear(
            h, f, STET_ANSWER(OPTIMIZER_SCALAR, PROGRAMS, CERTAIN),
            "%u number%s that scale%s the update of the parameters %s 0 or 1 %s: those "
            "two are compiled in, others are passed",
            moved, moved == 1 ? "" : "s", moved == 1 ? "s" : "", moved == 1 ? "is" : "are", when);
    else
        stet_finding_hear(h, f, STET_ANSWER(BAKED_CONSTANT, PROGRAMS, LIKELY),
                          "%u number%s %s 0 or 1 %s: those two are compiled in, others are passed",
                          moved, moved == 1 ? "" : "s", moved == 1 ? "is" : "are", when);
    return true;
}

/* A single number that each turn adds to, and that begins as a Python number: the first turn has it
 * compiled in. Gradients are added to arrays like the parameters. */
static bool sum_from_number(struct stet_history *h, struct stet_finding *f)
{
    uint32_t moved = f->facts.came + f->facts.went;

    if (!f->facts.accumulates || f->facts.scalars != moved)
        return false;
    if (stet_sighting_of(h, f)->traits->framework != STET_FRAMEWORK_TORCH_XLA)
        return true;
    stet_finding_hear(
        h, f, STET_ANSWER(BAKED_CONSTANT, PROGRAMS, LIKELY),
        "%u number%s that %s added to in each turn begin%s as a Python number, which is "
        "compiled in; later turns pass a tensor",
        moved, moved == 1 ? "" : "s", moved == 1 ? "is" : "are", moved == 1 ? "s" : "");
    f->also_count = 0;
    f->fix_text = "Begin the sum with a tensor on the device (torch.zeros((), device=device)) "
                  "instead of a Python 0.";
    return true;
}

/* Gradients that begin as zeros are constants of the first program alone. */
static bool begins_once(const struct stet_finding *f, const struct stet_sighting *first,
                        const struct stet_turns *turns)
{
    return turns->known && f->facts.came && first->executions == 1 && turns->switches == 1 &&
           turns->others == turns->others_before && turns->mine > 1;
}

void stet_evidence_state(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_sighting *first;
    struct stet_turns turns;

    if (f->against == STET_NONE || !(f->facts.came || f->facts.went) ||
        (f->pair != STET_CAUSE_OPTIONAL_KEY && f->pair != STET_CAUSE_PYTHON_LOOP))
        return;
    if (sum_from_number(h, f) || special_number(h, f))
        return;
    first = &h->sightings[f->against];
    turns = stet_turns_of(h, f);
    if (f->facts.accumulates && (f->facts.came == 0) != (f->facts.went == 0) &&
        !begins_once(f, first, &turns)) {
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){STET_CAUSE_GRAD_CREATE_ACCUMULATE, .rests = STET_RESTS_RUN,
                                         .sure = turns.switches >= 3 ? STET_SURE_CERTAIN
                                                                     : STET_SURE_LIKELY},
            "%u %s argument%s %s only added to a result; the two programs alternated %u time%s",
            f->facts.came + f->facts.went, f->facts.came ? "new" : "removed",
            f->facts.came + f->facts.went == 1 ? "" : "s",
            f->facts.came + f->facts.went == 1 ? "is" : "are", turns.switches,
            turns.switches == 1 ? "" : "s");
        stet_finding_drop(f, STET_CAUSE_GRAPH_CHANGE);
        stet_finding_drop(f, STET_CAUSE_DONATION_CHANGE);
        return;
    }
    /* Ran once, and never again after the one with more arguments appeared; others may appear after
     * that only if the added arguments are what the first one created. */
    if (f->facts.came > f->facts.went && first->executions == 1 && turns.known &&
        (turns.others == turns.others_before || made_by_first(f, &turns)) && turns.mine > 1 &&
        (!s->step_known || s->step <= 2)) {
        stet_finding_hear(h, f, STET_ANSWER(OPTIMIZER_STATE_INIT, RUN, CERTAIN),
                          "the program without the %u new argument%s ran once, this one %llu times "
                          "after it",
                          f->facts.came, f->facts.came == 1 ? "" : "s",
                          (unsigned long long)s->executions);
        f->also_count = 0;
    }
}
