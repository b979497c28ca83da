/* Random programs with random values: a lifted program gives the plain program's results, bit by
 * bit. STET_LIFT_PROGRAMS sets how many; the long form is part of `make soak`. */
#include "backend_help.h"

#include "base/buf.h"
#include "lift/lift.h"

enum { ROWS = 4, COLUMNS = 6, VALUES = 12, CONSTANTS = 64, THREE = 3 };

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

static void function(struct writer *w, const char *head, int length, bool outer)
{
    int x = w->next++;

    w->constant_count = 0;
    stet_buf_printf(w->out, "func.func %s(%%v%d: " FULL ") -> " FULL " {\n", head, x);
    for (int i = 0; i < length; i++)
        x = any(w, x, outer);
    stet_buf_printf(w->out, "return %%v%d : " FULL "\n}\n", x);
}

static void write_program(struct stet_buf *out, uint64_t structure, uint64_t values)
{
    struct writer w = {.out = out, .structure = structure, .values = values};

    stet_buf_str(out, "module @m {\n");
    function(&w, "public @main", 1 + choose(&w, 8), true);
    function(&w, "private @f0", 1 + choose(&w, 2), false);
    function(&w, "private @f1", 1 + choose(&w, 2), false);
    stet_buf_str(out, "}\n");
}

/* ---- running ---- */

static bool run_program(struct stet_view text, const void *const *in, void *out)
{
    struct stet_program p;
    struct stet_plan *plan;
    struct stet_pool *pool;
    void *scratch, *outs[1] = {out};
    bool ok;

    last = (struct stet_err)STET_ERR_INIT;
    if (stet_decode(&p, text, &last) != STET_OK)
        return false;
    ok = stet_plan_new(&plan, &p, &last) == STET_OK;
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
    struct stet_buf text[THREE], lifted;
    struct stet_program program[THREE];
    struct stet_lift_plan plan;
    bool planned;
};

/* Runs program `i` and the lifted one with its values. False if they differ. */
static bool agree(struct family *f, int i, const struct stet_lift_value *values)
{
    static float input[ROWS * COLUMNS], want[ROWS * COLUMNS], got[ROWS * COLUMNS];
    const void *in[1 + STET_LIFT_ARGUMENTS] = {input};
    bool ok;

    for (int k = 0; k < ROWS * COLUMNS; k++)
        input[k] = (float)pick(-3000, 3000) / 1000;
    for (uint32_t a = 0; a < f->plan.argument_count; a++)
        in[1 + a] = values[a].bytes.ptr;
    ok = run_program(stet_buf_as_view(&f->text[i]), in, want) &&
         run_program(stet_buf_as_view(&f->lifted), in, got);
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

static bool try_structure(uint64_t structure, unsigned *lifts)
{
    struct stet_err why = STET_ERR_INIT;
    struct family f = {0};
    bool same = true;

    for (int i = 0; i < THREE; i++) {
        write_program(&f.text[i], structure, next() | 1);
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
    unsigned lifts = 0;

    for (unsigned long i = 0; i < programs && !stet_test_failures; i++)
        EXPECT(try_structure(next() | 1, &lifts));
    EXPECT(lifts > programs / 2);
    printf("%lu structures, %u lifted programs\n", programs, lifts);
}
