/* stet buckets: the sizes to pad to, from a run or from a list of lengths. */
#include "cli/buckets_text.h"
#include "cli/command.h"

#include "base/json.h"
#include "buckets/bucket_emit.h"
#include "contract/bucket_clauses.h"
#include "contract/contract_run.h"

#include <stdio.h>
#include <stdlib.h>

static const struct stet_usage usage = {
    "stet buckets [options] [RUN…]",
    "Prints the best sizes to pad to for every number of programs, from the sizes of\n"
    "runs (default: the latest one) or from a file of lengths. A row gives what the steps cost\n"
    "when they are padded, what the programs cost to wait for, and both together; * marks the\n"
    "row of least cost. Exit 1 when it costs at least 5 % less than what is used today.",
    "buckets",
};

struct choices {
    const char *argument, *emit, *contract, *step;
    const char *compile, *most, *programs, *multiple, *times, *model;
    bool write;
    enum stet_format format;
    struct stet_size_curves_wish wish;
    enum stet_buckets_target target;
};

struct work {
    const struct choices *o;
    struct stet_size_curves all;
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
        return "--multiple is a number of 1 or more";
    if (!number_of(o->times, 1e-6, 1e9, &o->wish.repeat))
        return "--times is how often the sizes recur";
    if (o->model && strcmp(o->model, "linear") != 0 && strcmp(o->model, "quadratic") != 0)
        return "--model is linear or quadratic";
    if (o->emit && !stet_buckets_target_find(o->emit, &o->target))
        return "--emit is python, vllm, vllm-tpu, gaudi or alphafold";
    o->wish.repeat = o->times ? o->wish.repeat : 1;
    o->wish.buckets.cost = stet_buckets_cost_model(o->model && !strcmp(o->model, "quadratic"));
    if (o->step && !fit_steps(&o->wish.buckets.cost, o->step))
        return "--step is SIZE:SECONDS,SIZE:SECONDS,… with two different sizes or more";
    if (o->compile && !o->step)
        return "--compile goes with --step: both in seconds";
    o->wish.buckets.cost.program = compile;
    o->wish.has_cost = o->step || o->model;
    o->wish.buckets.most = (uint32_t)most;
    o->wish.buckets.exactly = (uint32_t)programs;
    o->wish.buckets.multiple = (int64_t)multiple;
    return NULL;
}

/* ---- output ---- */

static void print_text(struct stet_buf *out, struct work *w)
{
    for (size_t i = 0; i < w->all.count; i++) {
        stet_buf_str(out, i ? "\n" : "");
        stet_cli_sizes_text(out, &w->all.items[i]);
    }
    for (size_t i = 0; i < w->all.sizes.count; i++)
        if (w->all.sizes.functions[i].rank > STET_BUCKETS_RANK)
            stet_buf_printf(out, "%.*s varies in %u dimensions independently: too many to group\n",
                            STET_FMT(w->all.sizes.functions[i].name),
                            w->all.sizes.functions[i].rank);
    if (!w->all.count && w->all.run)
        stet_buf_printf(out, "run %s: no size of a function varied\n", w->all.run);
    if (w->all.sizes.unreadable)
        stet_buf_printf(out, "%llu compiles are left out: their programs cannot be read\n",
                        (unsigned long long)w->all.sizes.unreadable);
}

static void print_json(struct stet_buf *out, struct work *w)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.buckets/1");
    stet_json_cstr(&j, "run", w->all.run);
    stet_json_uint(&j, "unreadable", w->all.sizes.unreadable);
    stet_json_array(&j, "functions");
    for (size_t i = 0; i < w->all.count; i++)
        stet_session_sizes_json(&j, w->all.items[i].function, w->all.items[i].lengths,
                                &w->all.items[i].curve,
                                w->all.items[i].has_today ? &w->all.items[i].today : NULL);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}

static int emit(struct work *w)
{
    struct stet_buf out = STET_BUF_INIT, what = STET_TEXT_INIT;
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = STET_OK;

    if (w->all.count != 1) {
        stet_say("stet: --emit writes one set: %s\n",
                 w->all.count ? "choose a function with --function" : "no size varied");
        return STET_EXIT_USAGE;
    }
    stet_cli_sizes_name(&what, &w->all.items[0]);
    if (!what.failed)
        rc = stet_buckets_emit(&out, &w->all.items[0].curve, w->o->target, what.ptr, &err);
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

    for (size_t i = 0; i < w->all.count; i++) {
        struct stet_bucket_clause c = {.curve = &w->all.items[i].curve,
                                       .function = w->all.items[i].function,
                                       .function_name = w->o->wish.function,
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

    for (size_t i = 0; i < w->all.count; i++)
        gain |= stet_session_curve_gains(&w->all.items[i]);
    if (w->o->format == STET_FORMAT_JSON) {
        print_json(&out, w);
        return stet_cli_print(&out, gain ? STET_EXIT_FINDING : STET_EXIT_FINE);
    }
    print_text(&text, w);
    return stet_cli_print(&text, gain ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

static int work_on(const struct choices *o)
{
    struct work w = {.o = o};
    struct stet_err err = STET_ERR_INIT;
    int code;

    if (stet_session_curves_make(&w.all, &o->wish, &err) != STET_OK)
        code = stet_cli_complain(&err);
    else if (o->write)
        code = write_contract(&w);
    else
        code = o->emit ? emit(&w) : print(&w);
    stet_session_curves_release(&w.all);
    return code;
}

int cmd_buckets(int argc, char **argv)
{
    struct choices o = {.contract = STET_CONTRACT_FILE};
    const struct stet_option options[] = {
        {"lengths", "FILE", "lengths to pad, one a line or `size count`; 8x512 for two; - is stdin",
         STET_OPTION_VALUE, &o.wish.lengths},
        {"function", "NAME", "this function of the run alone", STET_OPTION_VALUE, &o.wish.function},
        {"programs", "N", "mark the set of N programs, not the cheapest", STET_OPTION_VALUE,
         &o.programs},
        {"most", "N", "try up to N programs (default 32)", STET_OPTION_VALUE, &o.most},
        {"multiple", "N", "buckets are multiples of N", STET_OPTION_VALUE, &o.multiple},
        {"today", "LIST", "the buckets used today, as 128,256,512", STET_OPTION_VALUE,
         &o.wish.today},
        {"times", "N", "each size recurs N times as often before programs are compiled again",
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
        {"argument", "NAME:DIM",
         "with --lengths and --write-contract: the argument that has these lengths",
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
    o.wish.runs = args.values;
    o.wish.run_count = args.count;
    return work_on(&o);
}
