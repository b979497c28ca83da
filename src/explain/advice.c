/* The numbers behind evidence and fix, as fields for programs: one JSON object per finding. */
#include "explain/history_internal.h"

#include "base/json.h"

/* Would one bounded dimension have absorbed the sizes, and what prevents it? */
static void bounded(struct stet_json *j, const struct stet_facts *f)
{
    stet_json_object(j, "bounded");
    stet_json_bool(j, "absorbs", !f->forbids.len);
    if (f->forbids.len) {
        stet_json_string(j, "operation", f->forbids);
        stet_json_string(j, "why", f->forbids_why);
        stet_json_told(j, "file", f->forbids_at.line ? f->forbids_at.file : (struct stet_view){0});
        stet_json_known(j, "line", f->forbids_at.line != 0, f->forbids_at.line);
    }
    stet_json_end_object(j);
}

static void alone(struct stet_json *j, const struct stet_sighting *s,
                  const struct stet_alone *causes, uint32_t count)
{
    stet_json_array(j, "alone");
    for (uint32_t i = 0; i < count; i++) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "class", stet_cause_id(causes[i].cause));
        stet_json_uint(j, "programs", causes[i].programs);
        stet_json_number(j, "wait_s", (double)causes[i].programs * (double)s->wait_ns / 1e9);
        stet_json_number(j, "cost_s", (double)causes[i].programs * (double)s->cost_ns / 1e9);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void buckets(struct stet_json *j, const struct stet_size_runs *s)
{
    stet_json_array(j, "sizes");
    for (uint32_t i = 0; i < s->listed; i++) {
        stet_json_object(j, NULL);
        stet_json_int(j, "size", s->sizes[i]);
        stet_json_number(j, "runs", s->runs[i]);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "buckets");
    for (uint32_t i = 0; i < s->set_count; i++) {
        stet_json_object(j, NULL);
        stet_json_array(j, "sizes");
        for (uint32_t k = 0; k < s->sets[i].count; k++)
            stet_json_int(j, NULL, s->sets[i].sizes[k]);
        stet_json_end_array(j);
        stet_json_number(j, "padding", s->sets[i].padding);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void moved(struct stet_json *j, const struct stet_finding *f)
{
    stet_json_array(j, "values");
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        stet_json_object(j, NULL);
        stet_json_cstr(j, "scope", stet_journal_value_scope_name(m->scope));
        stet_json_string(j, "name", m->path);
        stet_json_string(j, "from", m->from);
        stet_json_string(j, "to", m->to);
        if (m->static_argument)
            stet_json_bool(j, "static", true);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_advice_write(struct stet_history *h, struct stet_finding *f)
{
    bool drifts = f->cause == STET_CAUSE_SHAPE_DRIFT && f->facts.bounded_known;
    const struct stet_size_runs *sizes = stet_fixes_sizes(h, f);
    struct stet_alone causes[STET_ALSO_MOST + 1];
    uint32_t count = stet_alone_of(h, f, causes);
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    if (f->outside)
        return; /* storms.c wrote it */
    f->advice = (struct stet_view){0};
    if (!drifts && !sizes && !count && !f->moved_count)
        return;
    stet_json_init(&j, &out);
    stet_json_object(&j, NULL);
    if (drifts)
        bounded(&j, &f->facts);
    if (sizes)
        buckets(&j, sizes);
    if (f->moved_count)
        moved(&j, f);
    if (count)
        alone(&j, stet_sighting_of(h, f), causes, count);
    stet_json_end_object(&j);
    if (!out.failed)
        f->advice = stet_arena_copy(&h->arena, stet_buf_as_view(&out));
    stet_buf_release(&out);
}
