/* Random programs with random values, for one device and for two: a lifted program gives the plain
 * program's results, bit by bit. STET_LIFT_PROGRAMS sets how many; the long form is part of `make
 * soak`. */
#include "backend_help.h"

#include "base/buf.h"
#include "lift/lift.h"

enum { ROWS = 4, COLUMNS = 6, VALUES = 12, CONSTANTS = 64, THREE = 3, LANES = 2 };

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

static const char *number(struct writer *w)
{
    static const char *const numbers[VALUES] = {"0.0",  "1.0",   "1.0e-3", "9.99e-4",
                                                "0.5",  "-2.25", "3.0e-5", "7.5",
                                                "-1.0", "1.0e4", "0.3333", "2.0"};

    return numbers[draw(&w->values) % VALUES];
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
    int init = scalar(w), part = w->next++;

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
    switch (choose(w, outer ? 9 : 6)) {
    case 0:
        return unary(w, x);
    case 1:
        return cut(w, x);
    case 2:
        return pick_by_value(w, x);
    case 3:
        return sum(w, x);
    case 6:
        return call(w, x);
    case 7:
        return loop(w, x);
    default:
        return binary(w, x);
    }
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

/* ---- running ---- */

/* `in` and `outs` are those of all devices. */
static bool run_program(struct stet_view text, enum kind kind, const void *const *in, void **outs)
{
    struct stet_program p;
    struct stet_plan *plan;
    struct stet_pool *pool;
    void *scratch;
    bool ok;

    last = (struct stet_err)STET_ERR_INIT;
    if (stet_decode(&p, text, &last) != STET_OK)
        return false;
    ok = stet_plan_new_on(&plan, &p, &devices_of[kind], &last) == STET_OK;
    if (ok) {
        pool = stet_pool_new(1);
        scratch = aligned_alloc(64, (size_t)(stet_plan_info(plan)->scratch_bytes + 64) / 64 * 64);
        ok = stet_plan_run(plan, in, outs, scratch, pool, &last) == STET_OK;
        free(scratch);
        stet_pool_free(pool);
        stet_plan_free(plan);
    }
    stet_program_release(&p);
    return ok;
}

struct family {
    enum kind kind;
    struct stet_buf text[THREE], lifted;
    struct stet_program program[THREE];
    struct stet_lift_plan plan;
    bool planned;
};

/* Runs program `i` and the lifted one with its values. False if they differ. */
static bool agree(struct family *f, int i, const struct stet_lift_value *values)
{
    static float input[LANES][ROWS * COLUMNS], want[LANES][ROWS * COLUMNS],
        got[LANES][ROWS * COLUMNS];
    const void *plain[LANES], *lifted[LANES * (1 + STET_LIFT_ARGUMENTS)];
    void *wants[LANES] = {want[0], want[1]}, *gots[LANES] = {got[0], got[1]};
    uint32_t lanes = devices_of[f->kind].replicas * devices_of[f->kind].partitions, n = 0;
    bool ok;

    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        for (int k = 0; k < ROWS * COLUMNS; k++)
            input[lane][k] = (float)pick(-3000, 3000) / 1000;
        plain[lane] = lifted[n++] = input[lane];
        for (uint32_t a = 0; a < f->plan.argument_count; a++)
            lifted[n++] = values[a].bytes.ptr;
    }
    ok = run_program(stet_buf_as_view(&f->text[i]), f->kind, plain, wants) &&
         run_program(stet_buf_as_view(&f->lifted), f->kind, lifted, gots);
    EXPECT(ok);
    if (!ok)
        fprintf(stderr, "%s\n", last.text);
    return ok && memcmp(want, got, sizeof want) == 0;
}

/* Lifts for program `i`, if the plan does not cover it yet, and compares. */
static bool follow(struct family *f, int i, unsigned *lifts)
{
    struct stet_lift_value *values = NULL;
    struct stet_err err = STET_ERR_INIT;
    struct stet_lift_match match;
    struct stet_lift_plan plan;
    struct stet_arena arena;
    bool same = true;

    EXPECT_INT(STET_OK, stet_lift_match(&match, &f->program[0], &f->program[i], &err));
    stet_arena_init(&arena, 1 << 24);
    if (match.different && (!f->planned || stet_lift_values(&f->plan, &match, STET_LIFT_OTHER,
                                                            &arena, &values, NULL) != STET_OK)) {
        EXPECT_INT(STET_OK, stet_lift_plan_make(&plan, &match, f->planned ? &f->plan : NULL, &err));
        if (f->planned)
            stet_lift_plan_release(&f->plan);
        f->plan = plan;
        f->planned = true;
        stet_buf_release(&f->lifted);
        f->lifted = (struct stet_buf)STET_BUF_INIT;
        EXPECT_INT(STET_OK, stet_lift_write(&f->lifted, &f->program[0], &f->program[i], &match,
                                            &f->plan, &err));
        EXPECT_INT(STET_OK,
                   stet_lift_values(&f->plan, &match, STET_LIFT_OTHER, &arena, &values, &err));
        ++*lifts;
    }
    if (err.text[0])
        fprintf(stderr, "%s\n%s\n%s\n", err.text, f->text[0].ptr, f->text[i].ptr);
    if (values)
        same = agree(f, i, values);
    stet_arena_release(&arena);
    stet_lift_match_release(&match);
    return same;
}

static bool try_structure(enum kind kind, uint64_t structure, unsigned *lifts)
{
    struct stet_err why = STET_ERR_INIT;
    struct family f = {.kind = kind};
    bool same = true;

    for (int i = 0; i < THREE; i++) {
        write_program(&f.text[i], kind, structure, next() | 1);
        EXPECT_INT(STET_OK, stet_decode(&f.program[i], stet_buf_as_view(&f.text[i]), &why));
    }
    if (why.text[0])
        fprintf(stderr, "%s\n%s\n", why.text, f.text[0].ptr);
    EXPECT_INT(STET_OK, stet_lift_refuses(&f.program[0], &why));
    for (int i = 1; i < THREE && !stet_test_failures; i++)
        same = same && follow(&f, i, lifts);
    if (!same)
        fprintf(stderr, "%s\n%s\n", f.text[0].ptr, f.lifted.ptr);
    if (f.planned)
        stet_lift_plan_release(&f.plan);
    for (int i = 0; i < THREE; i++) {
        stet_program_release(&f.program[i]);
        stet_buf_release(&f.text[i]);
    }
    stet_buf_release(&f.lifted);
    return same;
}

TEST(lifted_programs_give_the_plain_results)
{
    const char *setting = getenv("STET_LIFT_PROGRAMS");
    unsigned long programs = setting ? strtoul(setting, NULL, 10) : 300;
    unsigned lifts[KINDS] = {0};

    /* Half of them are for one device. */
    for (unsigned long i = 0; i < programs && !stet_test_failures; i++) {
        enum kind kind = i % 2 ? (enum kind)(i / 2 % KINDS) : ONE;

        EXPECT(try_structure(kind, next() | 1, &lifts[kind]));
    }
    for (int k = 0; k < KINDS; k++)
        EXPECT(lifts[k] > programs / 2 / KINDS / 2);
    printf("%lu structures; lifted programs: %u of one device, %u Shardy, %u XLA's shardings, "
           "%u shard_map, %u shard_map by custom calls, %u replicas\n",
           programs, lifts[ONE], lifts[SHARDY], lifts[HLO], lifts[MANUAL], lifts[HLO_MANUAL],
           lifts[REPLICAS]);
}
