/* Writes stories as JSON. */
#include "story/story.h"

#include "base/json.h"

static void values(struct stet_json *j, const struct stet_story *t)
{
    stet_json_array(j, "values");
    for (size_t i = 0; i < t->value_count; i++) {
        const struct stet_story_value *v = &t->values[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "what", v->what);
        stet_json_array(j, "seen");
        for (size_t k = 0; k < v->count; k++)
            stet_json_string(j, NULL, v->seen[k]);
        stet_json_end_array(j);
        if (v->more)
            stet_json_uint(j, "more", v->more);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void counts(struct stet_json *j, const struct stet_story *t)
{
    stet_json_object(j, "events");
    for (int i = 0; i < STET_ROW_EVENTS; i++)
        if (t->events[i])
            stet_json_uint(j, stet_ledger_event_word((enum stet_row_event)i), t->events[i]);
    stet_json_end_object(j);
    stet_json_number(j, "wait_s", (double)t->wait_ns / 1e9);
    stet_json_number(j, "compiler_s", (double)t->cost_ns / 1e9);
    stet_json_known(j, "first_step", t->steps_known, t->first_step);
    stet_json_known(j, "last_step", t->steps_known, t->last_step);
}

static void one(struct stet_json *j, const struct stet_story *t)
{
    stet_json_object(j, NULL);
    stet_json_cstr(j, "cause", stet_cause_id(t->cause));
    stet_json_array(j, "also");
    for (uint32_t i = 0; i < t->also.count; i++)
        stet_json_cstr(j, NULL, stet_cause_id(t->also.items[i]));
    stet_json_end_array(j);
    stet_json_bool(j, "benign", t->benign);
    stet_json_array(j, "functions");
    for (size_t i = 0; i < t->function_count; i++)
        stet_json_string(j, NULL, t->functions[i]);
    stet_json_end_array(j);
    stet_json_array(j, "recompiles");
    for (size_t i = 0; i < t->count; i++)
        stet_json_uint(j, NULL, t->recompiles[i]);
    stet_json_end_array(j);
    counts(j, t);
    stet_recompile_line_json(j, "source", &t->source);
    stet_recompile_line_json(j, "origin", &t->lead.origin);
    stet_recompile_line_json(j, "trigger", &t->lead.trigger);
    stet_json_cstr(j, "confidence", stet_sure_name(t->lead.sure));
    stet_json_string(j, "evidence", t->lead.evidence);
    values(j, t);
    stet_json_string(j, "fix", t->lead.fix);
    stet_json_end_object(j);
}

void stet_story_json(struct stet_json *j, const struct stet_stories *s)
{
    stet_json_array(j, "stories");
    for (size_t i = 0; i < s->count; i++)
        one(j, &s->items[i]);
    stet_json_end_array(j);
}
