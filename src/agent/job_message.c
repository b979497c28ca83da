/* Messages between the ranks of a job (src/pod), for ranks that have no other channel: they are
 * kept in the first tier that may be written. They are no entries: nothing is loaded from them, so
 * they are not signed. */
#include "agent/internal.h"

enum { WAIT_MS = 2000 };

static struct stet_tier *tier_for(struct stet_agent *a)
{
    for (size_t i = 0; i < a->tiers.count; i++) {
        if (!a->tiers.items[i].read_only)
            return &a->tiers.items[i];
    }
    return NULL;
}

uint32_t stet_agent_job_message(struct stet_agent *a, const struct stet_message *m,
                                struct stet_buf *text)
{
    const struct stet_tier_name name = {.key = m->key, .what = STET_TIER_MESSAGE};
    struct stet_tier *t = tier_for(a);
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc;

    text->cap = STET_WIRE_MAX / 4; /* a text of an answer */
    if (!t) {
        stet_buf_str(text, "there is no tier that may be written");
        return STET_MESSAGE_BROKEN;
    }
    if (m->kind == STET_MESSAGE_JOB_PUT)
        rc = stet_agent_tier_put(t, &name, m->text, "", false, &err);
    else
        rc = stet_agent_tier_get(t, &name, text, stet_wire_now_ms() + WAIT_MS, &err);
    if (rc == STET_OK)
        return m->kind == STET_MESSAGE_JOB_PUT ? STET_MESSAGE_OKAY : STET_MESSAGE_TEXT;
    text->len = 0;
    if (rc == STET_NOT_FOUND)
        return m->kind == STET_MESSAGE_JOB_PUT ? STET_MESSAGE_TAKEN : STET_MESSAGE_NOTHING;
    stet_buf_printf(text, "%.*s: %s", STET_FMT(t->shown), err.text);
    return STET_MESSAGE_BROKEN;
}
