/* stet.explain/1. */
#include "cli/explain.h"

#include "base/json.h"

static const char *const served_names[] = {"compiled", "memory", "disk", "remote", "lifted"};

static void json_text(struct stet_json *j, const char *key, struct stet_view v)
{
    if (v.ptr)
        stet_json_string(j, key, v);
    else
        stet_json_null(j, key);
}

static void json_place(struct stet_json *j, const char *key, const struct stet_place *p)
{
    if (!p->line) {
        stet_json_null(j, key);
        return;
    }
    stet_json_object(j, key);
    stet_json_string(j, "file", p->file);
    stet_json_uint(j, "line", p->line);
    stet_json_string(j, "function", p->function);
    stet_json_end_object(j);
}

static void json_change(struct stet_json *j, const struct stet_told *c)
{
    stet_json_object(j, NULL);
    stet_json_string(j, "what", c->what);
    json_text(j, "from", c->from);
    json_text(j, "to", c->to);
    json_text(j, "file", c->place.line ? c->place.file : (struct stet_view){0});
    if (c->place.line)
        stet_json_uint(j, "line", c->place.line);
    else
        stet_json_null(j, "line");
    stet_json_cstr(j, "kind", stet_change_name(c->kind));
    if (c->facet < STET_FACETS)
        stet_json_cstr(j, "facet", stet_facet_name((enum stet_facet)c->facet));
    if (c->follows < STET_FACETS)
        stet_json_cstr(j, "follows", stet_facet_name((enum stet_facet)c->follows));
    stet_json_uint(j, "count", c->count);
    stet_json_end_object(j);
}

static void json_hash(struct stet_json *j, const char *key, struct stet_hash h)
{
    char text[STET_HASH_TEXT];

    stet_hash_format(h, text);
    stet_json_cstr(j, key, text);
}

static void json_head(struct stet_json *j, const struct stet_sighting *s)
{
    stet_json_uint(j, "compile", s->index);
    if (s->rank >= 0)
        stet_json_int(j, "rank", s->rank);
    else
        stet_json_null(j, "rank");
    stet_json_uint(j, "process", s->process);
    if (s->step_known)
        stet_json_uint(j, "step", s->step);
    else
        stet_json_null(j, "step");
    stet_json_cstr(j, "lane", "xla");
}

static void json_memory(struct stet_json *j, const struct stet_history *h,
                        const struct stet_finding *f)
{
    const struct stet_sighting *s = &h->sightings[f->sighting];
    const struct stet_sighting *a = f->against == STET_NONE ? NULL : &h->sightings[f->against];

    if (!s->has_memory)
        return;
    stet_json_uint(j, "temp_bytes", s->temp_bytes);
    if (a && a->has_memory)
        stet_json_int(j, "temp_bytes_more", (int64_t)s->temp_bytes - (int64_t)a->temp_bytes);
}

static void json_finding(struct stet_json *j, const struct stet_history *h,
                         const struct stet_finding *f)
{
    const struct stet_sighting *s = &h->sightings[f->sighting];

    stet_json_object(j, NULL);
    json_head(j, s);
    stet_json_cstr(j, "class", stet_reason_name(f->reason));
    stet_json_array(j, "also");
    for (uint32_t i = 0; i < f->also_count; i++)
        stet_json_cstr(j, NULL, stet_reason_name(f->also[i]));
    stet_json_end_array(j);
    stet_json_string(j, "function", s->traits->function);
    json_hash(j, "program", s->program);
    if (f->against == STET_NONE)
        stet_json_null(j, "against");
    else
        json_hash(j, "against", h->sightings[f->against].program);
    json_place(j, "origin", &f->origin);
    json_place(j, "trigger", &s->trigger);
    stet_json_array(j, "changes");
    for (uint32_t i = 0; i < f->change_count; i++)
        json_change(j, &f->changes[i]);
    stet_json_end_array(j);
    stet_json_number(j, "cost_s", (double)s->cost_ns / 1e9);
    stet_json_cstr(j, "served", served_names[s->served < 5 ? s->served : 0]);
    stet_json_bool(j, "benign", f->benign);
    stet_json_cstr(j, "sure", stet_sure_name(f->sure));
    stet_json_string(j, "evidence", f->evidence);
    json_memory(j, h, f);
    stet_json_string(j, "fix", f->fix);
    stet_json_end_object(j);
}

static void json_settled(struct stet_json *j, const struct stet_explained *x)
{
    struct stet_settled s = stet_settled_of(x);

    stet_json_object(j, "settled");
    if (s.settled)
        stet_json_uint(j, "step", s.step);
    else
        stet_json_null(j, "step");
    stet_json_uint(j, "programs", s.programs);
    if (s.why)
        stet_json_cstr(j, "why", s.why);
    stet_json_end_object(j);
}

static void json_questions(struct stet_json *j, const struct stet_explained *x)
{
    struct stet_answer answers[STET_QUESTIONS];

    stet_questions_answer(&x->history, answers);
    stet_json_object(j, "questions");
    for (int q = 0; q < STET_QUESTIONS; q++) {
        stet_json_object(j, stet_question_key((enum stet_question)q));
        stet_json_bool(j, "answer", answers[q].yes);
        stet_json_uint(j, "recompiles", answers[q].count);
        if (answers[q].first)
            stet_json_string(j, "evidence", answers[q].first->evidence);
        else
            stet_json_null(j, "evidence");
        stet_json_end_object(j);
    }
    stet_json_end_object(j);
}

void stet_explain_json(struct stet_buf *out, const struct stet_explained *x)
{
    const struct stet_history *h = &x->history;
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.explain/1");
    stet_json_cstr(&j, "run", x->run);
    json_settled(&j, x);
    json_questions(&j, x);
    stet_json_uint(&j, "compiles", x->digest.compiles);
    stet_json_number(&j, "compile_s", (double)x->digest.compile_ns / 1e9);
    stet_json_array(&j, "recompiles");
    for (uint32_t i = 0; i < h->finding_count; i++)
        if (h->findings[i].reason < STET_REASONS)
            json_finding(&j, h, &h->findings[i]);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
