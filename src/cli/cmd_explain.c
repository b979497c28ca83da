/* stet explain: prints why each program of a run was compiled again. */
#include "cli/account_text.h"
#include "cli/command.h"
#include "ledger/job_runs.h"
#include "session/account_run.h"
#include "session/avoided.h"
#include "session/divergence.h"
#include "session/exhausted.h"
#include "session/framework_logs.h"
#include "session/miss.h"
#include "session/session.h"
#include "session/torch_ranks.h"
#include "session/torch_rows.h"

#include <stdio.h>
#include <unistd.h>

static const struct stet_usage usage = {
    "stet explain [options] [RUN]",
    "Prints for every recompile of a run (default: the latest one) what changed, the line\n"
    "where it enters the program, the line that waited for it, what it cost and what to do about\n"
    "it. Exit 0 when nothing but harmless warm-up was found, 1 when there is something to fix.\n"
    "`stet help causes` lists the causes.",
    "explain",
};

struct choices {
    const struct stet_misses *misses;
    const struct stet_avoided *avoided;
    const struct stet_divergences *divergences;
    const struct stet_exhausted_list *exhausted;
    enum stet_format format;
    bool job; /* all runs of the run's job */
    const char *export, *log_file;
    struct stet_account_view view;
    struct stet_framework_log log;
};

static enum stet_rc print_joined(const struct stet_account *a,
                                 const struct stet_account_tally *tally, const struct choices *c,
                                 int *code, struct stet_err *err)
{
    struct stet_buf out = STET_TEXT_INIT;
    enum stet_rc rc;

    *code = tally->alarms || (a->divergences && a->divergences->count) ||
                    (a->exhausted && a->exhausted->count)
                ? STET_EXIT_FINDING
                : STET_EXIT_FINE;
    if (c->export && !strcmp(c->export, "csv"))
        return stet_account_csv(a, err);
    if (c->export && !strcmp(c->export, "markdown"))
        rc = stet_account_markdown(&out, a, tally, err);
    else if (c->export || c->format == STET_FORMAT_JSON)
        return stet_account_json(a, tally, err);
    else
        rc = stet_cli_account_text(&out, a, tally, &c->view, err);
    if (rc != STET_OK)
        stet_buf_release(&out);
    else
        *code = stet_cli_print(&out, *code);
    return rc;
}

struct printing {
    const struct choices *choices;
    int code;
};

static enum stet_rc print(void *context, const struct stet_account *a,
                          const struct stet_account_tally *t, struct stet_err *err)
{
    struct printing *p = context;
    struct stet_account own = *a;

    own.log = &p->choices->log;
    own.misses = p->choices->misses;
    own.avoided = p->choices->avoided;
    own.divergences = p->choices->divergences;
    own.exhausted = p->choices->exhausted;
    return print_joined(&own, t, p->choices, &p->code, err);
}

static int explain_dump(const char *folder, const struct choices *c)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_session x;
    struct stet_account a;
    struct printing p = {c, STET_EXIT_FAILURE};

    if (stet_session_open_dump(&x, folder, &err) != STET_OK)
        return stet_cli_complain(&err);
    stet_session_account(&a, &x);
    if (stet_account_use_joined(&a, print, &p, &err) != STET_OK)
        p.code = stet_cli_complain(&err);
    stet_session_close(&x);
    return p.code;
}

/* More compiles than this have another reason than a cold store. */
enum { MOST_COMPILES = 20000 };

/* What the run's journals contain besides its recompiles. */
struct journals {
    struct stet_run_digest digest;
    struct stet_avoided avoided;
    struct stet_misses misses;
    struct stet_divergences divergences;
    struct stet_torch torch;
    struct stet_exhausted_list exhausted;
    bool loaded, asked; /* asked: the store, for its misses */
    bool compared;      /* the ranks */
};

static void read_journals(struct journals *r, const struct stet_run *run)
{
    *r = (struct journals){0};
    r->loaded = stet_ledger_run_load(&r->digest, run->folder, NULL) == STET_OK;
    if (!r->loaded)
        return;
    stet_avoided_make(&r->avoided, &r->digest);
    stet_avoided_sort(&r->avoided);
    stet_torch_init(&r->torch);
    stet_session_torch_load_run(&r->torch, run, NULL);
    stet_session_torch_take_ranks(&r->torch, &r->digest);
    r->compared =
        stet_divergences_make(&r->divergences, &r->digest, &r->torch, run->folder, NULL) == STET_OK;
    stet_session_exhausted(&r->exhausted, &r->digest, run->folder, NULL);
    r->asked = r->digest.compiles <= MOST_COMPILES &&
               stet_misses_make(&r->misses, &r->digest, NULL) == STET_OK;
}

static void release_journals(struct journals *r)
{
    if (r->asked)
        stet_misses_release(&r->misses);
    if (r->compared)
        stet_divergences_release(&r->divergences);
    if (r->loaded)
        stet_torch_release(&r->torch);
    stet_avoided_release(&r->avoided);
    stet_session_exhausted_release(&r->exhausted);
    if (r->loaded)
        stet_ledger_run_unload(&r->digest);
}

/* On the first launch of a command, the store cannot have its programs. What it could not keep, or
 * what another host served, is worth printing even then. */
static bool is_telling(const struct stet_misses *m)
{
    bool telling = m->places.elsewhere;

    for (size_t i = 0; i < m->count; i++)
        telling |= m->items[i].outcome != STET_OUTCOME_MISS;
    return telling;
}

static int explain_run(const char *name, struct choices *c)
{
    struct printing p = {c, STET_EXIT_FAILURE};
    struct stet_err err = STET_ERR_INIT;
    const struct stet_run *run;
    struct stet_runs runs;
    struct journals read;

    if (stet_ledger_runs_open(&runs, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (stet_ledger_job_find(&runs, name, c->job, &run, &err) != STET_OK) {
        stet_ledger_runs_close(&runs);
        return stet_cli_complain(&err);
    }
    if (!c->log_file)
        stet_session_logs_read(&c->log, run->folder);
    read_journals(&read, run);
    c->avoided = &read.avoided;
    c->divergences = read.compared ? &read.divergences : NULL;
    c->exhausted = &read.exhausted;
    if (read.asked && (c->format == STET_FORMAT_JSON || is_telling(&read.misses) ||
                       stet_ledger_run_has_earlier(&runs, run)))
        c->misses = &read.misses;
    if (stet_account_of_run(&runs, run, print, &p, &err) != STET_OK)
        p.code = stet_cli_complain(&err);
    release_journals(&read);
    stet_ledger_runs_close(&runs);
    return p.code;
}

int cmd_explain(int argc, char **argv)
{
    const char *dump = NULL;
    struct choices c = {0};
    const struct stet_option options[] = {
        {"all", NULL, "every change, harmless recompiles, and lines whose compiles were served",
         STET_OPTION_FLAG, &c.view.all},
        {"export", "json|csv|markdown", "all recompiles as data, or a summary to paste",
         STET_OPTION_VALUE, &c.export},
        {"job", NULL, "explain all runs of RUN's job together (done anyway if no RUN is given)",
         STET_OPTION_FLAG, &c.job},
        {"dump", "DIR", "explain a folder of XLA dumps (--xla_dump_to) instead of a run",
         STET_OPTION_VALUE, &dump},
        {"log", "FILE", "read what JAX or PyTorch/XLA logged there about tracing and graphs",
         STET_OPTION_VALUE, &c.log_file},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "explains one run at a time");
    if (c.export && strcmp(c.export, "json") != 0 && strcmp(c.export, "csv") != 0 &&
        strcmp(c.export, "markdown") != 0)
        return stet_cli_usage_error(&usage, "--export is json, csv or markdown");
    c.format = args.format;
    c.view.colour = stet_text_colour(STDOUT_FILENO);
    c.view.width = stet_text_width(STDOUT_FILENO);
    if (dump && args.count)
        return stet_cli_usage_error(&usage, "explains a run or a folder of dumps");
    stet_framework_log_init(&c.log);
    if (c.log_file && stet_framework_log_open(&c.log, c.log_file, 0, &err) != STET_OK)
        done = stet_cli_complain(&err);
    else
        done = dump ? explain_dump(dump, &c) : explain_run(args.count ? args.values[0] : NULL, &c);
    stet_framework_log_release(&c.log);
    return done;
}
