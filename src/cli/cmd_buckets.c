/* stet buckets: the sizes to pad to, from a run or from a list of lengths. */
#include "cli/buckets_text.h"
#include "cli/command.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "buckets/bucket_emit.h"
#include "buckets/lengths.h"
#include "contract/bucket_clauses.h"
#include "contract/contract_run.h"

#include <stdio.h>
#include <stdlib.h>

static const struct stet_usage usage = {
    "stet buckets [options] [RUN…]",
    "Prints the best sizes to pad to for every number of programs, from the sizes that came in\n"
    "runs (default: the latest one) or from a file of lengths. A row gives what the steps cost\n"
    "when they are padded, what the programs cost to wait for, and both together; * marks the\n"
    "row of least cost. Exit 1 when it costs at least 5 % less than what is used today.",
    "buckets",
};

struct choices {
    const char *lengths, *function, *argument, *emit, *contract, *today, *step;
    const char *compile, *most, *programs, *multiple, *times, *model;
    bool write;
    enum stet_format format;
    struct stet_buckets_wish wish;
    double repeat; /* --times */
    bool has_cost; /* --step, --compile or --model */
    enum stet_buckets_target target;
};

struct work {
    struct choices *o;
    struct stet_run_sizes sizes;
    struct stet_buckets_lengths lengths, today;
    struct stet_cli_sizes *items;
    size_t count;
    const char *run; /* the last one's id */
};

/* ---- options ---- */

static bool number_of(const char *text, double least, double most, double *out)
{
    char *end = NULL;

    *out = text ? strtod(text, &end) : 0;
    return !text || (end != text && !*end && *out >= least && *out <= most);
}

/* "512:0.08,1024:0.21": seconds by elements. */
static bool fit_steps(struct stet_buckets_cost *c, const char *text)
{
    struct stet_buckets_time times[64];
    uint32_t n = 0;

    while (*text && n < 64) {
        char *end;

        times[n].weight = 1;
        times[n].elements = strtod(text, &end);
        if (end == text || *end != ':')
            return false;
        text = end + 1;
        times[n++].seconds = strtod(text, &end);
        if (end == text || (*end && *end != ','))
            return false;
        text = *end ? end + 1 : end;
    }
    return !*text && stet_buckets_cost_fit(c, times, n);
}

static const char *take_options(struct choices *o)
{
    double compile, most, programs, multiple;

    if (!number_of(o->compile, 0, 1e6, &compile))
        return "--compile is the seconds that one more program costs";
    if (!number_of(o->most, 1, 4096, &most) || !number_of(o->programs, 1, 4096, &programs))
        return "--most and --programs are numbers from 1 to 4096";
    if (!number_of(o->multiple, 1, 1 << 20, &multiple))
        return "--multiple is a number from 1 on";
    if (!number_of(o->times, 1e-6, 1e9, &o->repeat))
        return "--times is how often the sizes come again";
    if (o->model && strcmp(o->model, "linear") != 0 && strcmp(o->model, "quadratic") != 0)
        return "--model is linear or quadratic";
    if (o->emit && !stet_buckets_target_find(o->emit, &o->target))
        return "--emit is python, vllm, vllm-tpu, gaudi or alphafold";
    o->repeat = o->times ? o->repeat : 1;
    o->wish.cost = stet_buckets_cost_model(o->model && !strcmp(o->model, "quadratic"));
    if (o->step && !fit_steps(&o->wish.cost, o->step))
        return "--step is SIZE:SECONDS,SIZE:SECONDS,… with two different sizes or more";
    if (o->compile && !o->step)
        return "--compile goes with --step: both in seconds";
    o->wish.cost.program = compile;
    o->has_cost = o->step || o->model;
    o->wish.most = (uint32_t)most;
    o->wish.exactly = (uint32_t)programs;
    o->wish.multiple = (int64_t)multiple;
    return NULL;
}

/* ---- sources ---- */

static enum stet_rc add_run(struct work *w, struct stet_runs *runs, const char *name,
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
        rc = stet_session_sizes_add(&w->sizes, &d, run->folder, programs, err);
        stet_ledger_run_unload(&d);
    }
    stet_session_programs_free(programs);
    return rc;
}

static const char *lengths_name(const struct choices *o)
{
    return strcmp(o->lengths, "-") != 0 ? o->lengths : "standard input";
}

static enum stet_rc read_lengths(struct work *w, struct stet_err *err)
{
    bool piped = !strcmp(w->o->lengths, "-");
    struct stet_file file = {0};
    enum stet_rc rc = stet_file_open(&file, piped ? "/dev/stdin" : w->o->lengths, err);

    if (rc == STET_OK)
        rc = stet_buckets_lengths_parse(&w->lengths, file.bytes, lengths_name(w->o), err);
    stet_file_close(&file);
    return rc == STET_NOT_FOUND ? STET_BAD_INPUT : rc;
}

/* ---- curves ---- */

/* The buckets of --today, else those of the run. */
static enum stet_rc price_today(struct work *w, struct stet_cli_sizes *item, struct stet_err *err)
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

static enum stet_rc add_item(struct work *w, const struct stet_size_function *f,
                             struct stet_err *err)
{
    struct stet_cli_sizes *item = &w->items[w->count];
    struct stet_buckets_wish wish = w->o->wish;
    bool own = w->lengths.count > 0;
    struct stet_buckets_shape *shapes = own ? w->lengths.shapes : f->shapes;
    size_t count = own ? w->lengths.count : f->program_count;
    enum stet_rc rc;

    if (own && f && f->rank != w->lengths.rank)
        return stet_fail(err, STET_USAGE, "%s has %u dimension%s, %.*s varies in %u", w->o->lengths,
                         w->lengths.rank, w->lengths.rank == 1 ? "" : "s", STET_FMT(f->name),
                         f->rank);
    *item = (struct stet_cli_sizes){
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
static const struct stet_size_function *main_function(const struct work *w)
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

static enum stet_rc make_items(struct work *w, bool from_run, struct stet_err *err)
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

/* ---- output ---- */

static void print_text(struct stet_buf *out, struct work *w)
{
    for (size_t i = 0; i < w->count; i++) {
        stet_buf_str(out, i ? "\n" : "");
        stet_cli_sizes_text(out, &w->items[i]);
    }
    for (size_t i = 0; i < w->sizes.count; i++)
        if (w->sizes.functions[i].rank > STET_BUCKETS_RANK)
            stet_buf_printf(out, "%.*s varies in %u dimensions independently: too many to group\n",
                            STET_FMT(w->sizes.functions[i].name), w->sizes.functions[i].rank);
    if (!w->count && w->run)
        stet_buf_printf(out, "run %s: no size of a function varied\n", w->run);
    if (w->sizes.unreadable)
        stet_buf_printf(out, "%llu compiles are left out: their programs cannot be read\n",
                        (unsigned long long)w->sizes.unreadable);
}

static void print_json(struct stet_buf *out, struct work *w)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.buckets/1");
    stet_json_cstr(&j, "run", w->run);
    stet_json_uint(&j, "unreadable", w->sizes.unreadable);
    stet_json_array(&j, "functions");
    for (size_t i = 0; i < w->count; i++)
        stet_session_sizes_json(&j, w->items[i].function, w->items[i].lengths, &w->items[i].curve,
                                w->items[i].has_today ? &w->items[i].today : NULL);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

static int emit(struct work *w)
{
    struct stet_buf out = STET_BUF_INIT, what = STET_TEXT_INIT;
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = STET_OK;

    if (w->count != 1) {
        stet_say("stet: --emit writes one set: %s\n",
                 w->count ? "choose a function with --function" : "no size varied");
        return STET_EXIT_USAGE;
    }
    stet_cli_sizes_name(&what, &w->items[0]);
    if (!what.failed)
        rc = stet_buckets_emit(&out, &w->items[0].curve, w->o->target, what.ptr, &err);
    stet_buf_release(&what);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        return stet_cli_complain(&err);
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}

static int write_contract(struct work *w)
{
    struct stet_err err = STET_ERR_INIT;
    uint32_t changed = 0;

    for (size_t i = 0; i < w->count; i++) {
        struct stet_bucket_clause c = {.curve = &w->items[i].curve,
                                       .function = w->items[i].function,
                                       .function_name = w->o->function,
                                       .argument = w->o->argument};

        if (stet_contract_buckets(w->o->contract, &c, &changed, &err) != STET_OK)
            return stet_cli_complain(&err);
    }
    stet_say("stet: %s: %u famil%s changed\n", w->o->contract, changed, changed == 1 ? "y" : "ies");
    return STET_EXIT_FINE;
}

static int print(struct work *w)
{
    struct stet_buf out = STET_BUF_INIT, text = STET_TEXT_INIT;
    bool gain = false;

    for (size_t i = 0; i < w->count; i++)
        gain |= stet_cli_sizes_gain(&w->items[i]);
    if (w->o->format == STET_FORMAT_JSON) {
        print_json(&out, w);
        return stet_cli_print(&out, gain ? STET_EXIT_FINDING : STET_EXIT_FINE);
    }
    print_text(&text, w);
    return stet_cli_print(&text, gain ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

static enum stet_rc read_all(struct work *w, const struct stet_args *args, struct stet_err *err)
{
    struct stet_runs runs;
    bool from_run = args->count || !w->o->lengths;
    enum stet_rc rc = w->o->lengths ? read_lengths(w, err) : STET_OK;

    if (rc == STET_OK && w->o->today)
        rc = stet_buckets_lengths_list(&w->today, stet_view_str(w->o->today), "--today", err);
    if (rc == STET_OK && from_run) {
        rc = stet_ledger_runs_open(&runs, err);
        for (int i = 0; rc == STET_OK && i < (args->count ? args->count : 1); i++)
            rc = add_run(w, &runs, args->count ? args->values[i] : NULL, err);
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

static int work_on(struct choices *o, const struct stet_args *args)
{
    struct work w = {.o = o};
    struct stet_err err = STET_ERR_INIT;
    int code;

    stet_session_sizes_init(&w.sizes);
    if (read_all(&w, args, &err) != STET_OK)
        code = stet_cli_complain(&err);
    else if (o->write)
        code = write_contract(&w);
    else
        code = o->emit ? emit(&w) : print(&w);
    for (size_t i = 0; i < w.count; i++)
        stet_buckets_release(&w.items[i].curve);
    stet_mem_free(w.items);
    stet_buckets_lengths_release(&w.lengths);
    stet_buckets_lengths_release(&w.today);
    stet_session_sizes_release(&w.sizes);
    return code;
}

int cmd_buckets(int argc, char **argv)
{
    struct choices o = {.contract = STET_CONTRACT_FILE};
    const struct stet_option options[] = {
        {"lengths", "FILE", "lengths to pad, one a line or `size count`; 8x512 for two; - is stdin",
         STET_OPTION_VALUE, &o.lengths},
        {"function", "NAME", "this function of the run alone", STET_OPTION_VALUE, &o.function},
        {"programs", "N", "mark the set of N programs, not the cheapest", STET_OPTION_VALUE,
         &o.programs},
        {"most", "N", "try up to N programs (default 32)", STET_OPTION_VALUE, &o.most},
        {"multiple", "N", "buckets are multiples of N", STET_OPTION_VALUE, &o.multiple},
        {"today", "LIST", "the buckets used today, as 128,256,512", STET_OPTION_VALUE, &o.today},
        {"times", "N", "the sizes come N times as often before programs are compiled again",
         STET_OPTION_VALUE, &o.times},
        {"step", "SIZE:S,…", "seconds of a step by size, instead of those of the run",
         STET_OPTION_VALUE, &o.step},
        {"compile", "S", "with --step: seconds of waiting for one program", STET_OPTION_VALUE,
         &o.compile},
        {"model", "linear|quadratic", "a step costs its size, or its size squared",
         STET_OPTION_VALUE, &o.model},
        {"emit", "python|vllm|vllm-tpu|gaudi|alphafold", "write the marked set for this system",
         STET_OPTION_VALUE, &o.emit},
        {"write-contract", NULL, "allow the marked set, and no other size, in the contract",
         STET_OPTION_FLAG, &o.write},
        {"contract", "FILE", "which contract (default " STET_CONTRACT_FILE ")", STET_OPTION_VALUE,
         &o.contract},
        {"argument", "NAME:DIM", "with --lengths and --write-contract: whose lengths they are",
         STET_OPTION_VALUE, &o.argument},
        {0},
    };
    struct stet_args args;
    const char *wrong;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    wrong = take_options(&o);
    if (!wrong && o.write && o.emit)
        wrong = "gives --emit or --write-contract";
    if (wrong)
        return stet_cli_usage_error(&usage, wrong);
    o.format = args.format;
    return work_on(&o, &args);
}
