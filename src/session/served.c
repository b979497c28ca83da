/* Counts the served executables in a run's digest. */
#include "session/served.h"

#include <inttypes.h>

static void add(struct stet_served_tally *t, struct stet_view name, enum stet_served served)
{
    size_t i = 0;

    while (i < t->places && !stet_view_eq(t->name[i], name))
        i++;
    if (i == STET_PLACES)
        return;
    t->places += i == t->places;
    t->name[i] = name;
    t->served[i] = served;
    t->count[i]++;
}

static bool is_elsewhere(const struct stet_compile_event *c)
{
    return c->served && (c->tier.len || c->served == STET_SERVED_REMOTE);
}

void stet_session_served_count(struct stet_served_tally *t, const struct stet_run_digest *d)
{
    *t = (struct stet_served_tally){0};
    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            if (c->load || !c->ended || c->error_code)
                continue;
            t->elsewhere += is_elsewhere(c);
            if (c->served)
                add(t, c->tier.len ? c->tier : stet_view_str(stet_journal_served_word(c->served)),
                    c->served);
            else
                t->compiled++;
        }
    }
}

void stet_session_served_unkept(struct stet_served_tally *t, const struct stet_run_digest *d)
{
    *t = (struct stet_served_tally){0};
    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            if (c->load || !c->ended || c->error_code || c->served || c->stored || !c->outcome ||
                c->outcome == STET_OUTCOME_KEPT_ALREADY)
                continue;
            /* writing or serialising the executable failed */
            add(t, stet_journal_outcome_keeps(c->outcome) ? STET_VIEW("not-written") : c->store,
                STET_SERVED_COMPILED);
        }
    }
}

void stet_session_served_text(struct stet_buf *out, const struct stet_run_digest *d)
{
    struct stet_served_tally t;

    stet_session_served_count(&t, d);
    for (size_t i = 0; i < t.places; i++)
        stet_buf_printf(out, ", %" PRIu64 " %s%.*s", t.count[i],
                        t.served[i] == STET_SERVED_LIFTED ? "" : "from ", STET_FMT(t.name[i]));
}

void stet_served_tally_json(struct stet_json *j, const struct stet_served_tally *t)
{
    for (size_t i = 0; i < t->places; i++) {
        char name[32] = "";
        size_t n = t->name[i].len < sizeof name ? t->name[i].len : sizeof name - 1;

        memcpy(name, t->name[i].ptr, n);
        stet_json_uint(j, name, t->count[i]);
    }
}

void stet_session_served_json(struct stet_json *j, const struct stet_run_digest *d)
{
    struct stet_served_tally t;

    stet_session_served_count(&t, d);
    stet_json_uint(j, "compiled", t.compiled);
    stet_served_tally_json(j, &t);
}
