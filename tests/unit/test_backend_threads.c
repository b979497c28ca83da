/* The pool, and plans on it: the same bits for any number of threads, any number of callers. */
#include <pthread.h>

#include "backend_help.h"

static void add_one(void *context, uint64_t i)
{
    ((unsigned char *)context)[i]++;
}

TEST(every_task_runs_once_for_any_number_of_threads)
{
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct stet_pool *pool = stet_pool_new(threads);

        for (int round = 0; round < 100; round++) {
            unsigned char done[300] = {0};
            uint64_t n = (uint64_t)pick(0, 300), wrong = 0;

            stet_pool_for(pool, n, add_one, done);
            for (uint64_t i = 0; i < 300; i++)
                wrong += done[i] != (i < n);
            EXPECT_INT(0, wrong);
        }
        stet_pool_free(pool);
    }
}

/* One program for each kernel that cuts its work for the pool. */
static const struct program {
    const char *text;
    int64_t in[2], out; /* elements, f32 */
} programs[] = {
    {"module { func.func @main(%a: tensor<300x200xf32>, %b: tensor<200x70xf32>) -> "
     "tensor<300x70xf32> { %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
     "(tensor<300x200xf32>, tensor<200x70xf32>) -> tensor<300x70xf32> return %0 : "
     "tensor<300x70xf32> } }",
     {300 * 200, 200 * 70},
     300 * 70},
    {"module { func.func @main(%a: tensor<700x30xf32>, %b: tensor<700x600xf32>) -> "
     "tensor<30x600xf32> { %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : "
     "(tensor<700x30xf32>, tensor<700x600xf32>) -> tensor<30x600xf32> return %0 : "
     "tensor<30x600xf32> } }",
     {700 * 30, 700 * 600},
     30 * 600},
    {"module { func.func @main(%a: tensor<3x700xf32>, %b: tensor<600x700xf32>) -> "
     "tensor<3x600xf32> { %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : "
     "(tensor<3x700xf32>, tensor<600x700xf32>) -> tensor<3x600xf32> return %0 : "
     "tensor<3x600xf32> } }",
     {3 * 700, 600 * 700},
     3 * 600},
    {"module { func.func @main(%a: tensor<19x31x17xf32>, %b: tensor<19x17x40xf32>) -> "
     "tensor<19x31x40xf32> { %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
     "contracting_dims = [2] x [1] : (tensor<19x31x17xf32>, tensor<19x17x40xf32>) -> "
     "tensor<19x31x40xf32> return %0 : tensor<19x31x40xf32> } }",
     {19 * 31 * 17, 19 * 17 * 40},
     19 * 31 * 40},
    {"module { func.func @main(%a: tensor<5x20x21x6xf32>, %b: tensor<3x3x6x35xf32>) -> "
     "tensor<5x20x21x35xf32> { %0 = \"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : "
     "i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, "
     "i, o]->[b, 0, 1, f]>, padding = dense<1> : tensor<2x2xi64>}> : (tensor<5x20x21x6xf32>, "
     "tensor<3x3x6x35xf32>) -> tensor<5x20x21x35xf32> return %0 : tensor<5x20x21x35xf32> } }",
     {5 * 20 * 21 * 6, 3 * 3 * 6 * 35},
     5 * 20 * 21 * 35},
    {"module { func.func @main(%a: tensor<70x900xf32>, %b: tensor<f32>) -> tensor<f32> { %1 = "
     "stablehlo.multiply %a, %a : tensor<70x900xf32> %0 = \"stablehlo.reduce\"(%1, %b) "
     "<{dimensions = array<i64: 0, 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = "
     "stablehlo.add %x, %y : tensor<f32> stablehlo.return %z : tensor<f32> }) : "
     "(tensor<70x900xf32>, tensor<f32>) -> tensor<f32> return %0 : tensor<f32> } }",
     {70 * 900, 1},
     1},
    {"module { func.func @main(%a: tensor<700x90xf32>, %b: tensor<f32>) -> tensor<90xf32> { %1 = "
     "stablehlo.tanh %a : tensor<700x90xf32> %0 = \"stablehlo.reduce\"(%1, %b) "
     "<{dimensions = array<i64: 0>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = "
     "stablehlo.add %x, %y : tensor<f32> stablehlo.return %z : tensor<f32> }) : "
     "(tensor<700x90xf32>, tensor<f32>) -> tensor<90xf32> return %0 : tensor<90xf32> } }",
     {700 * 90, 1},
     90},
    {"module { func.func @main(%a: tensor<40x1500xf32>, %b: tensor<f32>) -> tensor<40x1500xf32> { "
     "%0 = \"stablehlo.sort\"(%a) <{dimension = 1 : i64, is_stable = true}> ({ ^bb0(%x: "
     "tensor<f32>, %y: tensor<f32>): %z = \"stablehlo.compare\"(%x, %y) <{comparison_direction = "
     "#stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1> "
     "stablehlo.return %z : tensor<i1> }) : (tensor<40x1500xf32>) -> tensor<40x1500xf32> return "
     "%0 : tensor<40x1500xf32> } }",
     {40 * 1500, 1},
     40 * 1500},
    {"module { func.func @main(%a: tensor<20000xf32>, %b: tensor<f32>) -> "
     "tensor<10001xcomplex<f32>> { %0 = \"stablehlo.fft\"(%a) <{fft_type = #stablehlo<fft_type "
     "RFFT>, fft_length = array<i64: 20000>}> : (tensor<20000xf32>) -> tensor<10001xcomplex<f32>> "
     "return %0 : tensor<10001xcomplex<f32>> } }",
     {20000, 1},
     20002},
    {"module { func.func @main(%a: tensor<50x90x70xf32>, %b: tensor<f32>) -> "
     "tensor<50x90x36xcomplex<f32>> { %0 = \"stablehlo.fft\"(%a) <{fft_type = #stablehlo<fft_type "
     "RFFT>, fft_length = array<i64: 90, 70>}> : (tensor<50x90x70xf32>) -> "
     "tensor<50x90x36xcomplex<f32>> return %0 : tensor<50x90x36xcomplex<f32>> } }",
     {50 * 90 * 70, 1},
     50 * 90 * 72},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static struct text text_of(const struct program *p)
{
    struct text t = {.n = 0};

    put(&t, "%s", p->text);
    return t;
}

TEST(results_are_the_same_bits_for_any_number_of_threads)
{
    for (int i = 0; i < PROGRAMS; i++) {
        const struct program *p = &programs[i];
        struct stet_ref a = fill(STET_DT_F32, &p->in[0], 1, false);
        struct stet_ref b = fill(STET_DT_F32, &p->in[1], 1, false);
        struct stet_ref one = tensor(STET_DT_F32, &p->out, 1), many = like(&one, STET_DT_F32);
        const void *in[2] = {a.data, b.data};
        struct text t = text_of(p);

        EXPECT(run_text(&t, in, &one.data, 1));
        for (unsigned threads = 2; threads <= 7; threads++) {
            memset(many.data, 0, many.shape.bytes);
            EXPECT(run_text(&t, in, &many.data, threads));
            EXPECT(memcmp(one.data, many.data, one.shape.bytes) == 0);
        }
        free(a.data), free(b.data), free(one.data), free(many.data);
    }
}

struct caller {
    const struct stet_plan *plan;
    struct stet_pool *pool;
    const void *const *in;
    struct stet_ref want;
    int wrong;
};

static void *call(void *arg)
{
    struct caller *c = arg;
    struct stet_ref got = like(&c->want, STET_DT_F32);
    void *scratch =
        aligned_alloc(64, (size_t)(stet_plan_info(c->plan)->scratch_bytes + 64) / 64 * 64);
    struct stet_err err = STET_ERR_INIT;

    for (int i = 0; i < 8; i++) {
        memset(got.data, 0, got.shape.bytes);
        c->wrong += stet_plan_run(c->plan, c->in, &got.data, scratch, c->pool, &err) != STET_OK;
        c->wrong += memcmp(got.data, c->want.data, got.shape.bytes) != 0;
    }
    free(scratch);
    free(got.data);
    return NULL;
}

TEST(many_threads_run_one_plan_on_one_pool)
{
    enum { CALLERS = 6 };

    for (int i = 0; i < PROGRAMS; i++) {
        const struct program *p = &programs[i];
        struct stet_ref a = fill(STET_DT_F32, &p->in[0], 1, false);
        struct stet_ref b = fill(STET_DT_F32, &p->in[1], 1, false);
        struct stet_ref want = tensor(STET_DT_F32, &p->out, 1);
        const void *in[2] = {a.data, b.data};
        struct text t = text_of(p);
        struct stet_pool *pool = stet_pool_new(3);
        struct caller callers[CALLERS];
        pthread_t threads[CALLERS];
        struct stet_program program;
        struct stet_plan *plan;

        EXPECT(run_text(&t, in, &want.data, 1));
        EXPECT(stet_decode(&program, stet_view_of(t.s, t.n), &last) == STET_OK &&
               stet_plan_new(&plan, &program, &last) == STET_OK);
        for (int c = 0; c < CALLERS; c++) {
            callers[c] = (struct caller){.plan = plan, .pool = pool, .in = in, .want = want};
            pthread_create(&threads[c], NULL, call, &callers[c]);
        }
        for (int c = 0; c < CALLERS; c++) {
            pthread_join(threads[c], NULL);
            EXPECT_INT(0, callers[c].wrong);
        }
        stet_plan_free(plan);
        stet_program_release(&program);
        stet_pool_free(pool);
        free(a.data), free(b.data), free(want.data);
    }
}
