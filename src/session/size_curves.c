/* Reads the sizes of runs and files, makes a curve for each function, and prices today's buckets.
 */
#include "session/size_curves.h"

#include "base/fs.h"
#include "base/mem.h"
#include "ingest/torch.h"
#include "ledger/run_folder.h"
#include "session/torch_rows.h"

static bool has_programs(const struct stet_run_digest *d)
{
    for (size_t p = 0; p < d->process_count; p++)
        if (d->processes[p].compile_count)
            return true;
    return false;
}

/* A run in which torch.compile alone compiled has no programs, but the guards of its frames. */
static enum stet_rc add_torch(struct stet_size_curves *w, const struct stet_run *run,
                              struct stet_err *err)
{
    struct stet_torch t;
    enum stet_rc rc = STET_OK;

    stet_torch_init(&t);
    if (stet_session_torch_load_run(&t, run, NULL) == STET_OK)
        rc = stet_session_sizes_torch(&w->sizes, &t, err);
    stet_torch_release(&t);
    return rc;
}

static enum stet_rc add_run(struct stet_size_curves *w, struct stet_runs *runs, const char *name,
                            struct stet_err *err)
{
    struct stet_session_programs *programs = stet_session_programs_new();
    const struct stet_run *run;
    struct stet_run_digest d;
    enum stet_rc rc = programs ? stet_ledger_runs_find(runs, name, &run, err)
                               : stet_fail(err, STET_NO_MEMORY, "out of memory");

    if (rc == STET_OK)
        rc = stet_ledger_run_load(&d, run->folder, err);
    if (rc == STET_OK) {
        w->run = run->id;
        rc = has_programs(&d) ? stet_session_sizes_add(&w->sizes, &d, run->folder, programs, err)
                              : add_torch(w, run, err);
        stet_ledger_run_unload(&d);
    }
    stet_session_programs_free(programs);
    return rc;
}

static const char *lengths_name(const struct stet_size_curves_wish *o)
{
    return strcmp(o->lengths, "-") != 0 ? o->lengths : "standard input";
}

static enum stet_rc read_lengths(struct stet_size_curves *w, struct stet_err *err)
{
    bool piped = !strcmp(w->o->lengths, "-");
    struct stet_file file = {0};
    enum stet_rc rc = stet_file_open(&file, piped ? "/dev/stdin" : w->o->lengths, err);

    if (rc == STET_OK)
        rc = stet_buckets_lengths_parse(&w->lengths, file.bytes, lengths_name(w->o), err);
    stet_file_close(&file);
    return rc == STET_NOT_FOUND ? STET_BAD_INPUT : rc;
}

/* The buckets of --today, else those of the run. */
static enum stet_rc price_today(struct stet_size_curves *w, struct stet_size_curve *item,
                                struct stet_err *err)
{
    unsigned rank = item->curve.rank;
    int64_t *dims;

    if (!w->today.count) {
        if (item->function)
            item->today = stet_session_sizes_today(item->function, &item->curve);
        item->has_today = item->today.dims != NULL;
        return STET_OK;
    }
    if (w->today.rank != rank)
        return stet_fail(err, STET_USAGE, "--today has %u dimension%s, the sizes have %u",
                         w->today.rank, w->today.rank == 1 ? "" : "s", rank);
    dims = stet_mem_calloc(w->today.count * rank, sizeof *dims);
    if (!dims)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for buckets");
    for (size_t i = 0; i < w->today.count; i++)
        memcpy(dims + i * rank, w->today.shapes[i].dims, rank * sizeof *dims);
    item->today = stet_buckets_price(&item->curve, dims, (uint32_t)w->today.count);
    item->has_today = item->today.dims != NULL;
    stet_mem_free(dims);
    return STET_OK;
}

static enum stet_rc add_item(struct stet_size_curves *w, const struct stet_size_function *f,
                             struct stet_err *err)
{
    struct stet_size_curve *item = &w->items[w->count];
    struct stet_buckets_wish wish = w->o->buckets;
    bool own = w->lengths.count > 0;
    struct stet_buckets_shape *shapes = own ? w->lengths.shapes : f->shapes;
    size_t count = own ? w->lengths.count : f->program_count;
    enum stet_rc rc;

    if (own && f && f->rank != w->lengths.rank)
        return stet_fail(err, STET_USAGE, "%s has %u dimension%s, %.*s varies in %u", w->o->lengths,
                         w->lengths.rank, w->lengths.rank == 1 ? "" : "s", STET_FMT(f->name),
                         f->rank);
    *item = (struct stet_size_curve){
        .function = f, .lengths = own ? lengths_name(w->o) : NULL, .as_came = wish.multiple <= 1};
    if (f && !w->o->has_cost)
        wish.cost = f->cost;
    wish.cost.program /= w->o->repeat;
    rc =
        stet_buckets_make(&item->curve, shapes, count, own ? w->lengths.rank : f->rank, &wish, err);
    if (rc != STET_OK)
        return rc;
    w->count++;
    return price_today(w, item, err);
}

/* The function that --lengths is for: the one named, otherwise the one that was waited for most. */
static const struct stet_size_function *main_function(const struct stet_size_curves *w)
{
    const struct stet_size_function *found = NULL;

    for (size_t i = 0; i < w->sizes.count; i++) {
        const struct stet_size_function *f = &w->sizes.functions[i];

        if (f->rank >= 1 && f->rank <= STET_BUCKETS_RANK &&
            (!w->o->function || stet_view_is(f->name, w->o->function)) &&
            (!found || f->wait_s > found->wait_s))
            found = f;
    }
    return found;
}

static enum stet_rc make_items(struct stet_size_curves *w, bool from_run, struct stet_err *err)
{
    const struct stet_size_function *one = main_function(w);
    enum stet_rc rc = STET_OK;

    w->items = stet_mem_calloc(w->sizes.count + 1, sizeof *w->items);
    if (!w->items)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (w->o->function && from_run && !one)
        return stet_fail(err, STET_USAGE, "no function %s whose sizes varied", w->o->function);
    if (w->lengths.count)
        return add_item(w, one, err);
    for (size_t i = 0; i < w->sizes.count && rc == STET_OK; i++) {
        const struct stet_size_function *f = &w->sizes.functions[i];

        if (f->rank >= 1 && f->rank <= STET_BUCKETS_RANK &&
            (!w->o->function || stet_view_is(f->name, w->o->function)))
            rc = add_item(w, f, err);
    }
    return rc;
}

enum stet_rc stet_session_curves_make(struct stet_size_curves *w,
                                      const struct stet_size_curves_wish *o, struct stet_err *err)
{
    struct stet_runs runs;
    bool from_run = o->run_count || !o->lengths;
    enum stet_rc rc;

    *w = (struct stet_size_curves){.o = o};
    stet_session_sizes_init(&w->sizes);
    rc = o->lengths ? read_lengths(w, err) : STET_OK;

    if (rc == STET_OK && w->o->today)
        rc = stet_buckets_lengths_list(&w->today, stet_view_str(w->o->today), "--today", err);
    if (rc == STET_OK && from_run) {
        rc = stet_ledger_runs_open(&runs, err);
        for (int i = 0; rc == STET_OK && i < (o->run_count ? o->run_count : 1); i++)
            rc = add_run(w, &runs, o->run_count ? o->runs[i] : NULL, err);
        if (rc == STET_OK)
            rc = stet_session_sizes_finish(&w->sizes, err);
        if (rc == STET_OK)
            rc = make_items(w, true, err);
        if (rc == STET_OK)
            w->run = w->run ? stet_arena_copy(&w->sizes.arena, stet_view_str(w->run)).ptr : NULL;
        stet_ledger_runs_close(&runs);
        return rc;
    }
    return rc == STET_OK ? make_items(w, false, err) : rc;
}

void stet_session_curves_release(struct stet_size_curves *w)
{
    for (size_t i = 0; i < w->count; i++)
        stet_buckets_release(&w->items[i].curve);
    stet_mem_free(w->items);
    stet_buckets_lengths_release(&w->lengths);
    stet_buckets_lengths_release(&w->today);
    stet_session_sizes_release(&w->sizes);
}

bool stet_session_curve_gains(const struct stet_size_curve *c)
{
    const struct stet_buckets_set *best = &c->curve.sets[c->curve.best];

    return c->has_today && best->total < 0.95 * c->today.total;
}
