/* Programs that the CPU backend must refuse, by name and without harm. */
#include "backend_help.h"

static enum stet_rc plan_text(const char *text)
{
    struct stet_program p;
    struct stet_plan *plan;
    enum stet_rc rc;

    last = (struct stet_err)STET_ERR_INIT;
    if ((rc = stet_decode(&p, stet_view_str(text), &last)))
        return rc;
    if ((rc = stet_plan_new(&plan, &p, &last)) == STET_OK)
        stet_plan_free(plan);
    stet_program_release(&p);
    return rc;
}

#define MAIN(args, result, body)                                                                   \
    "module { func.func @main(" args ") -> " result " { " body " return %0 : " result " } }"

TEST(bad_programs_are_refused_by_name)
{
    static const struct {
        const char *program, *says;
    } bad[] = {
        {MAIN("%a: tensor<3xf32>, %b: tensor<4xf32>", "tensor<3xf32>",
              "%0 = \"stablehlo.add\"(%a, %b) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>"),
         "stablehlo.add"},
        {MAIN("%a: tensor<3xf32>", "tensor<5xf32>",
              "%0 = \"stablehlo.exponential\"(%a) : (tensor<3xf32>) -> tensor<5xf32>"),
         "declared f32[5]"},
        {MAIN("%a: tensor<3xi32>", "tensor<3xi32>",
              "%0 = \"stablehlo.tanh\"(%a) : (tensor<3xi32>) -> tensor<3xi32>"),
         "not defined for s32"},
        {MAIN("%a: tensor<3xf32>", "tensor<9xf32>",
              "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0>, limit_indices = "
              "array<i64: 9>, "
              "strides = array<i64: 1>}> : (tensor<3xf32>) -> tensor<9xf32>"),
         "leaves dimension 0"},
        {MAIN("%a: tensor<3x4xf32>", "tensor<4x3xf32>",
              "%0 = \"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 7>}> : "
              "(tensor<3x4xf32>) -> "
              "tensor<4x3xf32>"),
         "permutation"},
        {MAIN("%a: tensor<f32>", "tensor<1000000x1000000x1000000xf32>",
              "%0 = \"stablehlo.broadcast_in_dim\"(%a) <{broadcast_dimensions = array<i64>}> : "
              "(tensor<f32>) -> "
              "tensor<1000000x1000000x1000000xf32>"),
         "larger than can be addressed"},
        {MAIN("%a: tensor<3xf32>", "tensor<3xf32>",
              "%0 = func.call @main(%a) : (tensor<3xf32>) -> tensor<3xf32>"),
         "calls itself"},
        {MAIN("%a: tensor<3xf32>", "tensor<3xf32>",
              "%0 = func.call @gone(%a) : (tensor<3xf32>) -> tensor<3xf32>"),
         "function @gone does not exist"},
        {MAIN("%a: tensor<3xf32>", "tensor<3xf32>",
              "%0 = \"stablehlo.custom_call\"(%a) <{call_target_name = \"nobody\"}> : "
              "(tensor<3xf32>) -> "
              "tensor<3xf32>"),
         "nobody"},
        {MAIN("%a: tensor<?xf32>", "tensor<?xf32>",
              "%0 = \"stablehlo.negate\"(%a) : (tensor<?xf32>) -> tensor<?xf32>"),
         "dynamic"},
        {MAIN("%a: tensor<4xf32>", "tensor<4xf32>",
              "%0 = \"stablehlo.infeed\"(%a) : (tensor<4xf32>) -> tensor<4xf32>"),
         "not supported"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT(plan_text(bad[i].program) != STET_OK);
        EXPECT(strstr(last.text, bad[i].says) != NULL);
        if (!strstr(last.text, bad[i].says))
            fprintf(stderr, "said: %s\n", last.text);
    }
}

TEST(absurd_sizes_are_refused_by_name)
{
    static const struct {
        const char *program, *says;
    } bad[] = {
        {MAIN("%a: tensor<4611686018427387904x4xf32>", "tensor<4611686018427387904x4xf32>",
              "%0 = stablehlo.add %a, %a : tensor<4611686018427387904x4xf32>"),
         "larger than can be addressed"},
        {MAIN("%a: tensor<2xf32>, %v: tensor<f32>", "tensor<2xf32>",
              "%0 = \"stablehlo.pad\"(%a, %v) <{edge_padding_low = array<i64: "
              "9223372036854775807>, edge_padding_high = array<i64: 9223372036854775807>, "
              "interior_padding = array<i64: 0>}> : (tensor<2xf32>, tensor<f32>) -> "
              "tensor<2xf32>"),
         "stablehlo.pad"},
        {MAIN("%a: tensor<100000x0xf32>, %b: tensor<0x100000000000xf32>",
              "tensor<100000x100000000000xf32>",
              "%0 = stablehlo.dot %a, %b : (tensor<100000x0xf32>, "
              "tensor<0x100000000000xf32>) -> tensor<100000x100000000000xf32>"),
         "larger than can be addressed"},
        {MAIN("%a: tensor<1x4x4x1xf32>, %b: tensor<2x2x1x1xf32>", "tensor<1x3x3x1xf32>",
              "%0 = \"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : i64, "
              "feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, "
              "1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1, 0>}> : "
              "(tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x3x1xf32>"),
         "window_strides is out of range"},
        {MAIN("%a: tensor<1x4x4x1xf32>, %b: tensor<2x2x1x1xf32>", "tensor<1x3x3x1xf32>",
              "%0 = \"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : i64, "
              "feature_group_count = 0 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, "
              "1, i, o]->[b, 0, 1, f]>}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> "
              "tensor<1x3x3x1xf32>"),
         "group counts"},
        {MAIN("%a: tensor<4xf32>, %i: tensor<2x1xi32>", "tensor<2xf32>",
              "%0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = "
              "#stablehlo.gather<collapsed_slice_dims = [7], start_index_map = [0], "
              "index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, "
              "tensor<2x1xi32>) -> tensor<2xf32>"),
         "stablehlo.gather"},
        {MAIN("%a: tensor<4xf32>, %i: tensor<2x1xi32>", "tensor<2xf32>",
              "%0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = "
              "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], "
              "index_vector_dim = 1>, slice_sizes = array<i64: 9>}> : (tensor<4xf32>, "
              "tensor<2x1xi32>) -> tensor<2xf32>"),
         "stablehlo.gather"},
        {MAIN("%a: tensor<4xf32>", "tensor<4xf32>",
              "%0 = \"stablehlo.sort\"(%a) <{dimension = 3 : i64}> ({ ^bb0(%x: tensor<f32>, %y: "
              "tensor<f32>): %z = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> "
              "tensor<i1> stablehlo.return %z : tensor<i1> }) : (tensor<4xf32>) -> "
              "tensor<4xf32>"),
         "stablehlo.sort"},
        {MAIN("%a: tensor<4xf32>", "tensor<4xf32>",
              "%0 = stablehlo.while(%x = %a) : tensor<4xf32> cond { %t = stablehlo.constant "
              "dense<1.0> : tensor<f32> stablehlo.return %t : tensor<f32> } do { stablehlo.return "
              "%x : tensor<4xf32> }"),
         "stablehlo.while"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT(plan_text(bad[i].program) != STET_OK);
        EXPECT(strstr(last.text, bad[i].says) != NULL);
        if (!strstr(last.text, bad[i].says))
            fprintf(stderr, "%zu said: %s\n", i, last.text);
    }
}

TEST(deep_nests_hit_a_limit)
{
    static char program[1 << 20];
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_plan *plan;
    size_t n = 0;

    n += (size_t)sprintf(program, "module { func.func @main(%%p: tensor<i1>, %%a: tensor<f32>) -> "
                                  "tensor<f32> { ");
    for (int i = 0; i < 3000; i++)
        n += (size_t)sprintf(program + n, "%%v%d = \"stablehlo.if\"(%%p) ({ ", i);
    n += (size_t)sprintf(program + n, "stablehlo.return %%a : tensor<f32> ");
    for (int i = 3000; i-- > 0;)
        n += (size_t)sprintf(program + n,
                             "}, { stablehlo.return %%a : tensor<f32> }) : (tensor<i1>) -> "
                             "tensor<f32> %s %%v%d : tensor<f32> ",
                             i ? "stablehlo.return" : "return", i);
    n += (size_t)sprintf(program + n, "} }");
    /* the reader may refuse it, or the planner; neither may fall over */
    if (stet_decode(&p, stet_view_of(program, n), &err) == STET_OK) {
        EXPECT(stet_plan_new(&plan, &p, &err) == STET_LIMIT);
        stet_program_release(&p);
    }
    EXPECT(err.text[0] != 0);
}

TEST(doubling_calls_hit_a_limit)
{
    struct text t = {.n = 0};

    put(&t,
        "module { func.func @main(%%a: tensor<f32>) -> tensor<f32> { %%0 = func.call @f30(%%a) : "
        "(tensor<f32>) -> tensor<f32> return %%0 : tensor<f32> } func.func private @f0(%%a: "
        "tensor<f32>) "
        "-> tensor<f32> { %%0 = stablehlo.add %%a, %%a : tensor<f32> return %%0 : tensor<f32> } ");
    for (int i = 1; i <= 30; i++)
        put(&t,
            "func.func private @f%d(%%a: tensor<f32>) -> tensor<f32> { %%0 = func.call @f%d(%%a) : "
            "(tensor<f32>) -> tensor<f32> %%1 = func.call @f%d(%%0) : (tensor<f32>) -> tensor<f32> "
            "return "
            "%%1 : tensor<f32> } ",
            i, i - 1, i - 1);
    put(&t, "}");
    EXPECT(plan_text(t.s) == STET_LIMIT);
}

TEST(planning_survives_every_failed_allocation)
{
    static const char program[] = MAIN("%a: tensor<3x4xf32>", "tensor<4x3xf32>",
                                       "%1 = stablehlo.add %a, %a : tensor<3x4xf32> %0 = "
                                       "\"stablehlo.transpose\"(%1) <{permutation = "
                                       "array<i64: 1, 0>}> : (tensor<3x4xf32>) -> tensor<4x3xf32>");

    for (long n = 0; n < 60; n++) {
        stet_mem_fail_after(n, true);
        (void)plan_text(program);
        stet_mem_fail_after(-1, false);
    }
    EXPECT(plan_text(program) == STET_OK);
}

TEST(endless_loops_stop_when_asked)
{
    static const char program[] =
        MAIN("%a: tensor<i32>", "tensor<i32>",
             "%k = stablehlo.constant dense<1> : tensor<i32> %0 = stablehlo.while(%x = %a) : "
             "tensor<i32> cond { %c = stablehlo.compare GE, %x, %k : (tensor<i32>, tensor<i32>) -> "
             "tensor<i1> stablehlo.return %c : tensor<i1> } do { %y = stablehlo.subtract %x, %k : "
             "tensor<i32> stablehlo.return %y : tensor<i32> }");
    struct stet_program p;
    struct stet_plan *plan = NULL;
    int32_t turns = 100, left = -1;
    const void *in = &turns;
    void *out = &left, *scratch;

    EXPECT(stet_decode(&p, stet_view_str(program), &last) == STET_OK &&
           stet_plan_new(&plan, &p, &last) == STET_OK);
    scratch = aligned_alloc(64, (size_t)(stet_plan_info(plan)->scratch_bytes + 64) / 64 * 64);
    stet_plan_limit(plan, 99);
    EXPECT(stet_plan_run(plan, &in, &out, scratch, NULL, &last) == STET_LIMIT);
    EXPECT(strstr(last.text, "99 iterations") != NULL);
    stet_plan_limit(plan, 100);
    EXPECT(stet_plan_run(plan, &in, &out, scratch, NULL, &last) == STET_OK);
    EXPECT_INT(0, left);
    free(scratch);
    stet_plan_free(plan);
    stet_program_release(&p);
}
