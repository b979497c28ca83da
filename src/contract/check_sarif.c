/* Prints violations as SARIF 2.1.0, which code-scanning services read. */
#include "contract/check_print.h"

#include "base/human.h"
#include "base/json.h"
#include "base/sarif.h"

#include <ctype.h>

static void text(struct stet_json *j, const char *key, struct stet_view words)
{
    stet_json_object(j, key);
    stet_json_string(j, "text", words);
    stet_json_end_object(j);
}

/* A clause is a rule. GitHub's code scanning requires a full description and a help text. */
static void rule(struct stet_json *j, enum stet_clause c)
{
    struct stet_buf full = STET_BUF_INIT;

    stet_buf_printf(&full, "The run breaks the clause `%s` of the contract: %s.",
                    stet_gate_clause_name(c), stet_gate_clause_about(c));
    stet_json_object(j, NULL);
    stet_json_cstr(j, "id", stet_gate_clause_name(c));
    text(j, "shortDescription", stet_view_str(stet_gate_clause_about(c)));
    text(j, "fullDescription", stet_buf_as_view(&full));
    text(j, "help",
         stet_view_str("`stet check` prints the line and the fix. If the change is meant, `stet "
                       "contract update` shows what to allow. `stet help contract` describes the "
                       "clauses."));
    stet_json_end_object(j);
    stet_buf_release(&full);
}

static void rules(struct stet_json *j)
{
    stet_json_array(j, "rules");
    for (int i = 0; i < STET_CLAUSES; i++)
        rule(j, (enum stet_clause)i);
    stet_json_end_array(j);
}

/* A path as a URI reference: RFC 3986. */
static void uri(struct stet_json *j, struct stet_view path)
{
    struct stet_buf out = STET_BUF_INIT;

    if (path.len && path.ptr[0] == '/')
        stet_buf_str(&out, "file://");
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.ptr[i];

        if (isalnum(c) || (c && strchr("/._-~", c)))
            stet_buf_char(&out, (char)c);
        else
            stet_buf_printf(&out, "%%%02X", c);
    }
    stet_json_string(j, "uri", stet_buf_as_view(&out));
    stet_buf_release(&out);
}

static void location(struct stet_json *j, struct stet_view path, uint64_t line)
{
    stet_json_object(j, NULL);
    stet_json_object(j, "physicalLocation");
    stet_json_object(j, "artifactLocation");
    uri(j, path);
    stet_json_end_object(j);
    stet_json_object(j, "region");
    stet_json_uint(j, "startLine", line ? line : 1);
    stet_json_end_object(j);
    stet_json_end_object(j);
    stet_json_end_object(j);
}

static void result(struct stet_json *j, const struct stet_violation *v,
                   const struct stet_contract *c)
{
    const struct stet_line *at = v->origin.line ? &v->origin : &v->trigger;
    struct stet_buf words = STET_BUF_INIT;

    if (v->family.len)
        stet_buf_printf(&words, "%.*s: ", STET_FMT(v->family));
    stet_buf_printf(&words, "%.*s.", STET_FMT(v->what));
    if (v->fix.len)
        stet_buf_printf(&words, " %.*s", STET_FMT(v->fix));
    stet_json_object(j, NULL);
    stet_json_cstr(j, "ruleId", stet_gate_clause_name(v->clause));
    stet_json_cstr(j, "level", "error");
    text(j, "message", stet_buf_as_view(&words));
    stet_json_array(j, "locations");
    location(j, at->line ? stet_text_path(at->file) : c->file, at->line ? at->line : v->line);
    stet_json_end_array(j);
    stet_json_array(j, "relatedLocations");
    location(j, c->file, v->line);
    stet_json_end_array(j);
    if (v->cause != STET_CAUSE_NONE) {
        stet_json_object(j, "properties");
        stet_json_cstr(j, "cause", stet_cause_id(v->cause));
        stet_json_end_object(j);
    }
    stet_json_end_object(j);
    stet_buf_release(&words);
}

void stet_contract_check_sarif(struct stet_buf *out, const struct stet_contract_check *k,
                               const struct stet_contract *c)
{
    struct stet_json j;

    stet_json_sarif_begin(&j, out, "stet check");
    rules(&j);
    stet_json_sarif_end_tool(&j);
    stet_json_array(&j, "results");
    for (uint32_t i = 0; i < k->count; i++)
        result(&j, &k->items[i], c);
    stet_json_end_array(&j);
    stet_json_sarif_end(&j, out);
}
