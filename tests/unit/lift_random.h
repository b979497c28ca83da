/* Writes random programs for the test of lifting, for one device and for two. */
#ifndef TESTS_LIFT_RANDOM_H
#define TESTS_LIFT_RANDOM_H

#include "backend/plan.h"
#include "lift_random_ops.h"

enum { LANES = 2 };

/* How the program is written for its devices. */
enum kind { ONE, SHARDY, HLO, MANUAL, HLO_MANUAL, REPLICAS, KINDS };

static const struct stet_plan_devices devices_of[KINDS] = {
    [ONE] = {1, 1},        [SHARDY] = {1, LANES},     [HLO] = {1, LANES},
    [MANUAL] = {1, LANES}, [HLO_MANUAL] = {1, LANES}, [REPLICAS] = {LANES, 1}};

static int any(struct writer *w, int x, bool outer);

static int loop(struct writer *w, int x)
{
    int zero = constant(w, "dense<0> : tensor<i32>"), at = w->next;
    int inner = at + 3, more, count;
    char bound[64];

    w->next += 4;
    stet_buf_printf(w->out,
                    "%%v%d:2 = stablehlo.while(%%i%d = %%v%d, %%v%d = %%v%d) : tensor<i32>, " FULL
                    "\ncond {\n",
                    at, at, zero, inner, x);
    w->nested = true;
    snprintf(bound, sizeof bound, "dense<%d> : tensor<i32>", (int)(draw(&w->values) % 4));
    count = constant(w, bound);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.compare LT, %%i%d, %%v%d, SIGNED : (tensor<i32>, "
                    "tensor<i32>) -> tensor<i1>\nstablehlo.return %%v%d : tensor<i1>\n} do {\n",
                    w->next, at, count, w->next);
    w->next++;
    more = any(w, inner, false);
    count = constant(w, "dense<1> : tensor<i32>");
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.add %%i%d, %%v%d : tensor<i32>\n"
                    "stablehlo.return %%v%d, %%v%d : tensor<i32>, " FULL "\n}\n",
                    w->next, at, count, w->next, more);
    w->next++;
    w->nested = false;
    stet_buf_printf(w->out, "%%v%d = stablehlo.abs %%v%d#1 : " FULL "\n", w->next, at);
    return w->next++;
}

static int any(struct writer *w, int x, bool outer)
{
    static int (*const kinds[])(struct writer *, int) = {
        unary,    cut,          pick_by_value, sum,      binary,  binary,  binary,
        integers, product,      window,        masked,   through, joined,  branch,
        power,    convolved,    barred,        gathered, turned,  clamped, scattered,
        ordered,  one_of_three, call,          loop};
    enum { INNER = sizeof kinds / sizeof *kinds - 2 };

    return kinds[choose(w, outer ? INNER + 2 : INNER)](w, x);
}

/* What every device adds up with the others. */
static int meet(struct writer *w, int x)
{
    stet_buf_printf(
        w->out,
        "%%v%d = \"stablehlo.all_reduce\"(%%v%d) <{replica_groups = dense<[[0, 1]]> : "
        "tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = "
        "0>}> ({\n^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n"
        "%%y = stablehlo.add %%a, %%b : tensor<f32>\n"
        "stablehlo.return %%y : tensor<f32>\n}) : (" FULL ") -> " FULL "\n",
        w->next, x);
    return w->next++;
}

/* `attrs` are those of the argument and of the result; `meets`: devices meet half way. */
static void function(struct writer *w, const char *head, const char *attrs, int length, bool outer,
                     bool meets)
{
    int x = w->next++;

    w->constant_count = 0;
    stet_buf_printf(w->out, "func.func %s(%%v%d: " FULL " %s) -> (" FULL " %s) {\n", head, x, attrs,
                    attrs);
    for (int i = 0; i < length; i++) {
        x = any(w, x, outer);
        if (meets && i == length / 2)
            x = meet(w, x);
    }
    stet_buf_printf(w->out, "return %%v%d : " FULL "\n}\n", x);
}

#define WHOLE   "tensor<8x6xf32>"
#define HLO_CUT "{mhlo.sharding = \"{devices=[2,1]<=[2]}\"}"
#define SDY_CUT "{sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}, {}]>}"

/* Each device computes by itself, on its half of the rows. */
static void manual_main(struct writer *w, int length)
{
    int x = w->next++;

    w->constant_count = 0;
    stet_buf_printf(
        w->out,
        "func.func public @main(%%all: " WHOLE " " SDY_CUT ") -> (" WHOLE " " SDY_CUT
        ") {\n%%r = sdy.manual_computation(%%all) in_shardings=[<@mesh, [{\"d\"}, {}]>] "
        "out_shardings=[<@mesh, [{\"d\"}, {}]>] manual_axes={\"d\"} (%%v%d: " FULL ") {\n",
        x);
    for (int i = 0; i < length; i++) {
        x = any(w, x, true);
        if (i == length / 2)
            x = meet(w, x);
    }
    stet_buf_printf(w->out,
                    "sdy.return %%v%d : " FULL "\n} : (" WHOLE ") -> " WHOLE "\nreturn %%r : " WHOLE
                    "\n}\n",
                    x);
}

static void hlo_manual_main(struct writer *w, int length)
{
    stet_buf_str(w->out,
                 "func.func public @main(%all: " WHOLE " " HLO_CUT ") -> (" WHOLE " " HLO_CUT
                 ") {\n%0 = stablehlo.custom_call @Sharding(%all) " HLO_CUT " : (" WHOLE
                 ") -> " WHOLE "\n%1 = stablehlo.custom_call @SPMDFullToShardShape(%0) "
                 "{mhlo.sharding = \"{manual}\"} : (" WHOLE ") -> " FULL
                 "\n%2 = func.call @body(%1) : (" FULL ") -> " FULL
                 "\n%3 = stablehlo.custom_call @SPMDShardToFullShape(%2) " HLO_CUT " : (" FULL
                 ") -> " WHOLE "\nreturn %3 : " WHOLE "\n}\n");
    function(w, "private @body", "", length, true, true);
}

static void write_program(struct stet_buf *out, enum kind kind, uint64_t structure, uint64_t values)
{
    static const char *const attrs[KINDS] = {
        [ONE] = "", [SHARDY] = SDY_CUT, [HLO] = HLO_CUT, [REPLICAS] = ""};
    struct writer w = {.out = out, .structure = structure, .values = values};
    int length = 1 + choose(&w, 8);

    w.wild = choose(&w, 4) == 0;

    stet_buf_printf(out,
                    "module @m attributes {mhlo.num_replicas = %u : i32, mhlo.num_partitions = "
                    "%u : i32} {\n",
                    devices_of[kind].replicas, devices_of[kind].partitions);
    if (kind == SHARDY || kind == MANUAL)
        stet_buf_str(out, "sdy.mesh @mesh = <[\"d\"=2]>\n");
    if (kind == MANUAL)
        manual_main(&w, length);
    else if (kind == HLO_MANUAL)
        hlo_manual_main(&w, length);
    else
        function(&w, "public @main", attrs[kind], length, true, kind == REPLICAS);
    function(&w, "private @f0", "", 1 + choose(&w, 2), false, false);
    function(&w, "private @f1", "", 1 + choose(&w, 2), false, false);
    stet_buf_str(out, "}\n");
}

#endif
