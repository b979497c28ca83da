/* Writes stet.explain/1, and the same rows as CSV. Both are written piece by piece, because a run
 * may have many recompiles. */
#include "session/account.h"
#include "session/avoided.h"
#include "session/divergence.h"
#include "session/exhausted.h"
#include "session/miss.h"

#include "base/fs.h"
#include "base/json.h"
#include "session/frameworks.h"
#include "session/place_json.h"

#include <unistd.h>

void stet_account_json_change(struct stet_json *j, const struct stet_row_change *c)
{
    stet_json_object(j, NULL);
    stet_json_string(j, "what", c->what);
    stet_json_told(j, "from", c->from);
    stet_json_told(j, "to", c->to);
    stet_session_place_json(j, c->file, c->line);
    stet_json_cstr(j, "kind", stet_cause_change_id(c->kind));
    if (c->facet.ptr)
        stet_json_string(j, "facet", c->facet);
    if (c->follows.ptr)
        stet_json_string(j, "follows", c->follows);
    stet_json_uint(j, "count", c->count);
    stet_json_end_object(j);
}

static void json_causes(struct stet_json *j, const char *key, const struct stet_cause_list *l)
{
    stet_json_array(j, key);
    for (uint32_t i = 0; i < l->count; i++)
        stet_json_cstr(j, NULL, stet_cause_id(l->items[i]));
    stet_json_end_array(j);
}

void stet_account_json_one(struct stet_json *j, const struct stet_recompile *r)
{
    stet_json_object(j, NULL);
    stet_json_uint(j, "compile", r->compile);
    stet_json_known(j, "rank", r->rank >= 0, (uint64_t)r->rank);
    stet_json_uint(j, "process", r->process);
    stet_json_known(j, "step", r->step_known, r->step);
    stet_json_known(j, "turn", r->turn_known, r->turn);
    stet_json_cstr(j, "event", stet_ledger_event_word(r->event));
    stet_json_cstr(j, "lane", stet_journal_lane_word(r->lane));
    stet_json_cstr(j, "class", stet_cause_id(r->cause));
    json_causes(j, "also", &r->also);
    stet_json_told(j, "function", r->function.len ? r->function : (struct stet_view){0});
    stet_json_told(j, "program", r->program);
    stet_json_told(j, "against", r->against);
    stet_recompile_line_json(j, "origin", &r->origin);
    stet_recompile_line_json(j, "trigger", &r->trigger);
    stet_recompile_line_json(j, "source", &r->source);
    stet_json_array(j, "changes");
    for (size_t i = 0; i < r->change_count; i++)
        stet_account_json_change(j, &r->changes[i]);
    stet_json_end_array(j);
    if (r->left_out)
        stet_json_uint(j, "changes_left_out", r->left_out);
    stet_json_number(j, "wait_s", (double)r->wait_ns / 1e9);
    stet_json_number(j, "cost_s", (double)r->cost_ns / 1e9);
    stet_json_cstr(j, "served", stet_journal_served_word(r->served));
    stet_json_bool(j, "benign", r->benign);
    stet_json_cstr(j, "sure", stet_sure_name(r->sure));
    stet_json_string(j, "evidence", r->evidence);
    if (r->has_memory)
        stet_json_uint(j, "temp_bytes", r->temp_bytes);
    if (r->has_more)
        stet_json_int(j, "temp_bytes_more", r->temp_bytes_more);
    stet_json_string(j, "fix", r->fix);
    if (r->advice.len)
        stet_json_raw(j, "advice", r->advice);
    stet_json_end_object(j);
}

/* ---- writing piece by piece ---- */

enum { PIECE = 1 << 16 };

struct writer {
    struct stet_buf out;
    struct stet_json j;
    bool broken; /* a write to standard output failed */
};

static bool flush(struct writer *w, bool now)
{
    if (w->out.len && (now || w->out.len >= PIECE)) {
        w->broken |= stet_fs_write_all(STDOUT_FILENO, w->out.ptr, w->out.len) != 0;
        w->out.len = 0;
    }
    return !w->broken && !w->out.failed;
}

static enum stet_rc finish(struct writer *w, enum stet_rc rc, struct stet_err *err)
{
    flush(w, true);
    if (rc == STET_OK && w->broken)
        rc = stet_fail_errno(err, "cannot write to standard output");
    if (rc == STET_OK && w->out.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory while printing");
    stet_buf_release(&w->out);
    return rc;
}

static bool write_one(void *context, const struct stet_recompile *r)
{
    struct writer *w = context;

    stet_account_json_one(&w->j, r);
    return flush(w, false);
}

/* `saved` and `lifted` are parts of `avoided` under the names that they had before it. */
static void json_avoided(struct stet_json *j, const struct stet_avoided *a)
{
    struct stet_avoided_sum saved = stet_avoided_kept(a);

    if (saved.compiles) {
        stet_json_object(j, "saved");
        stet_json_uint(j, "served", saved.compiles);
        stet_json_uint(j, "known", saved.known);
        stet_json_number(j, "took_s", (double)saved.took_ns / 1e9);
        stet_json_number(j, "instead_of_s", (double)saved.instead_ns / 1e9);
        stet_json_end_object(j);
    }
    if (a->by[STET_SERVED_LIFTED].compiles) {
        stet_json_object(j, "lifted");
        stet_json_uint(j, "served", a->by[STET_SERVED_LIFTED].compiles);
        stet_json_number(j, "instead_of_s", (double)a->by[STET_SERVED_LIFTED].instead_ns / 1e9);
        stet_json_end_object(j);
    }
    stet_avoided_json(j, a);
}

static void json_head(struct stet_json *j, const struct stet_account *a,
                      const struct stet_account_tally *t)
{
    stet_json_object(j, "settled");
    stet_json_known(j, "step", a->totals.settled, a->totals.settled_step);
    stet_json_uint(j, "programs", a->totals.programs);
    if (a->totals.unsettled)
        stet_json_cstr(j, "why", stet_unsettled_text(a->totals.unsettled));
    stet_json_end_object(j);
    stet_json_object(j, "questions");
    for (int q = 0; q < STET_QUESTIONS; q++) {
        stet_json_object(j, stet_cause_question_key((enum stet_cause_question)q));
        stet_json_bool(j, "answer", stet_answer_yes(&t->answers[q]));
        stet_json_uint(j, "recompiles", t->answers[q].count);
        stet_json_uint(j, "beside", t->answers[q].beside);
        stet_json_cstr(j, "evidence",
                       stet_answer_yes(&t->answers[q]) ? t->answers[q].evidence : NULL);
        stet_json_end_object(j);
    }
    stet_json_end_object(j);
    stet_json_uint(j, "compiles", a->totals.compiles);
    stet_json_number(j, "compile_s", (double)a->totals.compile_ns / 1e9);
    stet_json_number(j, "wait_s", (double)t->wait_ns / 1e9);
    stet_json_number(j, "lost_s", (double)t->lost_ns / 1e9);
    if (a->avoided)
        json_avoided(j, a->avoided);
    stet_session_counters_json(j, a->counters, a->counter_count);
    if (a->log)
        stet_session_log_json(j, a->log);
}

enum stet_rc stet_account_json(const struct stet_account *a, const struct stet_account_tally *t,
                               struct stet_err *err)
{
    struct writer w = {.out = STET_BUF_INIT};
    enum stet_rc rc;

    stet_json_init(&w.j, &w.out);
    stet_json_object(&w.j, NULL);
    stet_json_cstr(&w.j, "schema", "stet.explain/1");
    stet_json_cstr(&w.j, "run", a->run);
    json_head(&w.j, a, t);
    if (a->divergences) {
        stet_json_array(&w.j, "divergences");
        for (size_t i = 0; i < a->divergences->count; i++)
            stet_divergence_json(&w.j, &a->divergences->items[i]);
        stet_json_end_array(&w.j);
        stet_session_comparing_json(&w.j, &a->divergences->comparing);
    }
    stet_json_array(&w.j, "recompiles");
    rc = a->each(a->source, write_one, &w, err);
    stet_json_end_array(&w.j);
    if (a->stories)
        stet_story_json(&w.j, a->stories);
    if (a->misses) {
        stet_json_object(&w.j, "store");
        stet_json_uint(&w.j, "compiles", a->misses->compiles);
        stet_json_uint(&w.j, "served", a->misses->served);
        stet_json_object(&w.j, "from");
        stet_json_uint(&w.j, "compiled", a->misses->places.compiled);
        stet_served_tally_json(&w.j, &a->misses->places);
        stet_json_end_object(&w.j);
        stet_misses_json(a->misses, &w.j, "missed");
        stet_json_end_object(&w.j);
    }
    if (a->exhausted)
        stet_session_exhausted_json(&w.j, a->exhausted);
    stet_json_end_object(&w.j);
    stet_buf_char(&w.out, '\n');
    return finish(&w, rc, err);
}

/* ---- CSV ---- */

static void cell(struct stet_buf *out, struct stet_view v)
{
    bool quoted = v.len && (memchr(v.ptr, ',', v.len) || memchr(v.ptr, '"', v.len) ||
                            memchr(v.ptr, '\n', v.len));

    if (quoted)
        stet_buf_char(out, '"');
    for (size_t i = 0; i < v.len; i++) {
        if (v.ptr[i] == '"')
            stet_buf_char(out, '"');
        stet_buf_char(out, v.ptr[i]);
    }
    if (quoted)
        stet_buf_char(out, '"');
    stet_buf_char(out, ',');
}

static void cell_number(struct stet_buf *out, bool known, uint64_t v)
{
    if (known)
        stet_buf_printf(out, "%llu", (unsigned long long)v);
    stet_buf_char(out, ',');
}

static bool csv_one(void *context, const struct stet_recompile *r)
{
    struct writer *w = context;
    struct stet_buf *out = &w->out;
    char also[STET_CAUSE_LIST_TEXT];

    cell(out, stet_view_str(stet_journal_lane_word(r->lane)));
    cell_number(out, true, r->process);
    cell_number(out, r->rank >= 0, (uint64_t)r->rank);
    cell_number(out, true, r->compile);
    cell_number(out, r->step_known, r->step);
    cell(out, stet_view_str(stet_cause_id(r->cause)));
    cell(out, stet_cause_list_text(&r->also, also));
    cell(out, r->function);
    cell(out, r->origin.file);
    cell_number(out, r->origin.line != 0, r->origin.line);
    cell(out, r->trigger.file);
    cell_number(out, r->trigger.line != 0, r->trigger.line);
    stet_buf_printf(out, "%.9f,%d,", (double)r->cost_ns / 1e9, r->benign);
    cell(out, stet_view_str(stet_sure_name(r->sure)));
    cell(out, r->evidence);
    cell(out, r->fix);
    stet_buf_printf(out, "%.9f\r\n", (double)r->wait_ns / 1e9);
    return flush(w, false);
}

enum stet_rc stet_account_csv(const struct stet_account *a, struct stet_err *err)
{
    struct writer w = {.out = STET_BUF_INIT};

    stet_buf_str(&w.out,
                 "lane,process,rank,compile,step,class,also,function,origin_file,origin_line,"
                 "trigger_file,trigger_line,cost_s,benign,sure,evidence,fix,wait_s\r\n");
    return finish(&w, a->each(a->source, csv_one, &w, err), err);
}
