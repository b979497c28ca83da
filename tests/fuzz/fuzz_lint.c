/* Any bytes as a Python file: findings lie inside it, edits too, and a summary survives the cache.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/mem.h"
#include "lint/findings.h"
#include "lint/lint.h"
#include "lint/rules.h"
#include "python/ast.h"

static void check_tree(const struct stet_python_ast *a)
{
    for (uint32_t i = 1; i < a->count; i++) {
        CHECK(a->nodes[i].start <= a->nodes[i].end && a->nodes[i].end <= a->text.len);
        CHECK(a->nodes[i].next < a->count);
    }
}

static void check_findings(const struct stet_lint_result *r, struct stet_view text)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct stet_lint_finding *f = &r->findings[i];

        CHECK(f->line >= 1 && f->line <= lines && f->end_line >= f->line);
        CHECK(f->rule < LINT_RULES && f->what.len && f->severity <= 2);
        CHECK(!f->edit.ptr || (f->edit_start <= f->edit_end && f->edit_end <= text.len));
    }
}

/* What the cache gave back is linked as what was walked would have been. */
static void check_link(const struct lint_summary *s, struct stet_view text)
{
    static const char *const path = "a/b.py";
    struct stet_lint_result r = {0};
    struct stet_err err = STET_ERR_INIT;
    struct stet_arena arena;

    stet_arena_init(&arena, (size_t)64 << 20);
    CHECK(lint_findings_link(&r, &arena, s, &path, 1, false, &err) == STET_OK);
    check_findings(&r, text);
    stet_mem_free(r.findings);
    stet_arena_release(&arena);
}

static void check_python(struct stet_view text)
{
    /* Not kept for the next input: what a parser keeps would look like a leak, and looking for it
     * costs more than making one. */
    struct stet_python_parser *p = stet_python_parser_new();
    struct lint_summary s, again;
    struct stet_python_module m = {.parsed = true, .name = STET_VIEW("a.b")};
    struct stet_buf one = STET_BUF_INIT, two = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;

    CHECK(p);
    CHECK(stet_python_ast_parse(&m.ast, p, text, &err) == STET_OK);
    check_tree(&m.ast);
    stet_arena_init(&m.arena, (size_t)16 << 20);
    CHECK(stet_python_module_index(&m));
    CHECK(lint_summary_make(&s, &m, &err) == STET_OK);
    lint_summary_write(&s, &one);
    CHECK(lint_summary_read(&again, stet_buf_as_view(&one), LINT_RULES, &err) == STET_OK);
    lint_summary_write(&again, &two);
    CHECK(stet_view_eq(stet_buf_as_view(&one), stet_buf_as_view(&two)));
    check_link(&again, text);
    lint_summary_release(&again);
    lint_summary_release(&s);
    stet_python_module_close(&m);
    stet_buf_release(&one);
    stet_buf_release(&two);
    stet_python_parser_free(p);
}

/* The whole way in, as for standard input. */
static void check_text(const char *path, struct stet_view text)
{
    struct stet_lint_result r;
    struct stet_err err = STET_ERR_INIT;

    if (stet_lint_text(&r, path, text, &err) != STET_OK) {
        CHECK(err.text[0]);
        return;
    }
    check_findings(&r, text);
    stet_lint_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_view text = stet_view_of(data, size);
    struct stet_err err = STET_ERR_INIT;
    struct lint_summary s;

    check_python(text);
    /* The same bytes as a summary from a damaged cache: refused or sound. */
    if (lint_summary_read(&s, text, LINT_RULES, &err) == STET_OK)
        lint_summary_release(&s);
    check_text("x.sh", text);
    /* NULs are taken out on the way in; what has none has been that way already. */
    if (size && memchr(data, 0, size))
        check_text("x.py", text);
    return 0;
}
