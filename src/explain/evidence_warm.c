/* Recompiles that belong to the beginning of a run, or repeat an earlier one, raise no alarm. */
#include "explain/history_internal.h"

/* Each finding looks only at this many programs of its group. */
enum { MOST_LOOKED_AT = 1024 };

/* An operation outside any jitted function is reported from this turn of the loop on. */
enum { TURNS_TOLD = 3 };
/* If no function looped in the whole run, this many programs of one line count as turns. */
enum { PROGRAMS_TOLD = 5 };
/* Changes between one program and the others of its line: there and back, twice. */
enum { SWITCHES_OF_TWO_USES = 4 };

static uint32_t number_in_group(const struct stet_history *h, uint32_t at)
{
    uint32_t n = 0;

    while ((at = h->sightings[at].before) != STET_NONE && n < MOST_LOOKED_AT)
        n++;
    return n;
}

/* Had the loop's own function run more than once before this program did? */
static bool in_first_turn(const struct stet_history *h, const struct stet_finding *f, uint32_t loop)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_order *o = s->process < h->order_count ? &h->orders[s->process] : NULL;
    uint32_t ran = 0;

    for (size_t i = 0; o && i < o->count && o->items[i] != f->sighting && ran < 2; i++)
        ran +=
            o->items[i] != STET_NONE && h->sightings[o->items[i]].group == h->sightings[loop].group;
    return o && ran < 2;
}

bool stet_history_is_other_object(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_sighting *was = f->against == STET_NONE ? NULL : &h->sightings[f->against];

    return was && !was->past && was->process == s->process && !stet_history_is_eager(s) &&
           s->object && was->object && s->object != was->object && f->pair != STET_CAUSE_IDENTICAL;
}

/* Was the same program compiled again later, for another object of its function? */
static bool comes_back(const struct stet_history *h, uint32_t sighting)
{
    for (uint32_t i = 0; i < h->finding_count; i++)
        if (h->findings[i].against == sighting && h->findings[i].pair == STET_CAUSE_IDENTICAL)
            return true;
    return false;
}

/* Two functions of one definition, as a table of lambdas or a loop over settings has them: both run
 * in each turn, or both are compiled again in each. Neither is a new version of the other. */
static bool is_other_function(const struct stet_history *h, const struct stet_finding *f)
{
    uint64_t mine = stet_sighting_of(h, f)->executions, others;
    struct stet_turns turns;

    if (!stet_history_is_other_object(h, f))
        return false;
    turns = stet_turns_of(h, f);
    others = h->sightings[f->against].executions;
    if (turns.known && turns.mine > 1 && turns.regular && mine <= others + 1 && others <= mine + 1)
        return true;
    return comes_back(h, f->sighting) && comes_back(h, f->against);
}

/* Two operations of one line, as TorchTPU compiles them outside torch.compile: one turn needs both.
 * How often each runs shows nothing, because other lines run the same programs. Where the steps of
 * the run are not known, two that alternate are two uses. */
static bool is_beside(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_sighting *was = f->against == STET_NONE ? NULL : &h->sightings[f->against];
    struct stet_turns turns;

    if (!was || was->past || was->process != s->process || !stet_history_needs_steps(s))
        return false;
    if (s->step_known && was->step_known)
        return s->step == was->step;
    turns = stet_turns_of(h, f);
    return turns.known && turns.switches >= SWITCHES_OF_TWO_USES;
}

bool stet_history_needs_steps(const struct stet_sighting *s)
{
    return s->traits->framework == STET_FRAMEWORK_TORCH_TPU && stet_history_is_eager(s);
}

/* A line that runs once, before the loop: a warm-up that is written out. */
static bool is_of_start(struct stet_history *h, const struct stet_finding *f, uint32_t loop)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (stet_history_is_eager(s) || !loop || f->sighting >= loop - 1 || f->against == STET_NONE ||
        !s->lines.count || stet_place_eq(&s->trigger, &h->sightings[f->against].trigger))
        return false;
    for (size_t i = 0; i < s->lines.count; i++)
        if (stet_python_loop_of_line(&h->sources, s->lines.items[i].file,
                                     (uint32_t)s->lines.items[i].line))
            return false;
    return true;
}

void stet_evidence_warm(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t loop = stet_history_loop(h, s->process);

    if (f->cause == STET_CAUSE_NONE)
        return;
    /* Operations outside any jitted function, before the loop: initial values of many shapes. */
    if (stet_history_is_eager(s) && loop &&
        (f->sighting < loop - 1 || in_first_turn(h, f, loop - 1)))
        f->benign = true;
    /* An expression over parts of many shapes compiles one program for each, once. Only a line that
     * goes on compiling as the loop turns is reported. */
    if (stet_history_is_eager(s) && s->library && !f->facts.first &&
        (loop ? stet_turns_compiled(h, f, TURNS_TOLD) < TURNS_TOLD
              : !h->whole || number_in_group(h, f->sighting) < PROGRAMS_TOLD))
        f->benign = true;
    /* Without a line, two uses of such an operation cannot be distinguished. */
    if (stet_history_is_eager(s) && !s->traits->line_count)
        f->benign = true;
    if (!stet_history_is_eager(s) && stet_history_is_ahead(h, f))
        f->benign = true;
    if (is_other_function(h, f) || is_beside(h, f) || is_of_start(h, f, loop))
        f->benign = true;
}
