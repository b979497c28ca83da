/* Makes rows from compiles and graph breaks, in the same form as the other lane's. */
#include "session/torch_rows.h"

#include "base/fs.h"
#include "base/mem.h"
#include "fingerprint/source_place.h"
#include "stet_version.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

enum { TORCH_ROWS_VERSION = 7, CHANGES = 8 };

struct row {
    struct stet_recompile recompile;
    struct stet_row_change changes[CHANGES];
    struct stet_cause_list also;
    struct stet_buf fix, evidence, what, missed;
};

static void row_clear(struct row *r)
{
    r->also.count = 0;
    r->fix.len = r->evidence.len = r->what.len = r->missed.len = 0;
}

static void row_release(struct row *r)
{
    stet_buf_release(&r->fix);
    stet_buf_release(&r->evidence);
    stet_buf_release(&r->what);
    stet_buf_release(&r->missed);
}

static struct stet_view view_or_absent(struct stet_view v)
{
    return v.len ? v : (struct stet_view){0};
}

static struct stet_line line_of(const struct stet_torch_place *p)
{
    return (struct stet_line){p->file, p->function, p->line};
}

/* Returns the number of each compile within its process. */
static uint32_t *indices(const struct stet_torch *t)
{
    uint32_t *of = stet_mem_calloc(t->compile_count + 1, sizeof *of);
    uint32_t *next = stet_mem_calloc(t->process_count + 1, sizeof *next);

    for (size_t i = 0; of && next && i < t->compile_count; i++)
        of[i] = next[t->frames[t->compiles[i].frame].process]++;
    if (!next) {
        stet_mem_free(of);
        of = NULL;
    }
    stet_mem_free(next);
    return of;
}

/* Returns the turn of each compile: its number among the calls that compiled. A call compiles each
 * frame once, so a frame that is compiled again, or another calling line, begins a new turn. */
static uint32_t *turns(const struct stet_torch *t)
{
    uint32_t *of = stet_mem_calloc(t->compile_count + 1, sizeof *of);
    uint32_t *last = stet_mem_calloc(t->frame_count + 1, sizeof *last); /* turn of each frame */
    uint32_t *before = stet_mem_calloc(t->process_count + 1, sizeof *before); /* compile + 1 */

    for (uint32_t i = 0; of && last && before && i < t->compile_count; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];
        uint32_t process = t->frames[c->frame].process, earlier = before[process];
        uint32_t turn = earlier ? of[earlier - 1] : 1;

        if (earlier &&
            (last[c->frame] == turn || t->compiles[earlier - 1].call.line != c->call.line ||
             !stet_view_eq(t->compiles[earlier - 1].call.file, c->call.file)))
            turn++;
        of[i] = last[c->frame] = turn;
        before[process] = i + 1;
    }
    stet_mem_free(last);
    stet_mem_free(before);
    return of;
}

/* Gathers what changed, then the guards of the other entries, each once. */
static size_t changes_of(const struct stet_torch *t, const struct stet_torch_compile *c,
                         const struct stet_torch_why *why, struct row *r)
{
    size_t n = 0;
    uint32_t i = c->failures;

    stet_torch_what(why, &r->what);
    r->changes[n++] = (struct stet_row_change){.what = stet_buf_as_view(&r->what),
                                               .from = view_or_absent(why->from),
                                               .to = view_or_absent(why->to),
                                               .file = why->origin.file,
                                               .line = why->origin.line,
                                               .kind = STET_CHANGE_GUARD,
                                               .dim = (uint64_t)(why->dim + 1),
                                               .count = 1};
    for (i = t->failures[i].next; i != STET_TORCH_NONE && n < CHANGES; i = t->failures[i].next) {
        struct stet_guard g;

        stet_ingest_guard_parse(&g, t->failures[i].text);
        if (stet_view_eq(g.source, why->what) && g.dim == why->dim)
            continue;
        r->changes[n++] = (struct stet_row_change){.what = g.expr,
                                                   .from = view_or_absent(g.expected),
                                                   .to = view_or_absent(g.actual),
                                                   .kind = STET_CHANGE_GUARD,
                                                   .dim = (uint64_t)(g.dim + 1),
                                                   .count = 1};
    }
    return n;
}

static void evidence_of(const struct stet_torch *t, uint32_t compile,
                        const struct stet_torch_why *why, struct row *r)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    int64_t lowest;
    uint32_t with, without;

    if (why->has_guard) {
        stet_buf_printf(&r->evidence, "guard `%.*s` failed", STET_FMT(why->guard.expr));
        if (c->failure_count > 1)
            stet_buf_printf(&r->evidence, ", none of %u entries served", c->failure_count);
        stet_buf_str(&r->evidence, "; values ");
        if (!stet_torch_values(t, compile, why, 8, &r->evidence))
            r->evidence.len -= strlen("; values ");
    }
    /* after a failed guard the graph differs, so a cache miss is expected */
    if (!why->has_guard && c->fx_cache == STET_CACHE_MISS &&
        stet_session_torch_cache_missed(t, compile, &r->missed))
        stet_buf_printf(&r->evidence, "; Inductor's cache missed: %s", r->missed.ptr);
    if (c->limit) {
        stet_buf_printf(&r->evidence, "; %.*s (%llu) reached: it runs eagerly from here on",
                        STET_FMT(t->frames[c->frame].limit),
                        (unsigned long long)t->frames[c->frame].limit_value);
        if (t->frames[c->frame].nested != STET_TORCH_NONE)
            stet_buf_str(&r->evidence, ", and so does what it calls");
        stet_session_torch_text_nested(t, &t->frames[c->frame], &r->evidence);
    }
    if (stet_torch_diverges(t, compile, &with, &without, &lowest) && with <= without) {
        stet_buf_printf(&r->evidence, "; %u rank%s did not compile this", without,
                        without == 1 ? "" : "s");
        stet_cause_list_add(&r->also, STET_CAUSE_RANK_DIVERGENCE);
    }
}

static void compile_row(const struct stet_torch *t, uint32_t compile, uint32_t index, uint32_t turn,
                        struct row *r)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    const struct stet_torch_frame *f = &t->frames[c->frame];
    struct stet_torch_place made;
    struct stet_torch_why why;
    size_t changes;
    bool sure;

    row_clear(r);
    stet_torch_explain(t, compile, &why);
    made = stet_torch_made(t, compile, &why, &sure);
    for (size_t i = 0; i < why.also_count; i++)
        stet_cause_list_add(&r->also, why.also[i]);
    changes = why.has_guard ? changes_of(t, c, &why, r) : 0;
    evidence_of(t, compile, &why, r);
    stet_torch_fix(t, &why, &r->fix);
    r->recompile = (struct stet_recompile){
        .lane = STET_LANE_TORCH,
        .process = f->process,
        .compile = index,
        .rank = t->processes[f->process].rank,
        .time_ns = c->start_us * 1000,
        .turn_known = turn != 0,
        .turn = turn,
        .cause = why.cause,
        .also = r->also,
        .function = stet_torch_function(f->code.function),
        .origin = line_of(&why.origin),
        .trigger = line_of(&c->call),
        .source = line_of(&made),
        .changes = r->changes,
        .change_count = changes,
        .wait_ns = stet_session_torch_cost(c) * 1000,
        .cost_ns = stet_session_torch_cost(c) * 1000,
        .served = stet_session_torch_loaded(c) ? STET_SERVED_TORCH : STET_SERVED_COMPILED,
        .sure = sure || (!made.line && why.broken != STET_TORCH_NONE) ? STET_SURE_CERTAIN
                                                                      : STET_SURE_LIKELY,
        .evidence = stet_buf_as_view(&r->evidence),
        .fix = stet_buf_as_view(&r->fix)};
}

/* A break costs the compiles that it causes: the frames that resume behind it, the first time. */
static uint32_t resumed(const struct stet_torch *t, const struct stet_torch_break *b,
                        uint64_t *cost_us)
{
    uint32_t first = STET_TORCH_NONE;
    char tail[32];

    *cost_us = 0;
    snprintf(tail, sizeof tail, "_at_%llu", (unsigned long long)b->place.line);
    for (size_t i = 0; i < t->frame_count; i++) {
        const struct stet_torch_frame *f = &t->frames[i];

        if (f->process != b->process || f->first == STET_TORCH_NONE ||
            !stet_view_starts(f->code.function, "torch_dynamo_resume_in_") ||
            !stet_view_ends(f->code.function, tail) || !stet_view_eq(f->code.file, b->place.file))
            continue;
        *cost_us += stet_session_torch_cost(&t->compiles[f->first]);
        first = first == STET_TORCH_NONE ? f->first : first;
    }
    return first;
}

/* PyTorch's optimizers and schedulers keep a compiled step out of the function that calls it. The
 * step is a frame of its own, and nothing is compiled behind it. */
static bool is_torchs_own(const struct stet_torch_break *b, uint64_t cost)
{
    return !cost && ((stet_place_installed(b->place.file) &&
                      memmem(b->place.file.ptr, b->place.file.len, "/torch/optim/", 13)) ||
                     (b->why.len && memmem(b->why.ptr, b->why.len, "/torch/optim/", 13)));
}

static void break_row(const struct stet_torch *t, uint32_t at, const uint32_t *index, struct row *r)
{
    const struct stet_torch_break *b = &t->breaks[at];
    struct stet_torch_why why;
    uint64_t cost;
    uint32_t first = resumed(t, b, &cost);

    row_clear(r);
    stet_torch_explain_break(t, at, &why);
    stet_torch_fix(t, &why, &r->fix);
    stet_buf_printf(&r->evidence, "graph break: %.*s", STET_FMT(b->reason));
    if (b->count > 1)
        stet_buf_printf(&r->evidence, ", %u times", b->count);
    if (why.cause != STET_CAUSE_GRAPH_BREAK)
        stet_cause_list_add(&r->also, STET_CAUSE_GRAPH_BREAK);
    r->changes[0] = (struct stet_row_change){.what = b->code.len ? b->code : b->reason,
                                             .file = b->place.file,
                                             .line = b->place.line,
                                             .kind = STET_CHANGE_GRAPH_BREAK,
                                             .count = b->count};
    r->recompile =
        (struct stet_recompile){.lane = STET_LANE_TORCH,
                                .event = STET_EVENT_BREAK,
                                .time_ns = t->compiles[b->compile].start_us * 1000,
                                .process = b->process,
                                .compile = index[first == STET_TORCH_NONE ? b->compile : first],
                                .rank = t->processes[b->process].rank,
                                .cause = why.cause,
                                .also = r->also,
                                .function = t->frames[b->frame].code.function,
                                .origin = line_of(&b->place),
                                .trigger = line_of(&t->compiles[b->compile].call),
                                .changes = r->changes,
                                .change_count = 1,
                                .wait_ns = cost * 1000,
                                .cost_ns = cost * 1000,
                                .served = STET_SERVED_COMPILED,
                                .benign = is_torchs_own(b, cost),
                                .sure = STET_SURE_CERTAIN,
                                .evidence = stet_buf_as_view(&r->evidence),
                                .fix = stet_buf_as_view(&r->fix)};
}

/* Makes the row of a CUDA graph that was recorded again. It is not a compile, but stalls the
 * program like one. */
static void graph_row(const struct stet_torch *t, uint32_t compile, uint32_t index, struct row *r)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    const struct stet_torch_frame *f = &t->frames[c->frame];
    const struct stet_torch_rerecord *why =
        c->rerecords == STET_TORCH_NONE ? NULL : &t->rerecords[c->rerecords];
    enum stet_rerecord kind = stet_torch_rerecord_kind(t, compile, c->rerecords);
    const struct stet_torch_place *at = why && why->place.line ? &why->place : &f->code;
    uint32_t n = stet_torch_recordings(c);
    uint64_t cost = n > 1 ? c->recording_us * 1000 / n * (n - 1) : 0;

    row_clear(r);
    stet_buf_printf(&r->evidence, "CUDA graph recorded %u time%s: %s", n, n == 1 ? "" : "s",
                    stet_torch_rerecord_words(kind));
    if (why && why->limit)
        stet_buf_str(&r->evidence, "; torch gave up: it runs without a CUDA graph from here on");
    stet_buf_str(&r->fix, stet_torch_rerecord_fix(kind));
    stet_buf_str(&r->what, kind == STET_RERECORD_SIZE ? "sizes" : "address of an input");
    r->changes[0] = (struct stet_row_change){
        .what = why && why->input.len ? why->input : stet_buf_as_view(&r->what),
        .to = why ? view_or_absent(why->size) : (struct stet_view){0},
        .file = at->file,
        .line = at->line,
        .kind = STET_CHANGE_CUDAGRAPH,
        .count = n > 1 ? n - 1 : 1};
    r->recompile = (struct stet_recompile){.lane = STET_LANE_TORCH,
                                           .event = STET_EVENT_RECORDED,
                                           .time_ns = c->start_us * 1000,
                                           .process = f->process,
                                           .compile = index,
                                           .rank = t->processes[f->process].rank,
                                           .cause = STET_CAUSE_CUDAGRAPH_RERECORD,
                                           .also = r->also,
                                           .function = f->code.function,
                                           .origin = line_of(at),
                                           .trigger = line_of(&c->call),
                                           .changes = r->changes,
                                           .change_count = 1,
                                           .wait_ns = cost,
                                           .cost_ns = cost,
                                           .served = STET_SERVED_COMPILED,
                                           .sure = why ? STET_SURE_CERTAIN : STET_SURE_LIKELY,
                                           .evidence = stet_buf_as_view(&r->evidence),
                                           .fix = stet_buf_as_view(&r->fix)};
}

void stet_session_torch_each(struct stet_torch *t, stet_visit_recompile *visit, void *context)
{
    uint32_t *index = indices(t), *turn = turns(t);
    struct row r = {0};
    bool more = index && turn;

    for (uint32_t i = 0; more && i < t->compile_count; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];

        if (!stet_session_torch_is_again(c))
            continue;
        compile_row(t, i, index[i], turn[i], &r);
        more = visit(context, &r.recompile);
    }
    for (uint32_t i = 0; more && i < t->break_count; i++) {
        break_row(t, i, index, &r);
        more = visit(context, &r.recompile);
    }
    for (uint32_t i = 0; more && i < t->compile_count; i++) {
        if (stet_torch_recordings(&t->compiles[i]) < 2 &&
            t->compiles[i].rerecords == STET_TORCH_NONE)
            continue;
        graph_row(t, i, index[i], &r);
        more = visit(context, &r.recompile);
    }
    row_release(&r);
    stet_mem_free(turn);
    stet_mem_free(index);
}

void stet_session_torch_row(const struct stet_torch *t, enum stet_torch_row_kind kind, uint32_t at,
                            stet_visit_recompile *visit, void *context)
{
    uint32_t *index = indices(t);
    struct row r = {0};

    if (!index)
        return;
    if (kind == STET_ROW_BREAK)
        break_row(t, at, index, &r);
    else if (kind == STET_ROW_GRAPH)
        graph_row(t, at, index[at], &r);
    else
        compile_row(t, at, index[at], 0, &r);
    visit(context, &r.recompile);
    row_release(&r);
    stet_mem_free(index);
}

enum stet_rc stet_session_torch_load_run(struct stet_torch *t, const struct stet_run *run,
                                         struct stet_err *err)
{
    struct stet_torch_files *files = stet_torch_files_new(t);
    char *folder = stet_fs_join(run->folder, "torch");
    enum stet_rc rc = STET_NOT_FOUND;

    if (!files || !folder)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    else if (stet_fs_exists(folder))
        rc = stet_torch_files_add(files, folder, err);
    if (rc == STET_OK)
        rc = stet_torch_files_finish(files, err);
    if (rc == STET_OK && !stet_torch_files_count(files))
        rc = STET_NOT_FOUND;
    stet_torch_files_free(files);
    stet_mem_free(folder);
    return rc;
}

/* Files only grow, so their number and size show whether they changed. The release and the version
 * in front change with the way of explaining. */
static bool stamp_of(const struct stet_run *run, char *out, size_t room)
{
    unsigned long long files = 0, bytes = 0;
    char *folder = stet_fs_join(run->folder, "torch");
    DIR *dir = folder ? opendir(folder) : NULL;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        char *path = e->d_name[0] == '.' ? NULL : stet_fs_join(folder, e->d_name);
        struct stat st;

        if (path && stat(path, &st) == 0) {
            files++;
            bytes += (unsigned long long)st.st_size;
        }
        stet_mem_free(path);
    }
    if (dir)
        closedir(dir);
    stet_mem_free(folder);
    snprintf(out, room, STET_VERSION " %d %llu %llu", TORCH_ROWS_VERSION, files, bytes);
    return files > 0;
}

enum stet_rc stet_session_torch_feed_model(struct stet_ledger *l, const struct stet_run *run,
                                           struct stet_torch *t, struct stet_err *err)
{
    struct stet_ledger_run row = {.run = run};
    struct stet_ledger_feed f = {l, STET_OK, err};
    char stamp[96];
    enum stet_rc rc;

    stamp_of(run, stamp, sizeof stamp);
    rc = stet_ledger_begin(l, &row, STET_LANE_TORCH, err);
    if (rc != STET_OK)
        return rc;
    stet_session_torch_each(t, stet_ledger_feed, &f);
    rc = stet_ledger_end(l, stamp, f.rc == STET_OK, err);
    return f.rc == STET_OK ? rc : f.rc;
}

enum stet_rc stet_session_torch_feed(struct stet_ledger *l, const struct stet_run *run,
                                     struct stet_err *err)
{
    struct stet_torch t;
    char stamp[96];
    enum stet_rc rc;

    if (!stamp_of(run, stamp, sizeof stamp) || stet_ledger_has(l, run->id, STET_LANE_TORCH, stamp))
        return STET_OK;
    stet_torch_init(&t);
    rc = stet_session_torch_load_run(&t, run, err);
    if (rc == STET_OK) {
        stet_session_torch_load_past(&t, run);
        rc = stet_session_torch_feed_model(l, run, &t, err);
    }
    stet_torch_release(&t);
    return rc == STET_NOT_FOUND ? STET_OK : rc;
}
