/* Writes random programs for the test of lifting, for one device and for two. */
#ifndef TESTS_LIFT_RANDOM_H
#define TESTS_LIFT_RANDOM_H

#include "backend/plan.h"
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 6, CONSTANTS = 64, LANES = 2 };

/* How the program is written for its devices. */
enum kind { ONE, SHARDY, HLO, MANUAL, HLO_MANUAL, REPLICAS, KINDS };

static const struct stet_plan_devices devices_of[KINDS] = {
    [ONE] = {1, 1},        [SHARDY] = {1, LANES},     [HLO] = {1, LANES},
    [MANUAL] = {1, LANES}, [HLO_MANUAL] = {1, LANES}, [REPLICAS] = {LANES, 1}};

/* The structure comes from one stream of random numbers and the values from another, so two
 * programs of one structure differ in nothing but values. */
struct writer {
    struct stet_buf *out;
    uint64_t structure, values;
    int next; /* name of a value */
    struct {
        char text[96];
        int name;
    } constants[CONSTANTS]; /* of this block: equal ones are merged, as JAX merges them */
    int constant_count;
    bool nested; /* what a block defines is not seen outside: nothing is merged */
    bool wild;
};

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static int choose(struct writer *w, int n)
{
    return (int)(draw(&w->structure) % (unsigned)n);
}

/* Ordinary numbers, and in a quarter of the programs also the ends of the type: both zeros,
 * infinities, NaNs of two payloads (one signals), subnormals. */
static const char *number(struct writer *w)
{
    static const char *const numbers[] = {
        "0.0",        "1.0",        "1.0e-3",     "9.99e-4",    "0.5",    "-2.25",   "3.0e-5",
        "7.5",        "-1.0",       "1.0e4",      "0.3333",     "2.0",    "-0.0",    "1.0e-40",
        "0x7F800000", "0xFF800000", "0x7FC00123", "0x7F800001", "3.0e38", "-1.0e-45"};
    size_t n = sizeof numbers / sizeof *numbers;

    return numbers[draw(&w->values) % (w->wild ? n : 12)];
}

/* With overflow and division by zero. */
static const char *whole(struct writer *w)
{
    static const char *const numbers[] = {"0",  "1",   "2",          "3",           "-1",    "7",
                                          "-5", "100", "2147483647", "-2147483648", "65536", "31"};

    return numbers[draw(&w->values) % (w->wild ? sizeof numbers / sizeof *numbers : 8)];
}

/* The name of a constant; a new one if this block has none that is equal. */
static int constant(struct writer *w, const char *text)
{
    int name = w->next++;

    for (int i = 0; i < w->constant_count && !w->nested; i++) {
        if (!strcmp(w->constants[i].text, text))
            return w->constants[i].name;
    }
    stet_buf_printf(w->out, "%%v%d = stablehlo.constant %s\n", name, text);
    if (!w->nested && w->constant_count < CONSTANTS && strlen(text) < sizeof w->constants[0].text) {
        snprintf(w->constants[w->constant_count].text, sizeof w->constants[0].text, "%s", text);
        w->constants[w->constant_count++].name = name;
    }
    return name;
}

static int scalar(struct writer *w)
{
    char text[96];

    snprintf(text, sizeof text, "dense<%s> : tensor<f32>", number(w));
    return constant(w, text);
}

#define FULL "tensor<4x6xf32>"

static int spread(struct writer *w)
{
    int from = scalar(w);

    stet_buf_printf(
        w->out, "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [] : (tensor<f32>) -> " FULL "\n",
        w->next, from);
    return w->next++;
}

static int splat(struct writer *w)
{
    char text[96];

    snprintf(text, sizeof text, "dense<%s> : " FULL, number(w));
    return constant(w, text);
}

static int row(struct writer *w)
{
    struct stet_buf text = STET_BUF_INIT;
    int from;

    stet_buf_str(&text, "dense<[");
    for (int i = 0; i < COLUMNS; i++)
        stet_buf_printf(&text, "%s%s", i ? ", " : "", number(w));
    stet_buf_str(&text, "]> : tensor<6xf32>");
    from = constant(w, text.ptr);
    stet_buf_release(&text);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [1] : (tensor<6xf32>) -> " FULL "\n",
        w->next, from);
    return w->next++;
}

static int operand(struct writer *w, int x)
{
    switch (choose(w, 4)) {
    case 0:
        return spread(w);
    case 1:
        return splat(w);
    case 2:
        return row(w);
    default:
        return x;
    }
}

static int binary(struct writer *w, int x)
{
    static const char *const names[] = {"add",     "multiply", "subtract",
                                        "maximum", "minimum",  "divide"};
    const char *name = names[choose(w, 6)];
    int y = operand(w, x);
    bool swapped = choose(w, 2);

    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d, %%v%d : " FULL "\n", w->next, name,
                    swapped ? y : x, swapped ? x : y);
    return w->next++;
}

static int unary(struct writer *w, int x)
{
    static const char *const names[] = {"tanh", "negate", "abs", "sine"};

    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d : " FULL "\n", w->next, names[choose(w, 4)],
                    x);
    return w->next++;
}

static int cut(struct writer *w, int x)
{
    int from = (int)(draw(&w->values) % 3), zero = scalar(w), part = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.slice %%v%d [%d:%d, 0:6] : (" FULL ") -> tensor<2x6xf32>\n",
                    part, x, from, from + 2);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.pad %%v%d, %%v%d, low = [%d, 0], high = [%d, 0], interior = "
                    "[0, 0] : (tensor<2x6xf32>, tensor<f32>) -> " FULL "\n",
                    w->next, part, zero, from, 2 - from);
    return w->next++;
}

static int pick_by_value(struct writer *w, int x)
{
    int limit = operand(w, x), other = operand(w, x), mask = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.compare GT, %%v%d, %%v%d, FLOAT : (" FULL ", " FULL
                    ") -> tensor<4x6xi1>\n",
                    mask, x, limit);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : tensor<4x6xi1>, " FULL "\n",
                    w->next, mask, x, other);
    return w->next++;
}

static int sum(struct writer *w, int x)
{
    int init = constant(w, "dense<0.0> : tensor<f32>"), part = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.reduce(%%v%d init: %%v%d) applies stablehlo.add across "
                    "dimensions = [1] : (" FULL ", tensor<f32>) -> tensor<4xf32>\n",
                    part, x, init);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [0] : (tensor<4xf32>) -> " FULL "\n",
        w->next, part);
    return w->next++;
}

static int call(struct writer *w, int x)
{
    stet_buf_printf(w->out, "%%v%d = func.call @f%d(%%v%d) : (" FULL ") -> " FULL "\n", w->next,
                    choose(w, 2), x);
    return w->next++;
}

/* ---- more than elementwise arithmetic ---- */

#define WHOLES "tensor<4x6xi32>"

/* Integers from the signs of x, arithmetic with whole numbers, and back. */
static int integers(struct writer *w, int x)
{
    static const char *const names[] = {
        "add", "multiply", "subtract", "divide",     "remainder",          "and",
        "or",  "xor",      "maximum",  "shift_left", "shift_right_logical"};
    int sign = w->next++, ints = w->next++, y, z;
    char text[96];

    stet_buf_printf(w->out, "%%v%d = stablehlo.sign %%v%d : " FULL "\n", sign, x);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.compare EQ, %%v%d, %%v%d, FLOAT : (" FULL ", " FULL
        ") -> tensor<4x6xi1>\n%%v%d = stablehlo.convert %%v%d : (tensor<4x6xi1>) -> " WHOLES "\n",
        w->next, sign, x, ints, w->next);
    w->next++;
    snprintf(text, sizeof text, "dense<%s> : " WHOLES, whole(w));
    y = constant(w, text);
    snprintf(text, sizeof text, "dense<%s> : " WHOLES, whole(w));
    z = constant(w, text);
    stet_buf_printf(w->out, "%%v%d = stablehlo.add %%v%d, %%v%d : " WHOLES "\n", w->next, ints, y);
    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d, %%v%d : " WHOLES "\n", w->next + 1,
                    names[choose(w, 11)], w->next, z);
    stet_buf_printf(w->out, "%%v%d = stablehlo.convert %%v%d : (" WHOLES ") -> " FULL "\n",
                    w->next + 2, w->next + 1);
    w->next += 3;
    return w->next - 1;
}

/* A list of numbers, as `dense<[a, b, ...]>`. */
static void list(struct writer *w, struct stet_buf *out, int n,
                 const char *(*draw_one)(struct writer *))
{
    stet_buf_str(out, "dense<[");
    for (int i = 0; i < n; i++)
        stet_buf_printf(out, "%s%s", i ? ", " : "", draw_one(w));
    stet_buf_str(out, "]>");
}

/* x times a matrix of constants. */
static int product(struct writer *w, int x)
{
    struct stet_buf text = STET_BUF_INIT;
    int flat, matrix;

    list(w, &text, COLUMNS * COLUMNS, number);
    stet_buf_str(&text, " : tensor<36xf32>");
    flat = constant(w, text.ptr);
    stet_buf_release(&text);
    matrix = w->next++;
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.reshape %%v%d : (tensor<36xf32>) -> tensor<6x6xf32>\n",
                    matrix, flat);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [1] x [0] : (" FULL
        ", tensor<6x6xf32>) -> " FULL "\n",
        w->next, x, matrix);
    return w->next++;
}

/* A window of x whose start is a constant, also one that is out of range, put back at another. */
static int window(struct writer *w, int x)
{
    char text[64];
    int from, to, zero = constant(w, "dense<0> : tensor<i32>"), part;

    snprintf(text, sizeof text, "dense<%d> : tensor<i32>", (int)(draw(&w->values) % 6));
    from = constant(w, text);
    snprintf(text, sizeof text, "dense<%d> : tensor<i32>", (int)(draw(&w->values) % 6) - 1);
    to = constant(w, text);
    part = w->next++;
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.dynamic_slice %%v%d, %%v%d, %%v%d, sizes = [2, 6] : (" FULL
                    ", tensor<i32>, tensor<i32>) -> tensor<2x6xf32>\n",
                    part, x, from, zero);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.dynamic_update_slice %%v%d, %%v%d, %%v%d, %%v%d : (" FULL
                    ", tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> " FULL "\n",
                    w->next, x, part, to, zero);
    return w->next++;
}

/* A mask of constants chooses between x and a number. */
static int masked(struct writer *w, int x)
{
    struct stet_buf text = STET_BUF_INIT;
    int mask, row_mask, other = operand(w, x);

    stet_buf_str(&text, "dense<[");
    for (int i = 0; i < COLUMNS; i++)
        stet_buf_printf(&text, "%s%s", i ? ", " : "", draw(&w->values) % 2 ? "true" : "false");
    stet_buf_str(&text, "]> : tensor<6xi1>");
    mask = constant(w, text.ptr);
    stet_buf_release(&text);
    row_mask = w->next++;
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [1] : (tensor<6xi1>) -> "
                    "tensor<4x6xi1>\n",
                    row_mask, mask);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : tensor<4x6xi1>, " FULL "\n",
                    w->next, row_mask, x, other);
    return w->next++;
}

/* Through a narrower or a wider type, with a constant of that type. */
static int through(struct writer *w, int x)
{
    static const char *const types[] = {"bf16", "f16", "f64"};
    const char *type = types[choose(w, 3)];
    char text[96];
    int narrow = w->next++, c;

    stet_buf_printf(w->out, "%%v%d = stablehlo.convert %%v%d : (" FULL ") -> tensor<4x6x%s>\n",
                    narrow, x, type);
    snprintf(text, sizeof text, "dense<%d.%d> : tensor<4x6x%s>", (int)(draw(&w->values) % 5),
             (int)(draw(&w->values) % 2) * 5, type);
    c = constant(w, text);
    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d, %%v%d : tensor<4x6x%s>\n", w->next,
                    choose(w, 2) ? "multiply" : "add", narrow, c, type);
    stet_buf_printf(w->out, "%%v%d = stablehlo.convert %%v%d : (tensor<4x6x%s>) -> " FULL "\n",
                    w->next + 1, w->next, type);
    w->next += 2;
    return w->next - 1;
}

/* Rows of constants before and after part of x, in another order. */
static int joined(struct writer *w, int x)
{
    struct stet_buf text = STET_BUF_INIT;
    int flat, top = w->next++, part = w->next++, all = w->next++;

    list(w, &text, COLUMNS, number);
    stet_buf_str(&text, " : tensor<6xf32>");
    flat = constant(w, text.ptr);
    stet_buf_release(&text);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.reshape %%v%d : (tensor<6xf32>) -> tensor<1x6xf32>\n"
                    "%%v%d = stablehlo.slice %%v%d [1:4, 0:6] : (" FULL ") -> tensor<3x6xf32>\n"
                    "%%v%d = stablehlo.concatenate %%v%d, %%v%d, dim = 0 : (tensor<1x6xf32>, "
                    "tensor<3x6xf32>) -> " FULL "\n",
                    top, flat, part, x, all, top, part);
    stet_buf_printf(w->out, "%%v%d = stablehlo.reverse %%v%d, dims = [%d] : " FULL "\n", w->next,
                    all, choose(w, 2));
    return w->next++;
}

/* A branch that a constant or a value of x chooses. */
static int branch(struct writer *w, int x)
{
    int condition, at, a, b;
    bool nested = w->nested;

    if (choose(w, 2)) {
        condition = constant(w, draw(&w->values) % 2 ? "dense<true> : tensor<i1>"
                                                     : "dense<false> : tensor<i1>");
    } else {
        int c = scalar(w), first = w->next++, one = w->next++;

        condition = w->next++;
        stet_buf_printf(w->out,
                        "%%v%d = stablehlo.slice %%v%d [0:1, 0:1] : (" FULL ") -> tensor<1x1xf32>\n"
                        "%%v%d = stablehlo.reshape %%v%d : (tensor<1x1xf32>) -> tensor<f32>\n"
                        "%%v%d = stablehlo.compare GT, %%v%d, %%v%d, FLOAT : (tensor<f32>, "
                        "tensor<f32>) -> tensor<i1>\n",
                        first, x, one, first, condition, one, c);
    }
    at = w->next++;
    stet_buf_printf(w->out, "%%v%d = \"stablehlo.if\"(%%v%d) ({\n", at, condition);
    w->nested = true;
    a = binary(w, x);
    stet_buf_printf(w->out, "stablehlo.return %%v%d : " FULL "\n}, {\n", a);
    b = binary(w, x);
    stet_buf_printf(w->out, "stablehlo.return %%v%d : " FULL "\n}) : (tensor<i1>) -> " FULL "\n",
                    b);
    w->nested = nested;
    return at;
}

static int power(struct writer *w, int x)
{
    int y = operand(w, x), positive = w->next++;

    stet_buf_printf(w->out, "%%v%d = stablehlo.abs %%v%d : " FULL "\n", positive, x);
    stet_buf_printf(w->out, "%%v%d = stablehlo.power %%v%d, %%v%d : " FULL "\n", w->next, positive,
                    y);
    return w->next++;
}

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
        unary,  cut,    pick_by_value, sum,    binary, binary, binary, integers, product,
        window, masked, through,       joined, branch, power,  call,   loop};
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
