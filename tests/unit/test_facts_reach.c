/* Facts about what an argument is for, by where its value goes. */
#include "program_help.h"

#include "explain/history_internal.h"

/* p - rate * g over a donated p; `loss` says what else becomes of the rate. */
static void update(struct stet_program *p, const char *donated, const char *more)
{
    static char text[2048];

    snprintf(
        text, sizeof text,
        "module @SyncTensorsGraph.1 {\n"
        "func.func public @main(%%rate: tensor<f32>, %%p: tensor<4xf32> {jax.buffer_donor = %s}, "
        "%%g: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {\n"
        "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%%r = stablehlo.broadcast_in_dim %%rate, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
        "%%s = stablehlo.multiply %%g, %%r : tensor<4xf32>\n"
        "%%n = stablehlo.subtract %%p, %%s : tensor<4xf32>\n"
        "return %%n, %s : tensor<4xf32>, tensor<f32>\n}\n}\n",
        donated, more);
    read_program(p, stet_view_str(text));
}

TEST(a_number_that_only_scales_what_is_written_back_is_the_optimizers)
{
    struct stet_program p;

    update(&p, "true", "%z");
    EXPECT(stet_facts_scales_update(&p, &p.arguments[0]));
    EXPECT(!stet_facts_scales_update(&p, &p.arguments[1])); /* not a number */
    stet_program_release(&p);
    update(&p, "false", "%z"); /* nothing is overwritten */
    EXPECT(!stet_facts_scales_update(&p, &p.arguments[0]));
    stet_program_release(&p);
    update(&p, "true", "%rate"); /* it is a result too */
    EXPECT(!stet_facts_scales_update(&p, &p.arguments[0]));
    stet_program_release(&p);
}

TEST(a_number_of_the_model_is_not_the_optimizers)
{
    static const char text[] =
        "module @SyncTensorsGraph.1 {\n"
        "func.func public @main(%t: tensor<f32>, %p: tensor<4x4xf32> {jax.buffer_donor = true}) -> "
        "tensor<4x4xf32> {\n"
        "%b = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<4x4xf32>\n"
        "%s = stablehlo.multiply %p, %b : tensor<4x4xf32>\n"
        "%d = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] : (tensor<4x4xf32>, "
        "tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "return %d : tensor<4x4xf32>\n}\n}\n";
    struct stet_program p;

    if (!read_program(&p, stet_view_str(text)))
        return;
    EXPECT(!stet_facts_scales_update(&p, &p.arguments[0]));
    stet_program_release(&p);
}

static bool selects(const char *type, const char *body)
{
    static char text[2048];
    struct stet_program p;
    bool answer;

    snprintf(text, sizeof text,
             "module @SyncTensorsGraph.1 {\n"
             "func.func public @main(%%x: tensor<8xf32>, %%i: tensor<%s>) -> tensor<5x1xf32> {\n%s"
             "%%y = \"stablehlo.gather\"(%%x, %%j) <{dimension_numbers = #stablehlo.gather<"
             "offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, "
             "slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<5x1xi64>) -> tensor<5x1xf32>\n"
             "return %%y : tensor<5x1xf32>\n}\n}\n",
             type, body);
    if (!read_program(&p, stet_view_str(text)))
        return false;
    answer = stet_facts_is_selection(&p, &p.arguments[1]);
    stet_program_release(&p);
    return answer;
}

TEST(positions_that_a_mask_gives_have_a_column_a_dimension)
{
    EXPECT(
        selects("5x1xi64", "%j = stablehlo.reshape %i : (tensor<5x1xi64>) -> tensor<5x1xi64>\n"));
    EXPECT(selects("5x2xi64",
                   "%j = stablehlo.slice %i [0:5, 0:1] : (tensor<5x2xi64>) -> tensor<5x1xi64>\n"
                   "%k = stablehlo.slice %i [0:5, 1:2] : (tensor<5x2xi64>) -> tensor<5x1xi64>\n"));
    /* Indices that a user passes. */
    EXPECT(!selects("5xi64", "%j = stablehlo.reshape %i : (tensor<5xi64>) -> tensor<5x1xi64>\n"));
    /* One column of two is something else. */
    EXPECT(!selects("5x2xi64",
                    "%j = stablehlo.slice %i [0:5, 0:1] : (tensor<5x2xi64>) -> tensor<5x1xi64>\n"));
}
