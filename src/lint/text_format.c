/* Prints findings and rules for people. */
#include "lint/formats.h"

#include "base/human.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

static void print_one(struct stet_buf *out, const struct stet_lint_print *p,
                      const struct stet_lint_finding *f)
{
    static const enum stet_pen pens[] = {STET_PEN_CYAN, STET_PEN_YELLOW, STET_PEN_RED};
    struct stet_lint_rule r = stet_lint_rule_at(f->rule);
    struct stet_buf source = STET_BUF_INIT;

    stet_buf_printf(out, "%s:%u:%u: %s%s%s %s: %.*s\n", f->path, f->line, f->column,
                    stet_pen(pens[f->severity], p->colour), stet_lint_severity_name(f->severity),
                    stet_pen(STET_PEN_PLAIN, p->colour), r.code, STET_FMT(f->what));
    stet_buf_str(out, "    | ");
    stet_mask_source(&source, f->source);
    stet_buf_printf(out, "%.*s\n", STET_FMT(stet_buf_as_view(&source)));
    stet_buf_release(&source);
    if (f->traced.len)
        stet_buf_printf(out, "    in   %.*s\n", STET_FMT(f->traced));
    if (p->run && f->compiles) {
        stet_buf_str(out, "    cost ");
        stet_text_duration(out, (uint64_t)(f->cost_s * 1e9));
        stet_buf_printf(out, " in %u compile%s of run %s\n", f->compiles,
                        f->compiles == 1 ? "" : "s", p->run);
    } else if (p->run) {
        stet_buf_printf(
            out, "    cost nothing in run %s: no recompile of its kind came from here\n", p->run);
    }
    stet_buf_printf(out, "    why  %s\n    fix  %.*s%s\n    more stet help %s\n", r.why,
                    STET_FMT(f->fix), f->edit.ptr ? "  (--fix does it)" : "", r.trap);
}

/* Prints the rules by how often they were found. */
static void print_statistics(struct stet_buf *out, const struct stet_lint_result *r)
{
    size_t rules = stet_lint_rule_count(), left = r->finding_count;
    size_t *counts = stet_mem_calloc(rules, sizeof *counts);

    for (size_t i = 0; counts && i < r->finding_count; i++)
        counts[r->findings[i].rule]++;
    while (counts && left) {
        size_t most = 0;

        for (size_t i = 1; i < rules; i++) {
            if (counts[i] > counts[most])
                most = i;
        }
        stet_buf_printf(out, "%7zu  %-20s %s\n", counts[most], stet_lint_rule_at(most).code,
                        stet_lint_rule_at(most).title);
        left -= counts[most];
        counts[most] = 0;
    }
    stet_mem_free(counts);
}

void stet_lint_print_text(struct stet_buf *out, const struct stet_lint_print *p)
{
    const struct stet_lint_result *r = p->result;

    if (p->statistics)
        print_statistics(out, r);
    for (size_t i = 0; !p->statistics && i < r->finding_count; i++)
        print_one(out, p, &r->findings[i]);
    stet_buf_printf(out, "%zu finding%s in %zu file%s", r->finding_count,
                    r->finding_count == 1 ? "" : "s", r->files, r->files == 1 ? "" : "s");
    if (r->ignored)
        stet_buf_printf(out, ", %zu ignored by comments", r->ignored);
    if (p->known || p->gone)
        stet_buf_printf(out, ", %zu in the baseline, %zu of it gone", p->known, p->gone);
    if (r->unreadable)
        stet_buf_printf(out, ", %zu not readable", r->unreadable);
    if (r->broken)
        stet_buf_printf(out, ", %zu with syntax errors", r->broken);
    stet_buf_char(out, '\n');
}

void stet_lint_print_rules(struct stet_buf *out, bool json)
{
    struct stet_json j;

    stet_json_init(&j, out);
    if (json) {
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.lint.rules/1");
        stet_json_array(&j, "rules");
    }
    for (size_t i = 0; i < stet_lint_rule_count(); i++) {
        struct stet_lint_rule r = stet_lint_rule_at(i);

        if (!json) {
            stet_buf_printf(out, "%-20s %-8s %s\n", r.code, r.severity, r.title);
            continue;
        }
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "code", r.code);
        stet_json_cstr(&j, "rule", r.trap);
        stet_json_cstr(&j, "severity", r.severity);
        stet_json_cstr(&j, "title", r.title);
        stet_json_cstr(&j, "why", r.why);
        stet_json_cstr(&j, "fix", r.fix);
        stet_json_end_object(&j);
    }
    if (json) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(out, '\n');
    }
}
