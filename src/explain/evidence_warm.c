/* What belongs to the beginning of a run, or repeats an earlier one, alarms nobody. */
#include "explain/history_internal.h"

void stet_evidence_bundle(struct stet_history *h, struct stet_finding *f)
{
    (void)h;
    (void)f;
}

void stet_evidence_warm(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t loop = s->process < h->judge->process_count ? h->judge->warm[s->process] : 0;

    /* Operations outside any jitted function, before the loop: initial values of many shapes. */
    if (f->reason < STET_REASONS && stet_history_is_eager(s) && loop && f->sighting < loop - 1)
        f->benign = true;
}
