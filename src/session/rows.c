/* Makes rows from findings, directly or for the ledger. */
#include "session/session.h"

#include "session/frameworks.h"

#include "base/mem.h"
#include "stet_version.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

static struct stet_line line_of(const struct stet_place *p)
{
    return (struct stet_line){p->file, p->function, p->line};
}

static struct stet_view name_if(bool there, const char *name)
{
    return there ? stet_view_str(name) : (struct stet_view){0};
}

static size_t convert_changes(const struct stet_finding *f, struct stet_session_row *row)
{
    struct stet_row_change *out = row->changes;

    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        out[i] = (struct stet_row_change){
            .what = stet_words_subject(row->words[i], c->kind, &c->of),
            .from = c->from,
            .to = c->to,
            .file = c->place.file,
            .line = c->place.line,
            .kind = c->kind,
            .facet = c->facet < STET_FACETS
                         ? stet_view_str(stet_facet_name((enum stet_facet)c->facet))
                         : (struct stet_view){0},
            .follows = c->follows < STET_FACETS
                           ? stet_view_str(stet_facet_name((enum stet_facet)c->follows))
                           : (struct stet_view){0},
            .count = c->count,
            .dim = c->of.aspect == STET_ASPECT_DIMENSION ? (uint64_t)c->of.index + 1 : 0,
        };
    }
    return f->change_count;
}

/* A program without an earlier version in this run was compiled for the first time, unless an
 * earlier run had it and what is below it changed. */
enum stet_row_event stet_session_row_event(const struct stet_finding *f)
{
    if (f->outside)
        return STET_EVENT_OUTSIDE;
    if (f->against == STET_NONE)
        return STET_EVENT_FIRST;
    return f->facts.past && stet_cause_question(f->cause) != STET_QUESTION_PROFILE
               ? STET_EVENT_FIRST
               : STET_EVENT_AGAIN;
}

void stet_session_row(struct stet_session_row *row, const struct stet_history *h,
                      const struct stet_finding *f)
{
    const struct stet_sighting *s = &h->sightings[f->sighting];
    const struct stet_sighting *a = f->against == STET_NONE ? NULL : &h->sightings[f->against];

    stet_hash_format(s->program, row->program);
    if (a)
        stet_hash_format(a->program, row->against);
    row->recompile = (struct stet_recompile){
        .lane = STET_LANE_XLA,
        .event = stet_session_row_event(f),
        .process = s->process,
        .compile = s->index,
        .rank = s->rank,
        .step_known = s->step_known,
        .step = s->step,
        .turn_known = stet_history_turn(h, f->sighting) != 0,
        .turn = stet_history_turn(h, f->sighting),
        .time_ns = s->time_ns,
        .cause = f->cause,
        .function = s->traits->function,
        .program = stet_view_str(row->program),
        .against = name_if(a != NULL, row->against),
        .origin = line_of(&f->origin),
        .trigger = line_of(&s->trigger),
        .source = line_of(&f->source),
        .changes = row->changes,
        /* How single operations differ from each other is not what happened. */
        .change_count = f->outside ? 0 : convert_changes(f, row),
        .left_out = f->outside ? 0 : f->left_out,
        .cost_ns = s->cost_ns,
        .wait_ns = s->wait_ns,
        .served = stet_journal_served(s->served),
        .benign = f->benign,
        .sure = stet_finding_confidence(f),
        .evidence = f->evidence,
        .has_memory = s->has_memory,
        .temp_bytes = s->temp_bytes,
        .has_more = s->has_memory && a && a->has_memory,
        .temp_bytes_more = a ? (int64_t)s->temp_bytes - (int64_t)a->temp_bytes : 0,
        .fix = f->fix,
        .advice = f->advice,
    };
    for (uint32_t i = 0; i < f->also_count; i++)
        stet_cause_list_add(&row->recompile.also, f->also[i]);
}

/* ---- directly ---- */

static enum stet_rc each_finding(void *source, stet_visit_recompile *visit, void *context,
                                 struct stet_err *err)
{
    const struct stet_session *x = source;
    struct stet_session_row row;

    (void)err;
    for (uint32_t i = 0; i < x->history.finding_count; i++) {
        if (x->history.findings[i].cause == STET_CAUSE_NONE)
            continue;
        stet_session_row(&row, &x->history, &x->history.findings[i]);
        if (!visit(context, &row.recompile))
            break;
    }
    return STET_OK;
}

enum { PHASE_COUNTERS = 3 };

/* JAX's reports of its phases become counters, beside PyTorch/XLA's own counters. */
static size_t phase_counters(struct stet_counter *out, const struct stet_process_digest *p)
{
    uint64_t lowerings = 0, trace_ns = 0, lower_ns = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->compile_count; i++) {
        lowerings += p->compiles[i].lower_ns != 0;
        trace_ns += p->compiles[i].trace_ns;
        lower_ns += p->compiles[i].lower_ns;
    }
    if (p->traces_taken)
        out[n++] = (struct stet_counter){
            .name = STET_VIEW("Trace"), .samples = p->traces_taken, .total = trace_ns};
    if (lowerings)
        out[n++] = (struct stet_counter){
            .name = STET_VIEW("Lowering"), .samples = lowerings, .total = lower_ns};
    if (p->traces > p->traces_taken)
        out[n++] = (struct stet_counter){.name = STET_VIEW("TraceWithoutCompile"),
                                         .samples = p->traces - p->traces_taken,
                                         .total = p->untaken_ns};
    for (size_t i = 0; i < n; i++)
        out[i].framework = STET_VIEW("jax");
    return n;
}

/* Returns the counters of all processes with their lines, in the digest's arena. */
static const struct stet_counter *counters_of(struct stet_session *x, size_t *count)
{
    struct stet_counter *all;
    size_t n = 0;

    *count = 0;
    for (size_t i = 0; i < x->digest.process_count; i++)
        n += x->digest.processes[i].counter_count + PHASE_COUNTERS;
    all = n ? STET_NEW_ARRAY(&x->digest.arena, struct stet_counter, n) : NULL;
    for (size_t i = 0; all && i < x->digest.process_count; i++) {
        const struct stet_process_digest *p = &x->digest.processes[i];
        size_t first = *count;

        for (size_t k = 0; k < p->counter_count; k++)
            all[(*count)++] = p->counters[k];
        *count += phase_counters(&all[*count], p);
        for (size_t k = first; k < *count; k++)
            all[k].process = i;
    }
    stet_session_counters_place(&x->history, all, *count);
    return all;
}

void stet_session_account(struct stet_account *a, struct stet_session *x)
{
    struct stet_session_settled s = stet_session_settled(x);

    *a = (struct stet_account){.run = x->run, .each = each_finding, .source = x};
    a->totals.compiles = x->digest.compiles;
    a->totals.compile_ns = x->digest.compile_ns;
    a->totals.executions = x->digest.executions;
    a->totals.programs = s.programs;
    a->totals.settled = s.settled;
    a->totals.settled_step = s.step;
    a->totals.unsettled = s.why;
    a->counters = counters_of(x, &a->counter_count);
}

/* ---- for the ledger ---- */

static enum stet_rc feed_processes(struct stet_ledger *l, struct stet_session *x,
                                   struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; rc == STET_OK && i < x->digest.process_count; i++) {
        const struct stet_process_digest *p = &x->digest.processes[i];
        const struct stet_bundle *b = stet_session_bundle(&x->digest, p);

        rc = stet_ledger_add_process(l,
                                     &(struct stet_ledger_process){.process = i,
                                                                   .pid = p->pid,
                                                                   .steps = p->steps,
                                                                   .steps_known = p->steps_known,
                                                                   .executions = p->executions,
                                                                   .host = p->host,
                                                                   .python = p->python,
                                                                   .rank = p->rank},
                                     err);
        for (uint32_t k = 0; b && rc == STET_OK && k < b->count; k++)
            rc = stet_ledger_add_part(l, i, b->parts[k].name, b->parts[k].value, err);
    }
    return rc;
}

static enum stet_rc feed_compiles(struct stet_ledger *l, const struct stet_session *x,
                                  struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (uint32_t i = 0; rc == STET_OK && i < x->history.sighting_count; i++) {
        const struct stet_sighting *s = &x->history.sightings[i];
        const struct stet_compile_event *c;
        char program[STET_HASH_TEXT];

        if (s->past)
            continue;
        c = &x->digest.processes[s->process].compiles[s->tag];
        stet_hash_format(s->program, program);
        rc = stet_ledger_add_compile(
            l,
            &(struct stet_ledger_compile){.process = s->process,
                                          .compile = s->index,
                                          .time_ns = s->time_ns,
                                          .cost_ns = s->cost_ns,
                                          .wait_ns = s->wait_ns,
                                          .executions = s->executions,
                                          .step = s->step,
                                          .step_known = s->step_known,
                                          .served = s->served,
                                          .temp_bytes = s->temp_bytes,
                                          .has_memory = s->has_memory,
                                          .function = s->traits->function,
                                          .program = stet_view_str(program),
                                          .error = s->failed ? c->error : (struct stet_view){0}},
            err);
    }
    return rc;
}

static enum stet_rc feed_counters(struct stet_ledger *l, struct stet_session *x,
                                  struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    size_t count;
    const struct stet_counter *c = counters_of(x, &count);

    for (size_t i = 0; rc == STET_OK && i < count; i++)
        rc = stet_ledger_add_counter(l, &c[i], err);
    return rc;
}

static enum stet_rc feed(struct stet_ledger *l, struct stet_session *x, const struct stet_run *run,
                         const char *stamp, struct stet_err *err)
{
    struct stet_session_settled s = stet_session_settled(x);
    struct stet_ledger_run row = {
        .run = run,
        .processes = x->digest.process_count,
        .compiles = x->digest.compiles,
        .loads = x->digest.loads,
        .failed = x->digest.failed,
        .executions = x->digest.executions,
        .compile_ns = x->digest.compile_ns,
        .programs = s.programs,
        .settled = s.settled,
        .settled_step = s.step,
        .unsettled = s.why,
    };
    struct stet_ledger_feed f = {l, STET_OK, err};
    enum stet_rc rc = stet_ledger_begin(l, &row, STET_LANE_XLA, err);

    if (rc == STET_OK)
        rc = feed_processes(l, x, err);
    if (rc == STET_OK)
        rc = feed_compiles(l, x, err);
    if (rc == STET_OK)
        rc = feed_counters(l, x, err);
    if (rc == STET_OK) {
        each_finding(x, stet_ledger_feed, &f, err);
        rc = f.rc;
    }
    if (rc != STET_OK) {
        stet_ledger_end(l, stamp, false, NULL);
        return rc;
    }
    rc = stet_ledger_end(l, stamp, true, err);
    return rc == STET_OK ? stet_ledger_keep_newest(l, STET_LEDGER_RUNS_KEPT, err) : rc;
}

static void add_sizes(const char *run, const char *name, unsigned long long *files,
                      unsigned long long *bytes)
{
    char folder[4200], path[8400];
    struct stat st;
    DIR *dir;

    snprintf(folder, sizeof folder, "%s/%s", run, name);
    dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.' && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            *bytes += (unsigned long long)st.st_size;
            ++*files;
        }
    }
    if (dir)
        closedir(dir);
}

/* Files only grow, so their number and size show whether they changed. The release and the version
 * in front change with the way of explaining. */
static void stamp_of(const struct stet_run *run, char *out, size_t room)
{
    unsigned long long bytes = 0, files = 0;

    add_sizes(run->folder, "journal", &files, &bytes);
    add_sizes(run->folder, "dump", &files, &bytes);
    snprintf(out, room, STET_VERSION " %d %llu %llu %llu", STET_EXPLAIN_VERSION, files, bytes,
             (unsigned long long)run->ended_ns);
}

enum stet_rc stet_session_keep(struct stet_ledger *l, struct stet_session *x,
                               const struct stet_run *run, struct stet_err *err)
{
    char stamp[96];

    stamp_of(run, stamp, sizeof stamp);
    return feed(l, x, run, stamp, err);
}

enum stet_rc stet_session_feed(struct stet_ledger *l, const struct stet_runs *runs,
                               const struct stet_run *run, struct stet_err *err)
{
    struct stet_session x;
    char stamp[96];
    enum stet_rc rc;

    stamp_of(run, stamp, sizeof stamp);
    if (stet_ledger_has(l, run->id, STET_LANE_XLA, stamp))
        return STET_OK;
    rc = stet_session_open(&x, runs, run, err);
    if (rc != STET_OK)
        return rc;
    rc = feed(l, &x, run, stamp, err);
    stet_session_close(&x);
    return rc;
}
