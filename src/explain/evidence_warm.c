/* What belongs to the beginning of a run, or repeats an earlier one, alarms nobody. */
#include "explain/history_internal.h"

/* A function that says it warms up compiles on purpose. */
static bool is_on_purpose(const struct stet_place *trigger)
{
    static const char *const words[] = {"warm", "precompile", "Warm"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (trigger->function.len &&
            memmem(trigger->function.ptr, trigger->function.len, words[i], strlen(words[i])))
            return true;
    return false;
}

void stet_evidence_warm(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t loop = s->process < h->judge->process_count ? h->judge->warm[s->process] : 0;

    /* Operations outside any jitted function, before the loop: initial values of many shapes. */
    if (f->reason < STET_REASONS && stet_history_is_eager(s) && loop && f->sighting < loop - 1)
        f->benign = true;
    if (f->reason < STET_REASONS && is_on_purpose(&s->trigger))
        f->benign = true;
}
