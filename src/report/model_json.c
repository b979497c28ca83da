/* Writes the model as stet.report/1: lists as columns and texts by number, so that a page of
 * 100,000 events opens fast. docs/report.md describes it. */
#include "report/model.h"

#include "base/excerpt.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void text_or_null(struct stet_json *j, const char *key, struct stet_view v)
{
    if (v.ptr)
        stet_json_string(j, key, v);
    else
        stet_json_null(j, key);
}

static void lane(struct stet_json *j, bool torch)
{
    stet_json_cstr(j, "lane", stet_journal_lane_word(torch ? STET_LANE_TORCH : STET_LANE_XLA));
}

/* Names and lists have STET_INTERN_NONE for "none"; the page has -1. */
static void number(struct stet_json *j, const char *key, uint32_t v)
{
    stet_json_int(j, key, v == STET_INTERN_NONE ? -1 : (int64_t)v);
}

/* The page's time begins at the earliest known moment. */
static uint64_t begin_of(const struct stet_report_run *r)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < r->event_count; i++)
        if (r->events[i].time_ns && r->events[i].time_ns < first)
            first = r->events[i].time_ns;
    for (size_t i = 0; i < r->process_count; i++)
        if (r->processes[i].mark_count && r->processes[i].marks[0].wall_ns < first)
            first = r->processes[i].marks[0].wall_ns;
    if (first == UINT64_MAX || (r->run->started_ns && r->run->started_ns < first &&
                                first - r->run->started_ns < (uint64_t)86400 * 1000000000))
        first = r->run->started_ns;
    return first;
}

/* ---- the run as a whole ---- */

static void totals(struct stet_json *j, const struct stet_report_run *r)
{
    uint32_t processes;
    double share = stet_report_share(r, &processes);

    stet_json_object(j, "totals");
    stet_json_uint(j, "compiles", r->compiles);
    stet_json_number(j, "compile_s", seconds(r->compile_ns));
    stet_json_uint(j, "torch_compiles", r->torch_compiles);
    stet_json_number(j, "torch_compile_s", seconds(r->torch_ns));
    stet_json_uint(j, "loads", r->loads);
    stet_json_uint(j, "failed", r->failed);
    stet_json_uint(j, "executions", r->executions);
    stet_json_uint(j, "programs", r->distinct);
    stet_json_uint(j, "recompiles", r->recompiles);
    stet_json_uint(j, "harmless", r->harmless);
    stet_json_number(j, "wait_s", seconds(r->wait_ns));
    stet_json_number(j, "lost_s", seconds(r->lost_ns));
    if (share >= 0)
        stet_json_number(j, "wait_share", share);
    else
        stet_json_null(j, "wait_share");
    stet_json_uint(j, "undecoded", r->undecoded);
    stet_json_end_object(j);
    stet_json_object(j, "settled");
    stet_json_known(j, "step", r->settled, r->settled_step);
    text_or_null(j, "why", stet_view_str(stet_unsettled_text(r->unsettled)));
    stet_json_end_object(j);
}

static void startup(struct stet_json *j, const struct stet_report_run *r)
{
    const struct stet_startup *s = &r->startup;

    if (!r->starts) {
        stet_json_null(j, "startup");
        return;
    }
    stet_json_object(j, "startup");
    stet_json_number(j, "total_s", seconds(s->total_ns));
#define PART(name, what) stet_json_number(j, #name "_s", seconds(s->name##_ns));
#include "ledger/startup.def"
#undef PART
    stet_json_uint(j, "programs", s->programs);
    stet_json_uint(j, "process", s->process);
    stet_json_end_object(j);
}

static void questions(struct stet_json *j, const struct stet_report_run *r)
{
    stet_json_array(j, "questions");
    for (int i = 0; i < STET_REPORT_QUESTIONS; i++) {
        const struct stet_report_question *q = &r->questions[i];

        stet_json_object(j, NULL);
        stet_json_cstr(j, "key", q->key);
        stet_json_cstr(j, "text", q->text);
        stet_json_uint(j, "recompiles", q->answer.count);
        stet_json_uint(j, "beside", q->answer.beside);
        text_or_null(j, "class",
                     stet_answer_yes(&q->answer) ? stet_view_str(stet_cause_id(q->answer.cause))
                                                 : (struct stet_view){0});
        text_or_null(j, "evidence",
                     stet_answer_yes(&q->answer) ? stet_view_str(q->answer.evidence)
                                                 : (struct stet_view){0});
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void saved(struct stet_json *j, const struct stet_report_run *r)
{
    stet_json_array(j, "saved");
    for (int i = 1; i < STET_SERVED_COUNT; i++) {
        const struct stet_avoided_sum *s = &r->served[i];

        if (!s->compiles)
            continue;
        stet_json_object(j, NULL);
        stet_json_cstr(j, "served", stet_journal_served_word((enum stet_served)i));
        stet_json_uint(j, "times", s->compiles);
        stet_json_number(j, "load_s", seconds(s->took_ns));
        stet_json_uint(j, "known", s->known);
        stet_json_number(j, "compile_s", seconds(s->instead_ns));
        stet_json_number(j, "saved_s", seconds(s->instead_ns) - seconds(s->took_ns));
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    if (r->avoided_json.len)
        stet_json_raw(j, "not_compiled", stet_buf_as_view(&r->avoided_json));
}

static void processes(struct stet_json *j, const struct stet_report_run *r, uint64_t begin)
{
    stet_json_array(j, "processes");
    for (size_t i = 0; i < r->process_count; i++) {
        const struct stet_report_process *p = &r->processes[i];

        stet_json_object(j, NULL);
        lane(j, p->torch);
        stet_json_uint(j, "pid", p->pid);
        stet_json_string(j, "host", p->host);
        stet_json_known(j, "rank", p->rank >= 0, (uint64_t)p->rank);
        stet_json_string(j, "python", p->python);
        stet_json_string(j, "plugin", p->plugin);
        stet_json_string(j, "platform", p->platform);
        stet_json_uint(j, "devices", p->devices);
        stet_json_known(j, "steps", p->steps_known, p->steps);
        stet_json_cstr(j, "steps_why", p->steps_why);
        stet_json_uint(j, "executions", p->executions);
        stet_json_uint(j, "to_device_bytes", p->to_device_bytes);
        stet_json_uint(j, "to_host_bytes", p->to_host_bytes);
        stet_json_array(j, "steps_done");
        for (size_t k = 0; k < p->mark_count; k++) {
            uint64_t at = p->marks[k].wall_ns;

            stet_json_array(j, NULL);
            stet_json_uint(j, NULL, p->marks[k].step);
            stet_json_number(j, NULL, seconds(at > begin ? at - begin : 0));
            stet_json_end_array(j);
        }
        stet_json_end_array(j);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void devices(struct stet_json *j, const struct stet_report_run *r, uint64_t begin)
{
    stet_json_array(j, "devices");
    for (size_t i = 0; i < r->device_count; i++) {
        const struct stet_report_device *d = &r->devices[i];

        stet_json_object(j, NULL);
        stet_json_uint(j, "process", d->process);
        stet_json_uint(j, "device", d->device);
        stet_json_uint(j, "limit_bytes", d->limit);
        stet_json_array(j, "samples"); /* seconds, bytes in use, highest so far */
        for (size_t k = 0; k < d->count; k++) {
            const struct stet_report_sample *s = &d->samples[k];

            stet_json_array(j, NULL);
            stet_json_number(j, NULL, seconds(s->time_ns > begin ? s->time_ns - begin : 0));
            stet_json_uint(j, NULL, s->in_use);
            stet_json_uint(j, NULL, s->peak);
            stet_json_end_array(j);
        }
        stet_json_end_array(j);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

/* ---- events ---- */

#define COLUMN(j, r, name, ...)                                                                    \
    do {                                                                                           \
        stet_json_array((j), (name));                                                              \
        for (size_t i_ = 0; i_ < (r)->event_count; i_++) {                                         \
            const struct stet_report_event *e = &(r)->events[i_];                                  \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        stet_json_end_array(j);                                                                    \
    } while (0)

/* Times in microseconds: exact, and short to write. */
static void events(struct stet_json *j, const struct stet_report_run *r, uint64_t begin)
{
    stet_json_object(j, "events");
    COLUMN(j, r, "process", stet_json_uint(j, NULL, e->process));
    COLUMN(
        j, r, "at_us",
        stet_json_int(j, NULL, e->time_ns ? (int64_t)((e->time_ns - begin) / 1000) : (int64_t)-1));
    COLUMN(j, r, "wait_us", stet_json_uint(j, NULL, e->wait_ns / 1000));
    COLUMN(j, r, "cost_us", stet_json_uint(j, NULL, e->cost_ns / 1000));
    COLUMN(j, r, "step", stet_json_int(j, NULL, e->step_known ? (int64_t)e->step : -1));
    COLUMN(j, r, "family", number(j, NULL, e->family));
    COLUMN(j, r, "program", number(j, NULL, e->program));
    COLUMN(j, r, "cause", stet_json_int(j, NULL, e->cause));
    COLUMN(j, r, "kind", stet_json_uint(j, NULL, e->kind));
    COLUMN(j, r, "served", stet_json_uint(j, NULL, e->served));
    COLUMN(j, r, "temp_bytes", stet_json_int(j, NULL, e->has_memory ? (int64_t)e->temp_bytes : -1));
    COLUMN(j, r, "executions", stet_json_uint(j, NULL, e->executions));
    stet_json_end_object(j);
}

static void programs(struct stet_json *j, const struct stet_report_run *r)
{
    stet_json_object(j, "programs");
    stet_json_array(j, "hash"); /* its beginning: enough for `stet show` and `stet diff` */
    for (uint32_t i = 0; i < r->programs.count; i++)
        stet_json_string(j, NULL, stet_view_of(r->programs.items[i].ptr, 16));
    stet_json_end_array(j);
    stet_json_array(j, "family");
    for (uint32_t i = 0; i < r->programs.count; i++)
        number(j, NULL, r->program_family[i]);
    stet_json_end_array(j);
    stet_json_array(j, "against");
    for (uint32_t i = 0; i < r->programs.count; i++)
        number(j, NULL, r->program_against[i]);
    stet_json_end_array(j);
    stet_json_end_object(j);
    stet_json_array(j, "families");
    for (size_t i = 0; i < r->family_count; i++) {
        stet_json_object(j, NULL);
        number(j, "function", r->families[i].function);
        number(j, "skeleton", r->families[i].skeleton);
        lane(j, r->families[i].torch);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void grids(struct stet_json *j, const struct stet_report_run *r)
{
    stet_json_array(j, "shapes");
    for (size_t i = 0; i < r->grid_count; i++) {
        const struct stet_report_grid *g = &r->grids[i];

        stet_json_object(j, NULL);
        number(j, "function", g->function);
        lane(j, g->torch);
        stet_json_uint(j, "steady", g->steady);
        stet_json_uint(j, "more", g->more);
        stet_json_array(j, "events");
        for (uint32_t k = 0; k < g->columns; k++)
            stet_json_uint(j, NULL, g->events[k]);
        stet_json_end_array(j);
        stet_json_array(j, "rows");
        for (uint32_t k = 0; k < g->row_count; k++) {
            stet_json_object(j, NULL);
            number(j, "name", g->rows[k].name);
            stet_json_array(j, "cells");
            for (uint32_t c = 0; c < g->columns; c++)
                number(j, NULL, g->rows[k].cells[c]);
            stet_json_end_array(j);
            stet_json_end_object(j);
        }
        stet_json_end_array(j);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

/* ---- causes ---- */

enum { AROUND = 3 };

/* The lines around it, if the file is available: [number, text] each. */
static void excerpt(struct stet_json *j, const struct stet_line *at)
{
    uint64_t first = at->line > AROUND ? at->line - AROUND : 1;
    struct stet_buf line = STET_BUF_INIT;

    stet_json_array(j, "excerpt");
    for (uint64_t n = first; n <= at->line + AROUND && n < UINT32_MAX; n++) {
        line.len = 0;
        if (!stet_text_source(&line, at->file, (uint32_t)n))
            break;
        stet_json_array(j, NULL);
        stet_json_uint(j, NULL, n);
        stet_json_string(j, NULL, stet_buf_as_view(&line));
        stet_json_end_array(j);
    }
    stet_json_end_array(j);
    stet_buf_release(&line);
}

static void place(struct stet_json *j, const char *key, const struct stet_line *at)
{
    if (!at->line) {
        stet_json_null(j, key);
        return;
    }
    stet_json_object(j, key);
    stet_json_string(j, "file", at->file);
    stet_json_uint(j, "line", at->line);
    stet_json_string(j, "function", at->function);
    excerpt(j, at);
    stet_json_end_object(j);
}

static void changes(struct stet_json *j, const struct stet_recompile *r)
{
    stet_json_array(j, "changes");
    for (size_t i = 0; i < r->change_count; i++) {
        const struct stet_row_change *c = &r->changes[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "what", c->what);
        text_or_null(j, "from", c->from);
        text_or_null(j, "to", c->to);
        if (c->follows.ptr)
            stet_json_string(j, "follows", c->follows);
        stet_json_uint(j, "count", c->count);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_uint(j, "left_out", r->left_out);
}

static void functions(struct stet_json *j, const struct stet_story *t)
{
    stet_json_told(j, "function",
                   t->function_count && t->functions[0].len ? t->functions[0]
                                                            : (struct stet_view){0});
    stet_json_array(j, "functions");
    for (size_t i = 0; i < t->function_count; i++)
        stet_json_string(j, NULL, t->functions[i]);
    stet_json_end_array(j);
    stet_json_object(j, "events");
    for (int i = 0; i < STET_ROW_EVENTS; i++)
        if (t->events[i])
            stet_json_uint(j, stet_ledger_event_word((enum stet_row_event)i), t->events[i]);
    stet_json_end_object(j);
}

static bool same_line(const struct stet_line *a, const struct stet_line *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file);
}

/* `source` is the line to edit; the others are there when they differ from it. */
static void places(struct stet_json *j, const struct stet_story *t)
{
    const struct stet_line none = {0}, *origin = &t->lead.origin, *trigger = &t->lead.trigger;

    place(j, "source", &t->source);
    place(j, "origin", same_line(origin, &t->source) ? &none : origin);
    place(j, "trigger",
          same_line(trigger, &t->source) || same_line(trigger, origin) ? &none : trigger);
}

static void values(struct stet_json *j, const struct stet_story *t)
{
    const struct stet_story_value *v = t->value_count ? &t->values[0] : NULL;

    stet_json_array(j, "values");
    for (size_t i = 0; v && i < v->count; i++)
        stet_json_string(j, NULL, v->seen[i]);
    stet_json_end_array(j);
    stet_json_uint(j, "more_values", v ? v->more : 0);
}

static void story(struct stet_json *j, const struct stet_story *t)
{
    char also[STET_CAUSE_LIST_TEXT];

    stet_json_object(j, NULL);
    stet_json_cstr(j, "lane", stet_journal_lane_word(t->lead.lane));
    stet_json_cstr(j, "class", stet_cause_id(t->cause));
    stet_json_string(j, "also", stet_cause_list_text(&t->also, also));
    functions(j, t);
    stet_json_bool(j, "benign", t->benign);
    stet_json_uint(j, "times", t->count);
    stet_json_number(j, "wait_s", seconds(t->wait_ns));
    stet_json_number(j, "cost_s", seconds(t->cost_ns));
    stet_json_known(j, "first_step", t->steps_known, t->first_step);
    stet_json_known(j, "last_step", t->steps_known, t->last_step);
    places(j, t);
    changes(j, &t->lead);
    values(j, t);
    stet_json_cstr(j, "sure", stet_sure_name(t->lead.sure));
    stet_json_string(j, "evidence", t->lead.evidence);
    stet_json_string(j, "fix", t->lead.fix);
    if (t->lead.has_more)
        stet_json_int(j, "temp_bytes_more", t->lead.temp_bytes_more);
    else
        stet_json_null(j, "temp_bytes_more");
    stet_json_end_object(j);
}

void stet_report_json(struct stet_json *j, const struct stet_report_run *r)
{
    uint64_t begin = begin_of(r);

    stet_json_object(j, NULL);
    stet_json_cstr(j, "run", r->run->id);
    stet_json_cstr(j, "command", r->run->command);
    stet_json_cstr(j, "cwd", r->run->cwd);
    stet_json_cstr(j, "host", r->run->host);
    stet_json_uint(j, "started_ms", r->run->started_ns / 1000000);
    if (r->run->ended_ns > r->run->started_ns)
        stet_json_number(j, "seconds", seconds(r->run->ended_ns - r->run->started_ns));
    else
        stet_json_null(j, "seconds");
    if (r->run->exit_code >= 0)
        stet_json_int(j, "exit", r->run->exit_code);
    else
        stet_json_null(j, "exit");
    stet_json_int(j, "signal", r->run->signal);
    stet_json_uint(j, "begin_ms", begin / 1000000);
    totals(j, r);
    startup(j, r);
    questions(j, r);
    saved(j, r);
    processes(j, r, begin);
    devices(j, r, begin);
    stet_json_array(j, "divergences");
    for (size_t i = 0; i < r->divergences.count; i++)
        stet_divergence_json(j, &r->divergences.items[i]);
    stet_json_end_array(j);
    stet_json_array(j, "causes");
    for (size_t i = 0; i < r->stories.count; i++)
        story(j, &r->stories.items[i]);
    stet_json_end_array(j);
    stet_json_object(j, "beyond"); /* recompiles of causes that did not fit */
    stet_json_uint(j, "times", r->stories.beyond);
    stet_json_number(j, "wait_s", seconds(r->stories.beyond_ns));
    stet_json_end_object(j);
    events(j, r, begin);
    programs(j, r);
    grids(j, r);
    if (r->buckets.len)
        stet_json_raw(j, "buckets", stet_buf_as_view(&r->buckets));
    else
        stet_json_null(j, "buckets");
    stet_json_array(j, "fits");
    if (r->fits.len)
        stet_json_raw(j, NULL, stet_buf_as_view(&r->fits));
    stet_json_end_array(j);
    if (r->torch.len)
        stet_json_raw(j, "torch", stet_buf_as_view(&r->torch));
    else
        stet_json_null(j, "torch");
    stet_json_array(j, "names");
    for (uint32_t i = 0; i < r->names.count; i++)
        stet_json_string(j, NULL, r->names.items[i]);
    stet_json_end_array(j);
    stet_json_end_object(j);
}
