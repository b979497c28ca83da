/* Lifting: which values become arguments, which programs are refused, and that a lifted program
 * with the values put back is the plain one. A row is one text in which @1, @2 … are replaced. */
#include "lift_help.h"

#include "base/mem.h"

#define MODULE(body) "module @m {\n func.func public @main(" body "}\n"
#define ARG(rest)    MODULE("%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {\n" rest "}\n")

static const char rate[] =
    ARG("%c = stablehlo.constant dense<@1> : tensor<f32>\n"
        "%0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x6xf32>\n"
        "%1 = stablehlo.multiply %arg0, %0 : tensor<4x6xf32>\n"
        "return %1 : tensor<4x6xf32>\n");

static const char two[] = ARG("%c = stablehlo.constant dense<@1> : tensor<4x6xf32>\n"
                              "%d = stablehlo.constant dense<@2> : tensor<4x6xf32>\n"
                              "%0 = stablehlo.multiply %arg0, %c : tensor<4x6xf32>\n"
                              "%1 = stablehlo.add %0, %d : tensor<4x6xf32>\n"
                              "%2 = stablehlo.subtract %1, %d : tensor<4x6xf32>\n"
                              "return %2 : tensor<4x6xf32>\n");

/* The constant of the first text has two users; in the second it is two constants. */
static const char merged[] = ARG("%c = stablehlo.constant dense<1.0e-3> : tensor<4x6xf32>\n"
                                 "%0 = stablehlo.multiply %arg0, %c : tensor<4x6xf32>\n"
                                 "%1 = stablehlo.add %0, %c : tensor<4x6xf32>\n"
                                 "return %1 : tensor<4x6xf32>\n");
static const char split[] = ARG("%0 = stablehlo.constant dense<1.0e-3> : tensor<4x6xf32>\n"
                                "%1 = stablehlo.constant dense<9.99e-4> : tensor<4x6xf32>\n"
                                "%2 = stablehlo.multiply %arg0, %1 : tensor<4x6xf32>\n"
                                "%3 = stablehlo.add %2, %0 : tensor<4x6xf32>\n"
                                "return %3 : tensor<4x6xf32>\n");

static const char array[] =
    ARG("%c = stablehlo.constant dense<[@1, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>\n"
        "%0 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>\n"
        "%1 = stablehlo.multiply %arg0, %0 : tensor<4x6xf32>\n"
        "return %1 : tensor<4x6xf32>\n");

static const char slice[] =
    MODULE("%arg0: tensor<8x6xf32>) -> tensor<2x6xf32> {\n"
           "%0 = stablehlo.slice %arg0 [@1:@2, 0:6] : (tensor<8x6xf32>) -> tensor<2x6xf32>\n"
           "return %0 : tensor<2x6xf32>\n}\n");

static const char slice_and_pad[] =
    MODULE("%arg0: tensor<8x6xf32>) -> tensor<8x6xf32> {\n"
           "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
           "%0 = stablehlo.slice %arg0 [@1:@2, 0:6] : (tensor<8x6xf32>) -> tensor<2x6xf32>\n"
           "%1 = stablehlo.pad %0, %c, low = [@1, 0], high = [@3, 0], interior = [0, 0] : "
           "(tensor<2x6xf32>, tensor<f32>) -> tensor<8x6xf32>\n"
           "return %1 : tensor<8x6xf32>\n}\n");

static const char called[] = "module @m {\n"
                             "func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "%0 = call @outer(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"
                             "%1 = call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
                             "return %1 : tensor<4xf32>\n}\n"
                             "func.func private @outer(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "%0 = call @inner(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"
                             "return %0 : tensor<4xf32>\n}\n"
                             "func.func private @inner(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
                             "%0 = stablehlo.add %arg0, %c : tensor<4xf32>\n"
                             "return %0 : tensor<4xf32>\n}\n}\n";

static const char loop[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<0> : tensor<i32>\n"
           "%0:2 = stablehlo.while(%i = %c, %x = %arg0) : tensor<i32>, tensor<4xf32>\n"
           "cond {\n %n = stablehlo.constant dense<@2> : tensor<i32>\n"
           "%1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "stablehlo.return %1 : tensor<i1>\n"
           "} do {\n %d = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%1 = stablehlo.multiply %x, %d : tensor<4xf32>\n"
           "%o = stablehlo.constant dense<1> : tensor<i32>\n"
           "%2 = stablehlo.add %i, %o : tensor<i32>\n"
           "stablehlo.return %2, %1 : tensor<i32>, tensor<4xf32>\n}\n"
           "return %0#1 : tensor<4xf32>\n}\n");

static const char branch[] =
    MODULE("%arg0: tensor<4xf32>, %arg1: tensor<i1>) -> tensor<4xf32> {\n"
           "%0 = \"stablehlo.if\"(%arg1) ({\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%1 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "stablehlo.return %1 : tensor<4xf32>\n}, {\n stablehlo.return %arg0 : tensor<4xf32>\n"
           "}) : (tensor<i1>) -> tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const char donated[] = MODULE("%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> "
                                     "(tensor<4xf32> {jax.result_info = \"r\"}) {\n"
                                     "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
                                     "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
                                     "return %0 : tensor<4xf32>\n}\n");

static const char beside_call[] = MODULE(
    "%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
    "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
    "%1 = stablehlo.custom_call @kernel(%0) {backend_config = \"k=3\", api_version = 2 : i32} "
    ": (tensor<4xf32>) -> tensor<4xf32>\n"
    "return %1 : tensor<4xf32>\n}\n");

static const char own_layout[] =
    MODULE("%arg0: tensor<4xf32> {mhlo.layout_mode = \"@2\"}) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

/* The argument is only known at run time, and so is what is converted. */
static const char computed_integer[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<4xi32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "%1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>\n"
           "return %1 : tensor<4xi32>\n}\n");

#define SORTED(name)                                                                               \
    "func.func private @" name "(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"                       \
    "%c = stablehlo.constant dense<@2> : tensor<4xf32>\n"                                          \
    "%0 = stablehlo.maximum %arg0, %c : tensor<4xf32>\n return %0 : tensor<4xf32>\n}\n"
#define COMPOSITE(of)                                                                              \
    "module @m {\nfunc.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"               \
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"                                          \
    "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"                                          \
    "%1 = stablehlo.composite \"chlo.top_k\" %0 {composite_attributes = {k = 2 : i64}, "           \
    "decomposition = @" of "} : (tensor<4xf32>) -> tensor<4xf32>\n"                                \
    "return %1 : tensor<4xf32>\n}\n"

static const char composite[] = COMPOSITE("f") SORTED("f") "}\n";
/* The composite's function has another name, but the same place and the same operations. */
static const char renamed[] = COMPOSITE("g") SORTED("g") "}\n";
/* The same name is another function. */
static const char first_of_two[] = COMPOSITE("f") SORTED("f") SORTED("g") "}\n";
static const char second_of_two[] = COMPOSITE("f") SORTED("g") SORTED("f") "}\n";

static const char returned[] = MODULE("%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {\n"
                                      "%c = stablehlo.constant dense<@1> : tensor<f32>\n"
                                      "return %arg0, %c : tensor<4xf32>, tensor<f32>\n}\n");

static const char returned_inside[] =
    "module @m {\nfunc.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%0 = call @f() : () -> tensor<4xf32>\n"
    "%1 = stablehlo.multiply %arg0, %0 : tensor<4xf32>\nreturn %1 : tensor<4xf32>\n}\n"
    "func.func private @f() -> tensor<4xf32> {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\nreturn %c : tensor<4xf32>\n}\n}\n";

static const char returned_by_branch[] =
    MODULE("%arg0: tensor<4xf32>, %arg1: tensor<i1>) -> tensor<4xf32> {\n"
           "%0 = \"stablehlo.if\"(%arg1) ({\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "stablehlo.return %c : tensor<4xf32>\n}, {\n stablehlo.return %arg0 : tensor<4xf32>\n"
           "}) : (tensor<i1>) -> tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const struct {
    const char *name, *first, *second, *from, *to;
    int arguments;
} accepted[] = {
    {"a learning rate", rate, rate, "1.0e-3", "9.99e-4", 1},
    {"two values that drift alone", two, two, "1.5 2.0", "1.25 3.0", 2},
    {"equal values that drift together", two, two, "1.5 1.5", "1.25 1.25", 1},
    {"one of two", two, two, "1.5 2.0", "1.5 3.0", 1},
    {"a merged constant", merged, split, "", "", 1},
    {"a split constant", split, merged, "", "", 1},
    {"an array", array, array, "1.0", "7.0", 1},
    {"a slice", slice, slice, "1 3", "4 6", 1},
    {"a slice and its gradient", slice_and_pad, slice_and_pad, "1 3 5", "4 6 2", 1},
    {"a value in a function that two call", called, called, "1.0", "2.0", 1},
    {"a value in a loop", loop, loop, "1.0 3", "2.0 3", 1},
    {"a number of iterations", loop, loop, "1.0 3", "1.0 4", 1},
    {"a value in a branch", branch, branch, "1.0", "2.0", 1},
    {"an array that was filled with one number", branch, branch, "1.0", "[1.0,2.0,3.0,4.0]", 1},
    {"an array that becomes one number", branch, branch, "[1.0,2.0,3.0,4.0]", "1.0", 1},
    {"a value beside a custom call", beside_call, beside_call, "1.0", "2.0", 1},
    {"a value beside a composite", composite, composite, "1.0 0.5", "2.0 0.5", 1},
    {"a composite of another name", composite, renamed, "1.0 0.5", "2.0 0.5", 1},
    {"a program with a donated argument", donated, donated, "1.0", "2.0", 1},
    {"a usual layout", own_layout, own_layout, "1.0 default", "2.0 default", 1},
    {"an integer that is computed from an argument", computed_integer, computed_integer, "1.0",
     "3.0", 1},
    {"a value that is a result", returned, returned, "1.0", "2.0", 1},
    {"a value that a function returns", returned_inside, returned_inside, "1.0", "2.0", 1},
    {"a value that a branch returns", returned_by_branch, returned_by_branch, "1.0", "2.0", 1},
    {"the other zero", rate, rate, "0.0", "-0.0", 1},
    {"a NaN with another payload", rate, rate, "0x7FC00000", "0x7F800001", 1},
};

TEST(values_become_arguments_and_can_be_put_back)
{
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct stet_buf out = STET_BUF_INIT;
        struct stet_err why = STET_ERR_INIT;
        struct pair p;

        if (read_pair(&p, accepted[i].first, accepted[i].from, accepted[i].second,
                      accepted[i].to)) {
            int n = lift(&p, &out, &why);

            if (n != accepted[i].arguments)
                fprintf(stderr, "%s: %s\n%s\n", accepted[i].name, why.text, out.ptr ? out.ptr : "");
            EXPECT_INT(accepted[i].arguments, n);
        }
        stet_buf_release(&out);
        release_pair(&p);
    }
}

/* ---- what is refused ---- */

static const char reduce_body[] = MODULE("%arg0: tensor<4x6xf32>) -> tensor<4xf32> {\n"
                                         "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                                         "%0 = stablehlo.reduce(%arg0 init: %z) across dimensions "
                                         "= [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>\n"
                                         "reducer(%a: tensor<f32>, %b: tensor<f32>) {\n"
                                         "%c = stablehlo.constant dense<@1> : tensor<f32>\n"
                                         "%1 = stablehlo.multiply %b, %c : tensor<f32>\n"
                                         "%2 = stablehlo.add %a, %1 : tensor<f32>\n"
                                         "stablehlo.return %2 : tensor<f32>\n}\n"
                                         "return %0 : tensor<4xf32>\n}\n");

static const char sort_body[] =
    MODULE("%arg0: tensor<6xf32>) -> tensor<6xf32> {\n"
           "%0 = \"stablehlo.sort\"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({\n"
           "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
           "%c = stablehlo.constant dense<@1> : tensor<f32>\n"
           "%1 = stablehlo.add %a, %c : tensor<f32>\n"
           "%2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
           "stablehlo.return %2 : tensor<i1>\n}) : (tensor<6xf32>) -> tensor<6xf32>\n"
           "return %0 : tensor<6xf32>\n}\n");

static const char shape[] = MODULE("%arg0: tensor<24xf32>) -> tensor<?x?xf32> {\n"
                                   "%c = stablehlo.constant dense<[@1, @2]> : tensor<2xi32>\n"
                                   "%0 = stablehlo.dynamic_reshape %arg0, %c : (tensor<24xf32>, "
                                   "tensor<2xi32>) -> tensor<?x?xf32>\n"
                                   "return %0 : tensor<?x?xf32>\n}\n");

static const char static_shape[] =
    MODULE("%arg0: tensor<24xf32>) -> tensor<4x6xf32> {\n"
           "%c = stablehlo.constant dense<[@1, @2]> : tensor<2xi32>\n"
           "%0 = stablehlo.dynamic_reshape %arg0, %c : (tensor<24xf32>, tensor<2xi32>) -> "
           "tensor<4x6xf32>\n"
           "return %0 : tensor<4x6xf32>\n}\n");

static const char shape_of_result[] =
    MODULE("%arg0: tensor<8x6xf32>) -> tensor<@3x6xf32> {\n"
           "%0 = stablehlo.slice %arg0 [@1:@2, 0:6] : (tensor<8x6xf32>) -> tensor<@3x6xf32>\n"
           "return %0 : tensor<@3x6xf32>\n}\n");

static const char strides[] =
    MODULE("%arg0: tensor<8x6xf32>) -> tensor<2x6xf32> {\n"
           "%0 = stablehlo.slice %arg0 [@1:@2:2, 0:6] : (tensor<8x6xf32>) -> tensor<2x6xf32>\n"
           "return %0 : tensor<2x6xf32>\n}\n");

static const char negative_pad[] =
    MODULE("%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
           "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
           "%0 = stablehlo.pad %arg0, %c, low = [@1], high = [@2], interior = [0] : "
           "(tensor<8xf32>, tensor<f32>) -> tensor<8xf32>\n"
           "return %0 : tensor<8xf32>\n}\n");

static const char custom_call[] = MODULE("%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                                         "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
                                         "%0 = stablehlo.custom_call @kernel(%arg0, %c) : "
                                         "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
                                         "return %0 : tensor<4xf32>\n}\n");

static const char effect_of_call[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "%1 = stablehlo.custom_call @kernel(%0) {has_side_effect = true} : (tensor<4xf32>) -> "
           "tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const char setting_of_call[] = MODULE(
    "%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
    "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
    "%1 = stablehlo.custom_call @kernel(%0) {backend_config = \"k=@2\"} : (tensor<4xf32>) -> "
    "tensor<4xf32>\n"
    "return %1 : tensor<4xf32>\n}\n");

static const char random_bits[] =
    MODULE("%arg0: tensor<2xui64>) -> tensor<4xui32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xui32>\n"
           "%s, %b = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> "
           "(tensor<2xui64>, tensor<4xui32>)\n"
           "%0 = stablehlo.add %b, %c : tensor<4xui32>\n"
           "return %0 : tensor<4xui32>\n}\n");

static const char sum_of_devices[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "%1 = \"stablehlo.all_reduce\"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({\n"
           "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
           "%2 = stablehlo.add %a, %b : tensor<f32>\n"
           "stablehlo.return %2 : tensor<f32>\n}) : (tensor<4xf32>) -> tensor<4xf32>\n"
           "return %1 : tensor<4xf32>\n}\n");

static const char sharded[] =
    MODULE("%arg0: tensor<4xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\"}) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const char donor[] =
    MODULE("%arg0: tensor<4xf32> {jax.buffer_donor = @2}) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const char collective[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "%1 = \"stablehlo.collective_permute\"(%0) <{source_target_pairs = dense<[[0, 1]]> : "
           "tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>\n"
           "return %1 : tensor<4xf32>\n}\n");

static const char random_state[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<f32>\n"
           "%d = stablehlo.constant dense<1.0> : tensor<f32>\n"
           "%n = stablehlo.constant dense<4> : tensor<1xi64>\n"
           "%0 = stablehlo.rng %c, %d, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, "
           "tensor<1xi64>) -> tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const char side_effect[] = MODULE(
    "%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%t = stablehlo.create_token : !stablehlo.token\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
    "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
    "%1 = \"stablehlo.outfeed\"(%0, %t) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n"
    "return %0 : tensor<4xf32>\n}\n");

static const char partitions[] = "module @m attributes {mhlo.num_partitions = 2 : i32} {\n"
                                 "func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                                 "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
                                 "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
                                 "return %0 : tensor<4xf32>\n}\n}\n";

static const char layouts[] = "module @m attributes {mhlo.xla_entry_computation_parameter_layouts "
                              "= [dense<0> : tensor<1xindex>]} {\n"
                              "func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                              "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
                              "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
                              "return %0 : tensor<4xf32>\n}\n}\n";

static const char alias[] = MODULE(
    "%arg0: tensor<4xf32> {tf.aliasing_output = @2 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
    "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
    "%1 = stablehlo.add %arg0, %c : tensor<4xf32>\n"
    "return %0, %1 : tensor<4xf32>, tensor<4xf32>\n}\n");

static const char dataflow[] = MODULE("%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
                                      "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
                                      "%0 = stablehlo.multiply %@2, %c : tensor<4xf32>\n"
                                      "return %0 : tensor<4xf32>\n}\n");

static const char element[] = MODULE("%arg0: tensor<4x@2>) -> tensor<4x@2> {\n"
                                     "%c = stablehlo.constant dense<@1> : tensor<4x@2>\n"
                                     "%0 = stablehlo.multiply %arg0, %c : tensor<4x@2>\n"
                                     "return %0 : tensor<4x@2>\n}\n");

static const char callee[] =
    "module @m {\n"
    "func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
    "%0 = stablehlo.add %arg0, %c : tensor<4xf32>\n"
    "%1 = call @@2(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "return %1 : tensor<4xf32>\n}\n"
    "func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%0 = stablehlo.sine %arg0 : tensor<4xf32>\n return %0 : tensor<4xf32>\n}\n"
    "func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%0 = stablehlo.sine %arg0 : tensor<4xf32>\n return %0 : tensor<4xf32>\n}\n}\n";

static const char initial[] =
    MODULE("%arg0: tensor<4x6xf32>) -> tensor<4xf32> {\n"
           "%z = stablehlo.constant dense<@1> : tensor<f32>\n"
           "%0 = stablehlo.reduce(%arg0 init: %z) applies stablehlo.add across dimensions = [1] : "
           "(tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

static const char to_integer[] =
    MODULE("%arg0: tensor<4xi32>) -> tensor<4xi32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.convert %c : (tensor<4xf32>) -> tensor<4xi32>\n"
           "%1 = stablehlo.add %arg0, %0 : tensor<4xi32>\n"
           "return %1 : tensor<4xi32>\n}\n");

/* What is converted is computed from constants alone. */
static const char folded_to_integer[] =
    MODULE("%arg0: tensor<4xi32>) -> tensor<4xi32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<f32>\n"
           "%d = stablehlo.constant dense<2.0> : tensor<f32>\n"
           "%0 = stablehlo.multiply %c, %d : tensor<f32>\n"
           "%1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
           "%2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xi32>\n"
           "%3 = stablehlo.add %arg0, %2 : tensor<4xi32>\n"
           "return %3 : tensor<4xi32>\n}\n");

/* A barrier passes it on, beside what is known only at run time. */
static const char barrier_to_integer[] =
    MODULE("%arg0: tensor<4xi32>) -> tensor<4xi32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0:2 = stablehlo.optimization_barrier %arg0, %c : tensor<4xi32>, tensor<4xf32>\n"
           "%1:2 = stablehlo.optimization_barrier %0#1, %0#0 : tensor<4xf32>, tensor<4xi32>\n"
           "%2 = stablehlo.convert %1#0 : (tensor<4xf32>) -> tensor<4xi32>\n"
           "%3 = stablehlo.add %1#1, %2 : tensor<4xi32>\n"
           "return %3 : tensor<4xi32>\n}\n");

static const char result_layout[] =
    MODULE("%arg0: tensor<4xf32>) -> (tensor<4xf32> {mhlo.layout_mode = \"auto\"}) {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%0 = stablehlo.multiply %arg0, %c : tensor<4xf32>\n"
           "return %0 : tensor<4xf32>\n}\n");

/* The number that decides a shape reaches the custom call through another operation. */
static const char shape_of_call[] =
    MODULE("%arg0: tensor<4xf32>) -> tensor<2xf32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<i32>\n"
           "%k = stablehlo.add %c, %c : tensor<i32>\n"
           "%0 = stablehlo.custom_call @stablehlo.dynamic_top_k(%arg0, %k) : "
           "(tensor<4xf32>, tensor<i32>) -> tensor<2xf32>\n"
           "return %0 : tensor<2xf32>\n}\n");

static const char passed_to_integer[] =
    "module @m {\nfunc.func public @main(%arg0: tensor<4xi32>) -> tensor<4xi32> {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
    "%0 = call @f(%arg0, %c) : (tensor<4xi32>, tensor<4xf32>) -> tensor<4xi32>\n"
    "return %0 : tensor<4xi32>\n}\n"
    "func.func private @f(%x: tensor<4xi32>, %y: tensor<4xf32>) -> tensor<4xi32> {\n"
    "%z = stablehlo.multiply %y, %y : tensor<4xf32>\n"
    "%0 = stablehlo.convert %z : (tensor<4xf32>) -> tensor<4xi32>\n"
    "%1 = stablehlo.add %x, %0 : tensor<4xi32>\nreturn %1 : tensor<4xi32>\n}\n}\n";

static const char returned_to_integer[] =
    "module @m {\nfunc.func public @main(%arg0: tensor<4xi32>) -> tensor<4xi32> {\n"
    "%0 = call @f() : () -> tensor<4xf32>\n"
    "%1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>\n"
    "%2 = stablehlo.add %arg0, %1 : tensor<4xi32>\nreturn %2 : tensor<4xi32>\n}\n"
    "func.func private @f() -> tensor<4xf32> {\n"
    "%c = stablehlo.constant dense<@1> : tensor<4xf32>\nreturn %c : tensor<4xf32>\n}\n}\n";

static const char branch_to_integer[] =
    MODULE("%arg0: tensor<4xf32>, %arg1: tensor<i1>) -> tensor<4xi32> {\n"
           "%0 = \"stablehlo.if\"(%arg1) ({\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "stablehlo.return %c : tensor<4xf32>\n}, {\n stablehlo.return %arg0 : tensor<4xf32>\n"
           "}) : (tensor<i1>) -> tensor<4xf32>\n"
           "%1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>\n"
           "return %1 : tensor<4xi32>\n}\n");

static const char loop_to_integer[] =
    MODULE("%arg0: tensor<i32>) -> tensor<4xi32> {\n"
           "%c = stablehlo.constant dense<@1> : tensor<4xf32>\n"
           "%n = stablehlo.constant dense<9> : tensor<i32>\n"
           "%o = stablehlo.constant dense<1> : tensor<i32>\n"
           "%0:2 = stablehlo.while(%i = %arg0, %x = %c) : tensor<i32>, tensor<4xf32>\n"
           "cond {\n"
           "%1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "stablehlo.return %1 : tensor<i1>\n} do {\n"
           "%1 = stablehlo.add %i, %o : tensor<i32>\n"
           "%2 = stablehlo.negate %x : tensor<4xf32>\n"
           "stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>\n}\n"
           "%1 = stablehlo.convert %0#1 : (tensor<4xf32>) -> tensor<4xi32>\n"
           "return %1 : tensor<4xi32>\n}\n");

static const struct {
    const char *name, *text, *from, *to, *reason;
} refused[] = {
    {"the initial value of a reduction", initial, "0.0", "1.0", "the initial one"},
    {"a float that becomes an integer", to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"one that is computed before", folded_to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"one behind barriers", barrier_to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"a layout that the compiler chooses", own_layout, "1.0 auto", "2.0 auto", "a layout of its"},
    {"such a layout of a result", result_layout, "1.0", "2.0", "a layout of its"},
    {"a shape that a custom call reads", shape_of_call, "1", "2", "or reads shapes"},
    {"an 8-bit float", element, "1.0 f8E4M3FN", "2.0 f8E4M3FN", "an 8-bit float"},
    {"a complex number", element, "(1.0,2.0) complex<f32>", "(1.0,3.0) complex<f32>",
     "the value is complex"},
    {"the body of a reduction", reduce_body, "1.0", "2.0", "in the function of a reduce"},
    {"the body of a sort", sort_body, "1.0", "2.0", "in the function of a sort"},
    {"what a function converts", passed_to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"what a function returns", returned_to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"what a branch returns", branch_to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"what a loop carries", loop_to_integer, "1.0", "3.0e10", "converted to an integer"},
    {"a value that decides a shape", shape, "4 6", "6 4", "a shape that a value decides"},
    {"one that must have one value", static_shape, "4 6", "6 4", "a shape that a value decides"},
    {"a size of a slice", shape_of_result, "0 2 2", "0 3 3", ""},
    {"a slice with strides", strides, "0 4", "2 6", "an attribute of stablehlo.slice"},
    {"a pad that cuts off", negative_pad, "-1 1", "-2 2", "an attribute of stablehlo.pad"},
    {"what a custom call reads", custom_call, "1.0", "2.0", "custom_call reads the value"},
    {"a custom call with an effect", effect_of_call, "1.0", "2.0", "a side effect"},
    {"another setting of a custom call", setting_of_call, "1.0 3", "2.0 4", "an attribute of"},
    {"random bits", random_bits, "1", "2", "random state"},
    {"a sum over devices", sum_of_devices, "1.0", "2.0", "a collective"},
    {"a sharded argument", sharded, "1.0", "2.0", "a sharded argument"},
    {"another donation", donor, "1.0 true", "2.0 false", "an attribute of func.func"},
    {"a collective", collective, "1.0", "2.0", "a collective"},
    {"random state", random_state, "0.0", "0.5", "random state"},
    {"a side effect", side_effect, "1.0", "2.0", "a result is not a tensor"},
    {"several devices", partitions, "1.0", "2.0", "several devices"},
    {"a layout for each argument", layouts, "1.0", "2.0", "the attribute mhlo.xla_entry"},
    {"another alias", alias, "1.0 0", "2.0 1", "an attribute of func.func"},
    {"other dataflow", dataflow, "1.0 a", "2.0 b", "an operand of stablehlo.multiply"},
    {"another element type", element, "1.0 f32", "2.0 bf16", ""},
    {"a small element type", element, "1 i4", "2 i4", "smaller than a byte"},
    {"another callee", callee, "1.0 f", "2.0 g", "callee of func.call"},
    {"equal programs", rate, "1.0", "1.0", "no value differs"},
    {"a value inside a composite", composite, "1.0 0.5", "1.0 0.25", "inside a composite"},
};

TEST(a_composite_of_another_function_is_another_program)
{
    struct stet_lift_match match;
    struct pair p;

    EXPECT(read_pair(&p, first_of_two, "1.0 0.5", second_of_two, "2.0 0.5"));
    EXPECT_INT(STET_NOT_FOUND, stet_lift_match(&match, &p.program[0], &p.program[1], NULL));
    release_pair(&p);
}

TEST(what_is_not_only_a_value_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct stet_buf out = STET_BUF_INIT;
        struct stet_err why = STET_ERR_INIT;
        struct pair p;

        if (read_pair(&p, refused[i].text, refused[i].from, refused[i].text, refused[i].to)) {
            int n = lift(&p, &out, &why);

            if (n != -1 || !strstr(why.text, refused[i].reason))
                fprintf(stderr, "%s: %s\n", refused[i].name, why.text);
            EXPECT_INT(-1, n);
            EXPECT(strstr(why.text, refused[i].reason) != NULL);
        }
        stet_buf_release(&out);
        release_pair(&p);
    }
}

TEST(a_recalled_plan_gives_the_plan_again)
{
    struct stet_lift_match match;
    struct stet_lift_plan plan, recalled, again;
    char kinds[STET_LIFT_ARGUMENTS];
    struct pair p;

    EXPECT(read_pair(&p, two, "1.0 2.0", two, "3.0 4.0"));
    EXPECT_INT(STET_OK, stet_lift_match(&match, &p.program[0], &p.program[1], NULL));
    EXPECT_INT(STET_OK, stet_lift_plan_make(&plan, &match, NULL, NULL));
    for (uint32_t i = 0; i < plan.argument_count; i++)
        kinds[i] = (char)plan.arguments[i].kind;
    EXPECT_INT(STET_OK,
               stet_lift_plan_recall(&recalled, stet_view_of(kinds, plan.argument_count),
                                     stet_view_of((char *)plan.argument_of, plan.use_count), NULL));
    for (size_t i = 0; i < match.uses.count; i++)
        match.uses.items[i].differs = i == 0; /* as if one value alone had changed this time */
    EXPECT_INT(STET_OK, stet_lift_plan_make(&again, &match, &recalled, NULL));
    EXPECT_INT(plan.argument_count, again.argument_count);
    EXPECT(!memcmp(plan.argument_of, again.argument_of, plan.use_count));
    stet_lift_plan_release(&again);
    stet_lift_plan_release(&recalled);
    stet_lift_plan_release(&plan);
    stet_lift_match_release(&match);
    release_pair(&p);
}

TEST(bytes_that_cannot_be_a_plan_are_refused)
{
    static const char zeros[STET_LIFT_ARGUMENTS + 1];
    static const struct {
        struct stet_view kinds, uses;
    } bad[] = {
        {{"", 0}, {"\377", 1}},             /* no argument */
        {{"\3", 1}, {"\377", 1}},           /* no such kind */
        {{"\1", 1}, {"\1", 1}},             /* a use of an argument that does not exist */
        {{zeros, sizeof zeros}, {"\0", 1}}, /* too many arguments */
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct stet_lift_plan plan;

        EXPECT_INT(STET_REFUSED, stet_lift_plan_recall(&plan, bad[i].kinds, bad[i].uses, NULL));
    }
}
