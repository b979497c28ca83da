/* A recompile belongs to a finding when its origin or one of its changes is on the finding's lines.
 * Everything that a call compiles has that call's line as its trigger. So a trigger on the
 * finding's lines counts only when the recompile is of the finding's own kind. */
#include "session/lint_join.h"

#include "session/session.h"
#include "session/torch_rows.h"

#include <stdio.h>
#include <stdlib.h>

/* A run has absolute paths, and lint has the paths it was given: one ends with the other. */
static bool same_file(struct stet_view ran, const char *path)
{
    struct stet_view p;

    while (path[0] == '.' && path[1] == '/')
        path += 2;
    while (!strncmp(path, "../", 3))
        path += 3;
    p = stet_view_str(path);
    if (!stet_view_ends(ran, path))
        return ran.len && ran.len < p.len && p.ptr[p.len - ran.len - 1] == '/' &&
               !memcmp(p.ptr + p.len - ran.len, ran.ptr, ran.len);
    return ran.len == p.len || ran.ptr[ran.len - p.len - 1] == '/' || path[0] == '/';
}

static bool covers(const struct stet_lint_finding *f, struct stet_view file, uint64_t line)
{
    return line >= f->line && line <= f->end_line && same_file(file, f->path);
}

static bool is_of_trap(const struct stet_recompile *row, const char *trap)
{
    enum stet_cause cause = stet_cause_find(stet_view_str(trap));

    return cause != STET_CAUSE_NONE &&
           (row->cause == cause || stet_cause_list_has(&row->also, cause));
}

static bool visit(void *context, const struct stet_recompile *row)
{
    struct stet_lint_result *r = context;

    for (size_t i = 0; i < r->finding_count && !row->benign; i++) {
        struct stet_lint_finding *f = &r->findings[i];
        bool hit = covers(f, row->origin.file, row->origin.line) ||
                   (covers(f, row->trigger.file, row->trigger.line) &&
                    is_of_trap(row, stet_lint_rule_at(f->rule).trap));

        for (size_t c = 0; !hit && c < row->change_count; c++)
            hit = covers(f, row->changes[c].file, row->changes[c].line);
        if (hit) {
            f->compiles++;
            f->cost_s += (double)row->wait_ns / 1e9;
        }
    }
    return true;
}

/* Most expensive first; the others keep their order. */
static int by_cost(const void *a, const void *b)
{
    const struct stet_lint_finding *x = a, *y = b;

    if (x->cost_s > y->cost_s || x->cost_s < y->cost_s)
        return x->cost_s > y->cost_s ? -1 : 1;
    if (strcmp(x->path, y->path) != 0)
        return strcmp(x->path, y->path);
    return x->line < y->line ? -1 : x->line > y->line;
}

static enum stet_rc join(struct stet_lint_result *r, const struct stet_runs *runs,
                         const struct stet_run *run, struct stet_err *err)
{
    struct stet_session x;
    struct stet_account a;
    struct stet_torch torch;
    enum stet_rc rc = stet_session_open(&x, runs, run, err);

    if (rc != STET_OK)
        return rc;
    stet_torch_init(&torch);
    stet_session_account(&a, &x);
    rc = a.each(a.source, visit, r, err);
    if (rc == STET_OK && stet_session_torch_load_run(&torch, run, NULL) == STET_OK)
        stet_session_torch_each(&torch, visit, r);
    stet_torch_release(&torch);
    stet_session_close(&x);
    qsort(r->findings, r->finding_count, sizeof *r->findings, by_cost);
    return rc;
}

enum stet_rc stet_session_lint_join(struct stet_lint_result *r, const char *name, char *id,
                                    size_t room, struct stet_err *err)
{
    const struct stet_run *run;
    struct stet_runs runs;
    enum stet_rc rc = stet_ledger_runs_open_at(&runs, name, &run, err);

    if (rc != STET_OK)
        return rc;
    snprintf(id, room, "%s", run->id);
    rc = join(r, &runs, run, err);
    stet_ledger_runs_close(&runs);
    return rc;
}
