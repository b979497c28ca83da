/* Any bytes as a Python file: findings lie inside it, edits too, and a summary survives the cache.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "lint/ast.h"
#include "lint/lint.h"
#include "lint/rules.h"
#include "lint/walk.h"

static void check_summary(struct stet_view text)
{
    struct lint_parser *p = lint_parser_new();
    struct lint_summary s, again;
    struct lint_ast ast;
    struct stet_buf one = STET_BUF_INIT, two = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;

    CHECK(p);
    if (lint_ast_parse(&ast, p, text, &err) == STET_OK) {
        for (uint32_t i = 1; i < ast.count; i++) {
            CHECK(ast.nodes[i].start <= ast.nodes[i].end && ast.nodes[i].end <= text.len);
            CHECK(ast.nodes[i].next < ast.count);
        }
        CHECK(lint_walk_file(&s, &ast, STET_VIEW("a/b.py"), STET_VIEW("a.b"), &err) == STET_OK);
        lint_summary_write(&s, &one);
        CHECK(lint_summary_read(&again, stet_buf_as_view(&one), LINT_RULES, &err) == STET_OK);
        lint_summary_write(&again, &two);
        CHECK(stet_view_eq(stet_buf_as_view(&one), stet_buf_as_view(&two)));
        lint_summary_release(&again);
        lint_summary_release(&s);
        lint_ast_release(&ast);
    }
    stet_buf_release(&one);
    stet_buf_release(&two);
    lint_parser_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_view text = stet_view_of(data, size);
    struct stet_lint_result r;
    struct stet_err err = STET_ERR_INIT;
    struct lint_summary s;
    uint32_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    check_summary(text);
    /* The same bytes as a summary from a damaged cache: refused or sound. */
    if (lint_summary_read(&s, text, LINT_RULES, &err) == STET_OK)
        lint_summary_release(&s);
    err = (struct stet_err)STET_ERR_INIT;
    for (int shell = 0; shell < 2; shell++) {
        if (stet_lint_text(&r, shell ? "x.sh" : "x.py", text, &err) != STET_OK) {
            CHECK(err.text[0]);
            continue;
        }
        for (size_t i = 0; i < r.finding_count; i++) {
            const struct stet_lint_finding *f = &r.findings[i];

            CHECK(f->line >= 1 && f->line <= lines && f->end_line >= f->line);
            CHECK(f->rule < LINT_RULES && f->what.len && f->severity <= 2);
            CHECK(!f->edit.ptr || (f->edit_start <= f->edit_end && f->edit_end <= size));
        }
        stet_lint_release(&r);
    }
    return 0;
}
