/* stet report: writes a run, or two side by side, as one HTML file, or a run in the formats of
 * other tools. */
#include "cli/command.h"
#include "cli/rundiff_text.h"
#include "ledger/job_runs.h"
#include "report/export.h"
#include "report/fill.h"
#include "report/html_page.h"
#include "session/rundiff.h"
#include "stet_version.h"

#include <stdio.h>

static const struct stet_usage usage = {
    "stet report [options] [RUN] [RUN2]",
    "Writes what is known of a run (the latest one when none is named) as one HTML file that "
    "needs\n"
    "no network: why it compiled, on which lines, what that cost and what to do about it. With a\n"
    "second run the two are shown side by side. --format=json prints the data behind the page "
    "instead.\n"
    "--perfetto, --pprof and --speedscope write the run for these tools instead of the page.",
    "report",
};

/* One run of the report. */
struct side {
    struct stet_run run;
    struct stet_run_digest digest;
    struct stet_torch torch;
    struct stet_report_run model;
};

static enum stet_rc gather(struct side *s, const struct stet_runs *runs, struct stet_err *err)
{
    stet_torch_init(&s->torch);
    if (!stet_report_init(&s->model, &s->run))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a report");
    return stet_report_gather(&s->model, runs, &s->digest, &s->torch, err);
}

static void release(struct side *s)
{
    stet_report_release(&s->model);
    stet_torch_release(&s->torch);
    stet_ledger_run_unload(&s->digest);
}

static enum stet_rc write_json(struct stet_buf *out, struct side *const *sides, size_t count,
                               struct stet_err *err)
{
    const struct stet_rundiff_view view = {.format = STET_FORMAT_JSON, .ranks = {-1, -1}};
    struct stet_buf diff = STET_BUF_INIT;
    enum stet_rc rc = STET_OK;
    struct stet_json j;
    bool moved;

    if (count > 1)
        rc = stet_cli_rundiff_write(&diff, &sides[0]->run, &sides[1]->run, &view, &moved, err);
    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.report/1");
    stet_json_cstr(&j, "stet", STET_VERSION);
    stet_json_array(&j, "served");
    for (int i = 0; i < STET_SERVED_COUNT; i++)
        stet_json_cstr(&j, NULL, stet_journal_served_word((enum stet_served)i));
    stet_json_end_array(&j);
    stet_json_array(&j, "runs");
    for (size_t i = 0; i < count; i++)
        stet_report_json(&j, &sides[i]->model);
    stet_json_end_array(&j);
    if (diff.len)
        stet_json_raw(&j, "diff", stet_view_of(diff.ptr, diff.len - 1)); /* without its newline */
    else
        stet_json_null(&j, "diff");
    stet_json_end_object(&j);
    stet_buf_release(&diff);
    if (rc == STET_OK && out->failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for a report");
    return rc;
}

static enum stet_rc write_page(struct side *const *sides, size_t count, struct stet_view json,
                               const char *path, struct stet_err *err)
{
    const struct stet_report_run *models[2];
    struct stet_buf page = STET_BUF_INIT;
    enum stet_rc rc;

    for (size_t i = 0; i < count; i++)
        models[i] = &sides[i]->model;
    stet_report_page(&page, models, count, json);
    if (page.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for a report");
    else
        rc = stet_fs_write_shared(path, stet_buf_as_view(&page), err);
    stet_buf_release(&page);
    return rc;
}

/* The formats of other tools. */
static const struct export {
    const char *suffix; /* of the file's default name */
    void (*write)(struct stet_buf *out, const struct stet_report_run *r);
    bool gzip;
} exports[] = {
    {".perfetto-trace.gz", stet_report_perfetto, true},
    {".pb.gz", stet_report_pprof, true},
    {".speedscope.json", stet_report_speedscope, false},
};

enum { EXPORTS = sizeof exports / sizeof *exports };

/* Where to write; NULL: nowhere, "": a name made of the run's id. */
struct targets {
    const char *page, *exports[EXPORTS];
};

static bool exports_wanted(const struct targets *t)
{
    for (size_t i = 0; i < EXPORTS; i++)
        if (t->exports[i])
            return true;
    return false;
}

/* A run from another user may have any name; the file stays in this folder. */
static const char *path_of(const char *given, const char *before, const char *id,
                           const char *suffix, char own[96])
{
    if (given && given[0])
        return given;
    snprintf(own, 96, "%s%.40s%s", before, id, suffix);
    for (char *slash = own; (slash = strchr(slash, '/'));)
        *slash = '_';
    return own;
}

static enum stet_rc write_export(const struct export *e, const struct stet_report_run *model,
                                 const char *path, struct stet_err *err)
{
    struct stet_buf plain = STET_BUF_INIT, packed = STET_BUF_INIT;
    enum stet_rc rc;

    e->write(&plain, model);
    if (e->gzip && !plain.failed)
        stet_report_gzip(&packed, stet_buf_as_view(&plain));
    if (plain.failed || packed.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for %s", path);
    else
        rc = stet_fs_write_shared(path, stet_buf_as_view(e->gzip ? &packed : &plain), err);
    stet_buf_release(&plain);
    stet_buf_release(&packed);
    return rc;
}

/* Writes the requested files; `said` gets their names. */
static enum stet_rc write_files(struct side *const *sides, size_t count, struct stet_view json,
                                const struct targets *t, struct stet_buf *said,
                                struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    char own[96];

    for (size_t i = 0; rc == STET_OK && i < EXPORTS; i++) {
        const char *path =
            path_of(t->exports[i], "stet-", sides[0]->run.id, exports[i].suffix, own);

        if (!t->exports[i])
            continue;
        rc = write_export(&exports[i], &sides[0]->model, path, err);
        stet_buf_printf(said, "%s\n", path);
    }
    if (rc == STET_OK && (t->page || !exports_wanted(t))) {
        const char *path = path_of(t->page, "stet-report-", sides[0]->run.id, ".html", own);

        rc = write_page(sides, count, json, path, err);
        stet_buf_printf(said, "%s\n", path);
    }
    return rc;
}

static int report(const struct stet_runs *runs, struct side *const *sides, size_t count,
                  enum stet_format format, const struct targets *targets)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf json = STET_BUF_INIT, said = STET_TEXT_INIT;
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; rc == STET_OK && i < count; i++)
        rc = gather(sides[i], runs, &err);
    if (rc == STET_OK)
        rc = write_json(&json, sides, count, &err);
    if (rc == STET_OK && format == STET_FORMAT_JSON) {
        stet_buf_char(&json, '\n');
        return stet_cli_print(&json, STET_EXIT_FINE);
    }
    if (rc == STET_OK)
        rc = write_files(sides, count, stet_buf_as_view(&json), targets, &said, &err);
    stet_buf_release(&json);
    if (rc == STET_OK)
        return stet_cli_print(&said, STET_EXIT_FINE);
    stet_buf_release(&said);
    return stet_cli_complain(&err);
}

int cmd_report(int argc, char **argv)
{
    struct targets to = {0};
    bool job = false;
    const struct stet_option options[] = {
        {"output", "FILE", "the file to write (default stet-report-RUN.html)", STET_OPTION_VALUE,
         &to.page},
        {"job", NULL, "all runs of RUN's job together (done anyway if no RUN is given)",
         STET_OPTION_FLAG, &job},
        {"o", "FILE", "the same", STET_OPTION_VALUE, &to.page},
        {"perfetto", "[=FILE]",
         "a timeline for ui.perfetto.dev (default stet-RUN.perfetto-trace.gz)", STET_OPTION_MAYBE,
         &to.exports[0]},
        {"pprof", "[=FILE]", "the waits by Python stack, for pprof (default stet-RUN.pb.gz)",
         STET_OPTION_MAYBE, &to.exports[1]},
        {"speedscope", "[=FILE]", "the same for speedscope (default stet-RUN.speedscope.json)",
         STET_OPTION_MAYBE, &to.exports[2]},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    static struct side a, b;
    struct side *const sides[] = {&a, &b};
    const struct stet_run *found = NULL;
    struct stet_runs runs;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);
    enum stet_rc rc;
    size_t count;

    if (done >= 0)
        return done;
    if (args.count > 2)
        return stet_cli_usage_error(&usage, "reports one run, or two side by side");
    if (args.count > 1 && exports_wanted(&to))
        return stet_cli_usage_error(&usage, "another tool's format takes one run");
    if ((to.page || exports_wanted(&to)) && args.format == STET_FORMAT_JSON)
        return stet_cli_usage_error(&usage, "--format=json prints to standard output");
    if (stet_ledger_runs_open(&runs, &err) != STET_OK)
        return stet_cli_complain(&err);
    count = args.count == 2 ? 2 : 1;
    rc = stet_ledger_job_find(&runs, args.count ? args.values[0] : NULL, job, &found, &err);
    if (rc == STET_OK) {
        a.run = *found; /* finding the second run may grow the list */
        if (count == 2)
            rc = stet_ledger_job_find(&runs, args.values[1], job, &found, &err);
        b.run = *found;
    }
    if (rc == STET_OK)
        done = report(&runs, sides, count, args.format, &to);
    else
        done = stet_cli_complain(&err);
    release(&a);
    release(&b);
    stet_ledger_runs_close(&runs);
    return done;
}
