/* Quantized types, map, and operations whose sizes are operands. */
#include "backend_help.h"

static bool run_program(const char *program, const void *const *in, void *const *out)
{
    struct text t = {.n = 0};

    put(&t, "%s", program);
    return run_text(&t, in, out, 1);
}

static int64_t clamp(double v, int64_t low, int64_t high)
{
    return v<(double)low ? low : v>(double) high ? high : (int64_t)v;
}

TEST(numbers_become_the_nearest_integer_of_their_axis_and_back)
{
    static const char program[] =
        "func.func @main(%x: tensor<2x64xf32>) -> (tensor<2x64xi8>, tensor<2x64xf32>, "
        "tensor<64x2xi8>) {\n"
        "  %q = \"stablehlo.uniform_quantize\"(%x) : (tensor<2x64xf32>) -> "
        "tensor<2x64x!quant.uniform<i8<-100:100>:f32:0, {0.5:-3, 2.5e-1}>>\n"
        "  %d = \"stablehlo.uniform_dequantize\"(%q) : "
        "(tensor<2x64x!quant.uniform<i8<-100:100>:f32:0, {0.5:-3, 2.5e-1}>>) -> "
        "tensor<2x64xf32>\n"
        "  %t = \"stablehlo.transpose\"(%q) {permutation = array<i64: 1, 0>} : "
        "(tensor<2x64x!quant.uniform<i8<-100:100>:f32:0, {0.5:-3, 2.5e-1}>>) -> "
        "tensor<64x2x!quant.uniform<i8<-100:100>:f32:1, {0.5:-3, 2.5e-1}>>\n"
        "  %i = \"stablehlo.bitcast_convert\"(%q) : "
        "(tensor<2x64x!quant.uniform<i8<-100:100>:f32:0, {0.5:-3, 2.5e-1}>>) -> "
        "tensor<2x64xi8>\n"
        "  %u = \"stablehlo.bitcast_convert\"(%t) : "
        "(tensor<64x2x!quant.uniform<i8<-100:100>:f32:1, {0.5:-3, 2.5e-1}>>) -> "
        "tensor<64x2xi8>\n"
        "  return %i, %d, %u : tensor<2x64xi8>, tensor<2x64xf32>, tensor<64x2xi8>\n}\n";
    static const double scale[] = {0.5, 0.25}, zero[] = {-3, 0};
    float x[128], d[128];
    int8_t q[128], t[128];

    for (int i = 0; i < 128; i++)
        x[i] = (float)(i % 64 - 32) * 1.125F;
    EXPECT(run_program(program, (const void *[]){x}, (void *[]){q, d, t}));
    for (int i = 0; i < 128; i++) {
        int row = i / 64;
        int64_t want = clamp(nearbyint((double)x[i] / scale[row]) + zero[row], -100, 100);

        EXPECT_INT(want, q[i]);
        EXPECT_INT(want, t[i % 64 * 2 + row]);
        EXPECT(d[i] == (float)(((double)want - zero[row]) * scale[row]));
    }
}

TEST(arithmetic_is_that_of_the_numbers)
{
    static const char program[] =
        "func.func @main(%a: tensor<256xi8>, %b: tensor<256xui8>) -> (tensor<256xi8>, "
        "tensor<256xi8>) {\n"
        "  %x = \"stablehlo.bitcast_convert\"(%a) : (tensor<256xi8>) -> "
        "tensor<256x!quant.uniform<i8:f32, 0.1:-30>>\n"
        "  %y = \"stablehlo.bitcast_convert\"(%b) : (tensor<256xui8>) -> "
        "tensor<256x!quant.uniform<u8:f32, 0.25:128>>\n"
        "  %s = stablehlo.add %x, %y : (tensor<256x!quant.uniform<i8:f32, 0.1:-30>>, "
        "tensor<256x!quant.uniform<u8:f32, 0.25:128>>) -> "
        "tensor<256x!quant.uniform<i8:f32, 0.5>>\n"
        "  %m = stablehlo.multiply %x, %x : tensor<256x!quant.uniform<i8:f32, 0.1:-30>>\n"
        "  %i = \"stablehlo.bitcast_convert\"(%s) : "
        "(tensor<256x!quant.uniform<i8:f32, 0.5>>) -> tensor<256xi8>\n"
        "  %j = \"stablehlo.bitcast_convert\"(%m) : "
        "(tensor<256x!quant.uniform<i8:f32, 0.1:-30>>) -> tensor<256xi8>\n"
        "  return %i, %j : tensor<256xi8>, tensor<256xi8>\n}\n";
    int8_t a[256], sum[256], product[256];
    uint8_t b[256];

    for (int i = 0; i < 256; i++)
        a[i] = (int8_t)(i - 128), b[i] = (uint8_t)(i * 37);
    EXPECT(run_program(program, (const void *[]){a, b}, (void *[]){sum, product}));
    for (int i = 0; i < 256; i++) {
        float x = (float)((a[i] + 30) * 0.1), y = (float)((b[i] - 128) * 0.25);

        EXPECT_INT(clamp(nearbyint((double)(float)((double)(x + y) / 0.5)), -128, 127), sum[i]);
        EXPECT_INT(clamp(nearbyint((double)(float)((double)(x * x) / 0.1)) - 30, -128, 127),
                   product[i]);
    }
}

TEST(a_map_is_its_function_on_each_element)
{
    static const char program[] =
        "func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<f32>) -> "
        "tensor<2x3xf32> {\n"
        "  %r = \"stablehlo.map\"(%x, %y) ({\n"
        "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        "      %two = stablehlo.constant dense<2.0> : tensor<f32>\n"
        "      %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      %m = stablehlo.multiply %a, %two : tensor<f32>\n"
        "      %n = stablehlo.add %b, %z : tensor<f32>\n"
        "      %s = stablehlo.select %p, %m, %n : tensor<i1>, tensor<f32>\n"
        "      stablehlo.return %s : tensor<f32>\n"
        "  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
        "tensor<2x3xf32>\n"
        "  return %r : tensor<2x3xf32>\n}\n";
    static const float x[] = {1, 5, -2, 0, 7, 3}, y[] = {2, 4, -3, 0, 8, 1}, z = 10;
    float r[6];

    EXPECT(run_program(program, (const void *[]){x, y, &z}, (void *[]){r}));
    for (int i = 0; i < 6; i++)
        EXPECT(r[i] == (x[i] > y[i] ? 2 * x[i] : y[i] + z));
}

/* Operands that are constants are what attributes are without them. */
TEST(sizes_may_be_constant_operands)
{
    static const char program[] =
        "func.func @main(%x: tensor<3x4xi32>, %i: tensor<2x1xi64>) -> (tensor<2x2x4xi32>, "
        "tensor<5x6xi32>, tensor<3x4xi32>) {\n"
        "  %sizes = stablehlo.constant dense<[2, 4]> : tensor<2xi64>\n"
        "  %g = \"stablehlo.dynamic_gather\"(%x, %i, %sizes) {dimension_numbers = "
        "#stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>} : "
        "(tensor<3x4xi32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x2x4xi32>\n"
        "  %v = stablehlo.constant dense<-1> : tensor<i32>\n"
        "  %low = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
        "  %high = stablehlo.constant dense<[1, 0]> : tensor<2xi32>\n"
        "  %none = stablehlo.constant dense<0> : tensor<2xi32>\n"
        "  %p = stablehlo.dynamic_pad %x, %v, %low, %high, %none : (tensor<3x4xi32>, tensor<i32>, "
        "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x6xi32>\n"
        "  %four = stablehlo.constant dense<4> : tensor<i32>\n"
        "  %d = \"stablehlo.set_dimension_size\"(%x, %four) {dimension = 1 : i64} : "
        "(tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>\n"
        "  return %g, %p, %d : tensor<2x2x4xi32>, tensor<5x6xi32>, tensor<3x4xi32>\n}\n";
    static const int64_t at[] = {0, 9}; /* the second is moved back to 1 */
    int32_t x[12], g[16], p[30], d[12];

    for (int i = 0; i < 12; i++)
        x[i] = i;
    EXPECT(run_program(program, (const void *[]){x, at}, (void *[]){g, p, d}));
    for (int i = 0; i < 16; i++)
        EXPECT_INT(i < 8 ? i : i - 4, g[i]);
    for (int i = 0; i < 30; i++) {
        int row = i / 6 - 1, column = i % 6 - 2;

        EXPECT_INT(row >= 0 && row < 3 && column >= 0 ? row * 4 + column : -1, p[i]);
    }
    EXPECT_INT(0, memcmp(x, d, sizeof x));
}

TEST(a_convolution_may_take_its_padding_as_an_operand)
{
    static const char program[] =
        "func.func @main(%x: tensor<1x4x1xf32>, %w: tensor<3x1x1xf32>) -> tensor<1x4x1xf32> {\n"
        "  %pad = stablehlo.constant dense<[[2, 0]]> : tensor<1x2xi64>\n"
        "  %r = \"stablehlo.dynamic_conv\"(%x, %w, %pad) {dimension_numbers = "
        "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, "
        "feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>, "
        "tensor<1x2xi64>) -> tensor<1x4x1xf32>\n"
        "  return %r : tensor<1x4x1xf32>\n}\n";
    static const float x[] = {1, 2, 3, 4}, w[] = {100, 10, 1};
    static const float want[] = {1, 12, 123, 234};
    float r[4];

    EXPECT(run_program(program, (const void *[]){x, w}, (void *[]){r}));
    EXPECT_INT(0, memcmp(want, r, sizeof r));
}

TEST(what_cannot_be_planned_is_refused_by_name)
{
    static const struct {
        const char *program, *says;
    } cases[] = {
        {"func.func @main(%x: tensor<2xf32>) -> tensor<2xi8> {\n"
         "  %q = \"stablehlo.uniform_quantize\"(%x) : (tensor<2xf32>) -> "
         "tensor<2x!quant.uniform<i8:f32:0, {0.1, 0.2, 0.3}>>\n"
         "  %i = \"stablehlo.bitcast_convert\"(%q) : "
         "(tensor<2x!quant.uniform<i8:f32:0, {0.1, 0.2, 0.3}>>) -> tensor<2xi8>\n"
         "  return %i : tensor<2xi8>\n}\n",
         "the scales of a quantized type do not fit its dimensions"},
        {"func.func @main(%x: tensor<2xf32>) -> tensor<3xi8> {\n"
         "  %q = \"stablehlo.uniform_quantize\"(%x) : (tensor<2xf32>) -> "
         "tensor<3x!quant.uniform<i8:f32, 0.1>>\n"
         "  %i = \"stablehlo.bitcast_convert\"(%q) : (tensor<3x!quant.uniform<i8:f32, 0.1>>) -> "
         "tensor<3xi8>\n  return %i : tensor<3xi8>\n}\n",
         "result 0 is declared f32[3] but is f32[2]"},
        {"func.func @main(%x: tensor<2xf32>) -> tensor<2xi8> {\n"
         "  %q = \"stablehlo.uniform_quantize\"(%x) : (tensor<2xf32>) -> "
         "tensor<2x!quant.uniform<i8:f32, -1.0>>\n"
         "  %i = \"stablehlo.bitcast_convert\"(%q) : (tensor<2x!quant.uniform<i8:f32, -1.0>>) -> "
         "tensor<2xi8>\n  return %i : tensor<2xi8>\n}\n",
         "this form of a quantized type is not supported"},
        {"func.func @main(%x: tensor<4xf32>, %n: tensor<1xi64>) -> tensor<6xf32> {\n"
         "  %v = stablehlo.constant dense<0.0> : tensor<f32>\n"
         "  %p = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<4xf32>, tensor<f32>, "
         "tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xf32>\n"
         "  return %p : tensor<6xf32>\n}\n",
         "operand 2 is not a constant list of integers"},
        {"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
         "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
         "  %d = \"stablehlo.set_dimension_size\"(%x, %n) {dimension = 0 : i64} : "
         "(tensor<4xf32>, tensor<i32>) -> tensor<4xf32>\n"
         "  return %d : tensor<4xf32>\n}\n",
         "the size of a dimension changes"},
        {"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
         "  %r = \"stablehlo.map\"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
         "    stablehlo.return %a : tensor<f32> }) {dimensions = array<i64: 0>} : "
         "(tensor<4xf32>) -> tensor<4xf32>\n"
         "  return %r : tensor<4xf32>\n}\n",
         "the function does not fit the operands"},
    };
    float x[8] = {0};
    int64_t n = 1;
    char out[64];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EXPECT(!run_program(cases[i].program, (const void *[]){x, &n}, (void *[]){out}));
        EXPECT(strstr(last.text, cases[i].says));
    }
}
