/* What would save memory, counted by hand on small programs as JAX writes them. */
#include "test.h"

#include "decode/decode.h"
#include "footprint/remedy.h"

static struct stet_program p;
static struct stet_remedy advice[STET_REMEDIES];

static size_t advise(const char *text, uint32_t devices, uint64_t temporaries)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_str(text), &err));
    return stet_remedy_make(&p, devices, temporaries, advice);
}

static const struct stet_remedy *of(enum stet_remedy_kind kind, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (advice[i].kind == kind)
            return &advice[i];
    }
    return NULL;
}

#define FORWARD  "loc(\"jit(step)/jvp()/tanh\"(\"/home/user/m.py\":7:4))"
#define BACKWARD "loc(\"jit(step)/transpose(jvp())/mul\"(\"/home/user/m.py\":9:4))"

static const char step[] =
    "module @jit_step {\n"
    "  func.func public @main(%w: tensor<64x64xf32> loc(\"w\"), %m: tensor<64x64xf32> "
    "{jax.buffer_donor = true} loc(\"m\"), %x: tensor<128x64xf32> loc(\"x\"))\n"
    "      -> (tensor<64x64xf32>, tensor<64x64xf32>) {\n"
    "    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<128x64xf32>, "
    "tensor<64x64xf32>) -> tensor<128x64xf32> " FORWARD "\n"
    "    %1 = stablehlo.tanh %0 : tensor<128x64xf32> " FORWARD "\n"
    "    %2 = stablehlo.multiply %1, %1 : tensor<128x64xf32> " BACKWARD "\n"
    "    %3 = stablehlo.dot_general %x, %2, contracting_dims = [0] x [0] : (tensor<128x64xf32>, "
    "tensor<128x64xf32>) -> tensor<64x64xf32> " BACKWARD "\n"
    "    %4 = stablehlo.subtract %w, %3 : tensor<64x64xf32>\n"
    "    %5 = stablehlo.add %m, %3 : tensor<64x64xf32>\n"
    "    return %4, %5 : tensor<64x64xf32>, tensor<64x64xf32>\n"
    "  }\n"
    "}\n";

TEST(no_more_can_be_saved_than_the_temporaries_take)
{
    size_t n = advise(step, 1, 20000);

    EXPECT_INT(20000, of(STET_REMEDY_REMATERIALISE, n)->saves);
    stet_program_release(&p);
}

TEST(each_remedy_has_its_saving)
{
    size_t n = advise(step, 1, 1000000);
    const struct stet_remedy *a;

    EXPECT_INT(3, n);
    EXPECT_INT(STET_REMEDY_BATCH, advice[0].kind); /* the largest first */
    EXPECT_INT(500000, advice[0].saves);
    EXPECT(stet_view_is(advice[0].name, "x")); /* what no result replaces */
    a = of(STET_REMEDY_REMATERIALISE, n);
    EXPECT(a != NULL);
    EXPECT_INT(128 * 64 * 4, a->saves); /* only the tanh reaches the backward pass */
    EXPECT_INT(7, a->line);
    a = of(STET_REMEDY_DONATE, n);
    EXPECT(a != NULL);
    EXPECT_INT(64 * 64 * 4, a->saves); /* one of the two results has its donor */
    EXPECT_INT(1, a->count);
    EXPECT(stet_view_is(a->name, "w"));
    EXPECT(of(STET_REMEDY_SHARD, n) == NULL);
    stet_program_release(&p);
}

TEST(arrays_that_every_device_has_whole_can_be_cut)
{
    static const char text[] =
        "module @jit_f {\n"
        "  sdy.mesh @mesh = <[\"x\"=4]>\n"
        "  func.func public @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, "
        "[{\"x\"}, {}]>}, %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},\n"
        "      %c: tensor<64x64xf32> {mhlo.sharding = \"{devices=[4,1]<=[4]}\"}, %d: tensor<f32>)\n"
        "      -> tensor<f32> {\n"
        "    return %d : tensor<f32>\n"
        "  }\n"
        "}\n";
    size_t n = advise(text, 4, 0);
    const struct stet_remedy *a = of(STET_REMEDY_SHARD, n);

    EXPECT(a != NULL);
    EXPECT_INT(1, a->count); /* b: a and c are cut, and a number is not worth it */
    EXPECT_INT(64 * 64 * 4 * 3 / 4, a->saves);
    stet_program_release(&p);
    EXPECT(of(STET_REMEDY_SHARD, advise(text, 1, 0)) == NULL);
    stet_program_release(&p);
}

TEST(a_step_that_is_as_it_should_be_needs_no_advice_but_a_smaller_batch)
{
    static const char text[] =
        "module @jit_f {\n"
        "  func.func public @main(%w: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %x: "
        "tensor<16x8xf32>) -> tensor<8xf32> {\n"
        "    return %w : tensor<8xf32>\n"
        "  }\n"
        "}\n";

    EXPECT_INT(1, advise(text, 1, 4096));
    EXPECT_INT(STET_REMEDY_BATCH, advice[0].kind);
    stet_program_release(&p);
    EXPECT_INT(0, advise(text, 1, 0));
    stet_program_release(&p);
}

TEST(lines_with_large_values_are_listed)
{
    struct stet_remedy_line lines[4];
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_str(step), &err));
    EXPECT_INT(2, stet_remedy_lines(&p, lines, 4));
    EXPECT_INT(7, lines[0].line); /* two of 32 KB; line 9 has one of 32 KB and one of 16 */
    EXPECT_INT(2 * 128 * 64 * 4, lines[0].bytes);
    EXPECT_INT(9, lines[1].line);
    EXPECT(stet_view_is(lines[1].operation, "multiply"));
    EXPECT_INT(1, stet_remedy_lines(&p, lines, 1));
    stet_program_release(&p);
}
