/* Loops against the same turns written one after the other. */
#include "backend_help.h"

enum { CARRIED = 3, TURNS = 3, MOST = 12 };

/* One operation of a turn, on values of the turn: 0 to CARRIED - 1 are the carried ones, of which
 * the last is one element; then those of the operations before. */
struct made {
    int kind, a, b;
    int64_t number;
    bool one;
};

enum { BINARY, SPREAD, TURNED, COUNTED, NUMBER, PICKED, KINDS };

struct body {
    struct made ops[MOST];
    int count;
    int results[CARRIED];
    struct stet_shape many, one;
};

static bool is_one(const struct body *b, int v)
{
    return v < CARRIED ? v == CARRIED - 1 : b->ops[v - CARRIED].one;
}

static int some_value(const struct body *b, int below, bool one)
{
    int v;

    do
        v = (int)pick(0, CARRIED + below - 1);
    while (is_one(b, v) != one);
    return v;
}

static void make_body(struct body *b, enum stet_dtype t, int64_t n)
{
    stet_shape_set(&b->many, t, &n, 1);
    stet_shape_set(&b->one, t, NULL, 0);
    b->count = (int)pick(1, MOST);
    for (int i = 0; i < b->count; i++) {
        struct made *m = &b->ops[i];

        *m = (struct made){.kind = (int)pick(0, KINDS - 1), .number = pick(0, n - 1)};
        if (m->kind == BINARY)
            m->one = next() & 1;
        if (m->kind == PICKED)
            m->one = true;
        m->a = some_value(b, i, m->kind == BINARY ? m->one : m->kind == SPREAD);
        m->b = some_value(b, i, m->one);
    }
    for (int i = 0; i < CARRIED; i++)
        b->results[i] = some_value(b, b->count, i == CARRIED - 1);
}

/* The value's name: turn 0 reads the arguments, a later one what the turn before returned. */
static void put_value(struct text *t, const struct body *b, int turn, int v)
{
    if (v >= CARRIED)
        put(t, "%%t%d_%d", turn, v - CARRIED);
    else if (turn == 0)
        put(t, "%%x%d", v);
    else
        put_value(t, b, turn - 1, b->results[v]);
}

static void put_turn(struct text *t, const struct body *b, int turn)
{
    static const char *const binary[] = {"add", "subtract", "maximum", "minimum"};

    for (int i = 0; i < b->count; i++) {
        const struct made *m = &b->ops[i];
        const struct stet_shape *s = m->one ? &b->one : &b->many;

        if (m->kind == PICKED) {
            put(t, "%%p%d_%d = \"stablehlo.slice\"(", turn, i);
            put_value(t, b, turn, m->a);
            put(t,
                ") <{start_indices = array<i64: %d>, limit_indices = array<i64: %d>, strides = "
                "array<i64: 1>}> : (",
                (int)m->number, (int)m->number + 1);
            put_type(t, &b->many), put(t, ") -> ");
            put_type(t, &(struct stet_shape){.dtype = b->many.dtype, .rank = 1, .dims = {1}});
            put(t, " ");
        }
        put(t, "%%t%d_%d = ", turn, i);
        switch (m->kind) {
        case BINARY:
            put(t, "stablehlo.%s ", binary[(m->a + m->b) % 4]);
            put_value(t, b, turn, m->a), put(t, ", "), put_value(t, b, turn, m->b);
            put(t, " : "), put_type(t, s);
            break;
        case SPREAD:
            put(t, "\"stablehlo.broadcast_in_dim\"("), put_value(t, b, turn, m->a);
            put(t, ") <{broadcast_dimensions = array<i64>}> : (");
            put_type(t, &b->one), put(t, ") -> "), put_type(t, s);
            break;
        case TURNED:
            put(t, "\"stablehlo.reverse\"("), put_value(t, b, turn, m->a);
            put(t, ") <{dimensions = array<i64: 0>}> : (");
            put_type(t, s), put(t, ") -> "), put_type(t, s);
            break;
        case COUNTED:
            put(t, "stablehlo.iota dim = 0 : "), put_type(t, s);
            break;
        case NUMBER:
            put(t, "stablehlo.constant dense<%d%s> : ", (int)m->number % 7,
                stet_dtype_is_float(s->dtype) ? ".0" : "");
            put_type(t, s);
            break;
        default:
            put(t, "stablehlo.reshape %%p%d_%d : (", turn, i);
            put_type(t, &(struct stet_shape){.dtype = b->many.dtype, .rank = 1, .dims = {1}});
            put(t, ") -> "), put_type(t, s);
        }
        put(t, " ");
    }
}

static void put_result_types(struct text *t, const struct body *b)
{
    put_type(t, &b->many), put(t, ", "), put_type(t, &b->many), put(t, ", ");
    put_type(t, &b->one);
}

static void put_program(struct text *t, const struct body *b, bool loop)
{
    put(t, "module { func.func @main(%%a0: "), put_type(t, &b->many);
    put(t, ", %%a1: "), put_type(t, &b->many), put(t, ", %%a2: "), put_type(t, &b->one);
    put(t, ") -> ("), put_result_types(t, b), put(t, ") { ");
    if (!loop) {
        /* the same names as in the loop */
        for (int i = 0; i < CARRIED; i++) {
            put(t, "%%x%d = stablehlo.optimization_barrier %%a%d : ", i, i);
            put_type(t, i == CARRIED - 1 ? &b->one : &b->many), put(t, " ");
        }
        for (int turn = 0; turn < TURNS; turn++)
            put_turn(t, b, turn);
        put(t, "return ");
        for (int i = 0; i < CARRIED; i++)
            put(t, "%s", i ? ", " : ""), put_value(t, b, TURNS - 1, b->results[i]);
        put(t, " : "), put_result_types(t, b), put(t, " } }");
        return;
    }
    put(t, "%%n = stablehlo.constant dense<0> : tensor<i32> %%r:4 = stablehlo.while(%%i = %%n");
    for (int i = 0; i < CARRIED; i++)
        put(t, ", %%x%d = %%a%d", i, i);
    put(t, ") : tensor<i32>, "), put_result_types(t, b);
    put(t,
        " cond { %%m = stablehlo.constant dense<%d> : tensor<i32> %%c = stablehlo.compare LT, "
        "%%i, %%m : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %%c : tensor<i1> "
        "} do { %%k = stablehlo.constant dense<1> : tensor<i32> %%j = stablehlo.add %%i, %%k : "
        "tensor<i32> ",
        TURNS);
    put_turn(t, b, 0);
    put(t, "stablehlo.return %%j");
    for (int i = 0; i < CARRIED; i++)
        put(t, ", "), put_value(t, b, 0, b->results[i]);
    put(t, " : tensor<i32>, "), put_result_types(t, b);
    put(t, " } return %%r#1, %%r#2, %%r#3 : "), put_result_types(t, b), put(t, " } }");
}

static bool loop_agrees(enum stet_dtype t, int64_t n)
{
    struct body b;
    struct stet_ref in[CARRIED], want[CARRIED], got[CARRIED];
    const void *inputs[CARRIED];
    void *wanted[CARRIED], *gotten[CARRIED];
    struct text loop = {.n = 0}, line = {.n = 0};
    bool ok;

    make_body(&b, t, n);
    for (int i = 0; i < CARRIED; i++) {
        in[i] = fill(t, &n, i == CARRIED - 1 ? 0 : 1, true);
        want[i] = like(&in[i], t), got[i] = like(&in[i], t);
        inputs[i] = in[i].data, wanted[i] = want[i].data, gotten[i] = got[i].data;
    }
    put_program(&loop, &b, true);
    put_program(&line, &b, false);
    ok =
        run_text(&line, inputs, wanted, 1) && run_text(&loop, inputs, gotten, (unsigned)pick(1, 3));
    for (int i = 0; i < CARRIED && ok; i++)
        ok = same(&want[i], &got[i], 0, "loop");
    if (!ok)
        fprintf(stderr, "%s\n", loop.s);
    for (int i = 0; i < CARRIED; i++)
        free(in[i].data), free(want[i].data), free(got[i].data);
    return ok;
}

TEST(loops_agree_with_their_turns)
{
    static const int64_t sizes[] = {1, 2, 7, 16, 100, 257, 1500, 3000}; /* the last is unrolled */

    for (int round = 0; round < 400; round++) {
        enum stet_dtype t = all_types[next() % TYPES];

        EXPECT(loop_agrees(t == STET_DT_PRED ? STET_DT_F32 : t, sizes[next() % 8]));
    }
}

/* A loop that adds its counter to all elements, as the program writes it. */
static bool count_up(int64_t first, int64_t end, int64_t step, int64_t n, int32_t *counter,
                     int32_t *sums)
{
    struct text t = {.n = 0};
    long long size = (long long)n;

    put(&t,
        "func.func @main(%%x: tensor<%lldxi32>) -> (tensor<i32>, tensor<%lldxi32>) {\n"
        "  %%first = stablehlo.constant dense<%lld> : tensor<i32>\n"
        "  %%r:2 = stablehlo.while(%%i = %%first, %%v = %%x) : tensor<i32>, tensor<%lldxi32>\n"
        "  cond {\n"
        "    %%end = stablehlo.constant dense<%lld> : tensor<i32>\n"
        "    %%c = stablehlo.compare LT, %%i, %%end : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "    stablehlo.return %%c : tensor<i1>\n"
        "  } do {\n"
        "    %%step = stablehlo.constant dense<%lld> : tensor<i32>\n"
        "    %%j = stablehlo.add %%i, %%step : tensor<i32>\n"
        "    %%b = stablehlo.broadcast_in_dim %%i, dims = [] : (tensor<i32>) -> tensor<%lldxi32>\n"
        "    %%w = stablehlo.add %%v, %%b : tensor<%lldxi32>\n"
        "    stablehlo.return %%j, %%w : tensor<i32>, tensor<%lldxi32>\n"
        "  }\n"
        "  return %%r#0, %%r#1 : tensor<i32>, tensor<%lldxi32>\n}\n",
        size, size, (long long)first, size, (long long)end, (long long)step, size, size, size,
        size);
    return run_text(&t, (const void *[]){sums}, (void *[]){counter, sums}, 1);
}

TEST(a_counted_loop_makes_its_turns)
{
    static const struct {
        int64_t first, end, step;
    } cases[] = {{0, 5, 1}, {2, 7, 2},  {0, 8, 1}, {0, 9, 1},  {3, 3, 1}, {5, 3, 1},
                 {0, 1, 9}, {-2, 2, 1}, {0, 6, 4}, {0, 20, 3}, {1, 2, 1}};
    static const int64_t sizes[] = {4, 5000};
    static int32_t sums[5000];

    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        int64_t first = cases[i / 2].first, end = cases[i / 2].end, step = cases[i / 2].step;
        int64_t n = sizes[i % 2], at = first, sum = 0;
        int32_t counter;

        for (; (int32_t)at < end; at = (int32_t)(uint32_t)((uint64_t)at + (uint64_t)step))
            sum += at;
        memset(sums, 0, sizeof sums);
        EXPECT(count_up(first, end, step, n, &counter, sums));
        EXPECT_INT(at, counter);
        for (int64_t k = 0; k < n; k += n - 1)
            EXPECT_INT((int32_t)sum, sums[k]);
    }
}

/* x + the reduction of x, spread over x again, three times: in a loop, or one after the other. */
static void put_reduction(struct text *t, const char *op, const struct stet_shape *s, int dim,
                          int turn, const char *from)
{
    struct stet_shape kept, one;

    stet_shape_set(&kept, s->dtype, &s->dims[1 - dim], 1);
    stet_shape_set(&one, s->dtype, NULL, 0);
    put(t,
        "%%r%d = stablehlo.reduce(%s init: %%z) applies stablehlo.%s across dimensions = [%d] : (",
        turn, from, op, dim);
    put_type(t, s), put(t, ", "), put_type(t, &one), put(t, ") -> "), put_type(t, &kept);
    put(t, " %%b%d = stablehlo.broadcast_in_dim %%r%d, dims = [%d] : (", turn, turn, 1 - dim);
    put_type(t, &kept), put(t, ") -> "), put_type(t, s);
    put(t, " %%x%d = stablehlo.add %s, %%b%d : ", turn + 1, from, turn);
    put_type(t, s), put(t, " ");
}

static void put_reductions(struct text *t, const char *op, const struct stet_shape *s, int dim,
                           bool loop)
{
    struct stet_shape one;

    stet_shape_set(&one, s->dtype, NULL, 0);
    put(t, "func.func @main(%%x0: "), put_type(t, s), put(t, ") -> "), put_type(t, s);
    put(t, " { %%z = stablehlo.constant dense<%s> : ",
        stet_dtype_is_complex(s->dtype) ? "(1.0,0.0)"
        : stet_dtype_is_float(s->dtype) ? "1.0"
                                        : "1");
    put_type(t, &one), put(t, " ");
    if (!loop) {
        for (int turn = 0; turn < TURNS; turn++) {
            char from[16];

            snprintf(from, sizeof from, "%%x%d", turn);
            put_reduction(t, op, s, dim, turn, from);
        }
        put(t, "return %%x%d : ", TURNS), put_type(t, s), put(t, " }");
        return;
    }
    put(t, "%%n = stablehlo.constant dense<0> : tensor<i32> %%w:2 = stablehlo.while(%%i = %%n, "
           "%%v = %%x0) : tensor<i32>, ");
    put_type(t, s);
    put(t,
        " cond { %%m = stablehlo.constant dense<%d> : tensor<i32> %%c = stablehlo.compare LT, "
        "%%i, %%m : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %%c : tensor<i1> "
        "} do { %%k = stablehlo.constant dense<1> : tensor<i32> %%j = stablehlo.add %%i, %%k : "
        "tensor<i32> ",
        TURNS);
    put_reduction(t, op, s, dim, 0, "%v");
    put(t, "stablehlo.return %%j, %%x1 : tensor<i32>, "), put_type(t, s);
    put(t, " } return %%w#1 : "), put_type(t, s), put(t, " }");
}

TEST(small_reductions_in_loops_give_the_bits_of_those_outside)
{
    static const char *const ops[] = {"add", "maximum", "minimum", "multiply"};
    static const enum stet_dtype types[] = {STET_DT_F32, STET_DT_F64,  STET_DT_S32,
                                            STET_DT_U64, STET_DT_BF16, STET_DT_C64};

    for (int round = 0; round < 300; round++) {
        enum stet_dtype t = types[next() % 6];
        int64_t long_one = pick(1, 300), dims[] = {long_one, pick(1, 1 + 300 / long_one)};
        const char *op = ops[t == STET_DT_C64 ? 3 * (next() & 1) : next() % 4];
        int dim = (int)(next() & 1), turned = (int)(next() & 1);
        struct text loop = {.n = 0}, line = {.n = 0};
        struct stet_ref x, want, got;

        if (turned)
            dims[0] = dims[1], dims[1] = long_one;
        if (round % 4 == 0) /* columns that are folded in one call */
            t = STET_DT_F32, dim = 0, dims[0] = 1 << pick(0, 4), dims[1] = 1 << pick(0, 4);
        x = fill(t, dims, 2, false);
        want = like(&x, t), got = like(&x, t);
        put_reductions(&loop, op, &x.shape, dim, true);
        put_reductions(&line, op, &x.shape, dim, false);
        EXPECT(run_text(&line, (const void *[]){x.data}, (void *[]){want.data}, 1) &&
               run_text(&loop, (const void *[]){x.data}, (void *[]){got.data}, 1));
        EXPECT(memcmp(want.data, got.data, x.shape.bytes) == 0);
        free(x.data), free(want.data), free(got.data);
    }
}
