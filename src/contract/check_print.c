/* Prints violations as text, as JSON and as GitHub annotations. */
#include "contract/contract_run.h"

#include "base/excerpt.h"
#include "base/human.h"
#include "base/json.h"
#include "base/text.h"
#include "contract/check_print.h"
#include "session/account.h"

#include <inttypes.h>

static void title(struct stet_buf *out, const struct stet_violation *v)
{
    stet_buf_str(out, stet_gate_clause_name(v->clause));
    if (v->family.len)
        stet_buf_printf(out, " of %.*s", STET_FMT(v->family));
}

static void line_text(struct stet_buf *out, const char *word, const struct stet_line *l)
{
    if (!l->line)
        return;
    stet_buf_printf(out, "  %-9s%.*s:%" PRIu64, word, STET_FMT(stet_text_path(l->file)), l->line);
    if (l->function.len)
        stet_buf_printf(out, " in %.*s", STET_FMT(l->function));
    stet_buf_char(out, '\n');
}

static void excerpt(struct stet_buf *out, const struct stet_line *l)
{
    size_t from = out->len;

    if (!l->line)
        return;
    stet_buf_printf(out, "    %7" PRIu64 " | ", l->line);
    if (stet_text_source(out, l->file, (uint32_t)l->line))
        stet_buf_char(out, '\n');
    else
        out->len = from;
}

/* Is it the placeholder of an argument that the framework gives no name, as gate/seen.c makes it?
 */
static bool is_placeholder(struct stet_view name)
{
    size_t i = 3;

    while (i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9')
        i++;
    return stet_view_starts(name, "arg") && i == name.len && i > 3;
}

/* Would padding the batches help: does a named argument of the user's function have another size or
 * dtype? */
static bool is_of_batches(const struct stet_violation *v)
{
    return v->lane == STET_LANE_XLA && !v->library && v->argument.len &&
           !is_placeholder(v->argument) &&
           (v->clause == STET_CLAUSE_DIMS || v->clause == STET_CLAUSE_DTYPE);
}

static void one_text(struct stet_buf *out, const struct stet_violation *v,
                     const struct stet_contract *c)
{
    title(out, v);
    stet_buf_printf(out, ": %.*s", STET_FMT(v->what));
    if (v->times > 1)
        stet_buf_printf(out, " (and %" PRIu64 " more like it)", v->times - 1);
    stet_buf_char(out, '\n');
    if (v->line)
        stet_buf_printf(out, "  contract %.*s:%u\n", STET_FMT(c->file), v->line);
    else
        stet_buf_printf(out, "  contract %.*s\n", STET_FMT(c->file));
    if (v->rank >= 0)
        stet_buf_printf(out, "  rank     %" PRId64 "\n", v->rank);
    if (v->cause != STET_CAUSE_NONE)
        stet_buf_printf(out, "  cause    %s\n", stet_cause_id(v->cause));
    line_text(out, "origin", &v->origin);
    excerpt(out, &v->origin);
    line_text(out, "trigger", &v->trigger);
    if (v->fix.len)
        stet_buf_printf(out, "  fix      %.*s\n", STET_FMT(v->fix));
    if (is_of_batches(v))
        stet_buf_printf(out,
                        "  batches  stet.canonical(loader, contract=\"%.*s\") makes them keep it: "
                        "stet help batches\n",
                        STET_FMT(c->file));
    if (v->cause != STET_CAUSE_NONE)
        stet_buf_printf(out, "  more     stet help %s\n", stet_cause_id(v->cause));
}

static void totals(struct stet_buf *out, const struct stet_contract_check *k,
                   const struct stet_contract *c, const char *run)
{
    if (k->count) {
        stet_buf_printf(out, "run %s breaks %.*s: ", run, STET_FMT(c->file));
        stet_text_count(out, k->count, "violation");
    } else {
        stet_buf_printf(out, "run %s keeps %.*s: ", run, STET_FMT(c->file));
        stet_text_count(out, k->compiles, "compile");
        stet_buf_str(out, ", ");
        stet_buf_printf(out, "%u famil%s", c->family_count, c->family_count == 1 ? "y" : "ies");
        if (c->frame_count) {
            stet_buf_str(out, ", ");
            stet_text_count(out, c->frame_count, "frame");
        }
    }
    stet_buf_char(out, '\n');
    if (k->unreadable) {
        stet_buf_str(out, "  ");
        stet_text_count(out, k->unreadable, "program");
        stet_buf_printf(out, " could not be read and %s not checked\n",
                        k->unreadable == 1 ? "was" : "were");
    }
    if (k->foreign)
        stet_buf_str(out, "  made on the CPU backend, and this run is elsewhere: bundle, donated, "
                          "layout and calls are not checked\n");
}

static void print_text(struct stet_buf *out, const struct stet_contract_check *k,
                       const struct stet_contract *c, const char *run)
{
    for (uint32_t i = 0; i < k->count; i++) {
        one_text(out, &k->items[i], c);
        stet_buf_char(out, '\n');
    }
    totals(out, k, c, run);
}

/* ---- JSON ---- */

static void json_text(struct stet_json *j, const char *key, struct stet_view v)
{
    if (v.len)
        stet_json_string(j, key, v);
    else
        stet_json_null(j, key);
}

static void json_one(struct stet_json *j, const struct stet_violation *v,
                     const struct stet_contract *c)
{
    stet_json_object(j, NULL);
    stet_json_cstr(j, "clause", stet_gate_clause_name(v->clause));
    stet_json_cstr(j, "lane", stet_journal_lane_word(v->lane));
    json_text(j, "family", v->family);
    json_text(j, "argument", v->argument);
    stet_json_string(j, "message", v->what);
    stet_json_object(j, "contract");
    stet_json_string(j, "file", c->file);
    stet_json_known(j, "line", v->line != 0, v->line);
    stet_json_end_object(j);
    json_text(j, "class", stet_view_str(stet_cause_id(v->cause)));
    stet_recompile_line_json(j, "origin", &v->origin);
    stet_recompile_line_json(j, "trigger", &v->trigger);
    stet_json_uint(j, "times", v->times);
    if (v->rank >= 0)
        stet_json_int(j, "rank", v->rank);
    else
        stet_json_null(j, "rank");
    stet_json_uint(j, "process", v->process);
    if (v->has_compile)
        stet_json_uint(j, "compile", v->compile);
    if (v->step_known)
        stet_json_uint(j, "step", v->step);
    if (v->program[0])
        stet_json_cstr(j, "program", v->program);
    json_text(j, "fix", v->fix);
    stet_json_end_object(j);
}

static void print_json(struct stet_buf *out, const struct stet_contract_check *k,
                       const struct stet_contract *c, const char *run)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.check/1");
    stet_json_bool(&j, "ok", !k->count);
    stet_json_cstr(&j, "run", run);
    stet_json_string(&j, "contract", c->file);
    stet_json_uint(&j, "compiles", k->compiles);
    stet_json_uint(&j, "unreadable", k->unreadable);
    stet_json_array(&j, "violations");
    for (uint32_t i = 0; i < k->count; i++)
        json_one(&j, &k->items[i], c);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

/* ---- GitHub ---- */

static void one_github(struct stet_buf *out, const struct stet_violation *v,
                       const struct stet_contract *c)
{
    const struct stet_line *at = v->origin.line ? &v->origin : &v->trigger;
    struct stet_buf text = STET_TEXT_INIT, head = STET_TEXT_INIT;

    title(&head, v);
    stet_buf_printf(&text, "%.*s", STET_FMT(v->what));
    if (v->times > 1)
        stet_buf_printf(&text, " (and %" PRIu64 " more like it)", v->times - 1);
    if (v->line)
        stet_buf_printf(&text, "\ncontract %.*s:%u", STET_FMT(c->file), v->line);
    if (v->cause != STET_CAUSE_NONE)
        stet_buf_printf(&text, "\ncause: %s", stet_cause_id(v->cause));
    if (v->trigger.line)
        stet_buf_printf(&text, "\ntrigger: %.*s:%" PRIu64,
                        STET_FMT(stet_text_path(v->trigger.file)), v->trigger.line);
    if (v->fix.len)
        stet_buf_printf(&text, "\nfix: %.*s", STET_FMT(v->fix));
    stet_buf_str(out, "::error file=");
    stet_text_github(out, at->line ? stet_text_path(at->file) : c->file, true);
    stet_buf_printf(out, ",line=%" PRIu64 ",title=stet%%3A ",
                    at->line  ? at->line
                    : v->line ? v->line
                              : 1);
    stet_text_github(out, stet_buf_as_view(&head), true);
    stet_buf_str(out, "::");
    stet_text_github(out, stet_buf_as_view(&text), false);
    stet_buf_char(out, '\n');
    stet_buf_release(&text);
    stet_buf_release(&head);
}

void stet_contract_check_print(struct stet_buf *out, const struct stet_contract_check *k,
                               const struct stet_contract *c, const char *run,
                               enum stet_check_format format)
{
    switch (format) {
    case STET_CHECK_JSON:
        print_json(out, k, c, run);
        return;
    case STET_CHECK_GITHUB:
        for (uint32_t i = 0; i < k->count; i++)
            one_github(out, &k->items[i], c);
        totals(out, k, c, run);
        return;
    case STET_CHECK_SARIF:
        stet_contract_check_sarif(out, k, c);
        return;
    case STET_CHECK_TEXT:
        print_text(out, k, c, run);
    }
}
