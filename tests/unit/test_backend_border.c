/* The border of a program: what is known of its arguments and results without reading an
 * operation. */
#include "backend/sharding.h"
#include "backend_help.h"

static const struct stet_plan_devices one = {1, 1};

static struct stet_plan *border(const char *text, struct stet_program *p,
                                const struct stet_plan_devices *on)
{
    struct stet_plan *plan = NULL;

    last = (struct stet_err)STET_ERR_INIT;
    if (stet_decode(p, stet_view_str(text), &last) != STET_OK)
        return NULL;
    if (stet_plan_new_border(&plan, p, on, &last) != STET_OK)
        stet_program_release(p);
    return plan;
}

static void release(struct stet_plan *plan, struct stet_program *p)
{
    stet_plan_free(plan);
    stet_program_release(p);
}

TEST(an_operation_that_cannot_be_run_has_a_border)
{
    static const char text[] =
        "module @m {\n"
        "  func.func public @main(%a: tensor<4x8xf32> {tf.aliasing_output = 0 : i32},\n"
        "                         %b: tensor<3xbf16>) -> (tensor<4x8xf32>, tensor<i32>) {\n"
        "    %r:2 = stablehlo.custom_call @nobody_knows(%a, %b)\n"
        "      : (tensor<4x8xf32>, tensor<3xbf16>) -> (tensor<4x8xf32>, tensor<i32>)\n"
        "    return %r#0, %r#1 : tensor<4x8xf32>, tensor<i32>\n"
        "  }\n"
        "}\n";
    const struct stet_plan_info *info;
    struct stet_program p;
    struct stet_plan *plan;

    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_str(text), &last));
    EXPECT(stet_plan_new_on(&plan, &p, &one, &last) != STET_OK); /* it cannot be run */
    stet_program_release(&p);
    plan = border(text, &p, &one);
    EXPECT(plan != NULL);
    info = stet_plan_info(plan);
    EXPECT_INT(2, info->input_count);
    EXPECT_INT(2, info->output_count);
    EXPECT_INT(128, info->inputs[0].bytes);
    EXPECT_INT(6, info->inputs[1].bytes);
    EXPECT_INT(4, info->outputs[1].bytes);
    EXPECT_INT(0, info->output_alias[0]);
    EXPECT_INT(-1, info->output_alias[1]);
    EXPECT(info->donatable[0] && !info->donatable[1]);
    EXPECT_INT(0, info->scratch_bytes);
    release(plan, &p);
}

TEST(each_device_has_its_tile_and_its_donation)
{
    static const char text[] =
        "module @m {\n"
        "  sdy.mesh @mesh = <[\"x\"=4]>\n"
        "  func.func public @main(%a: tensor<8x16xf32> {jax.buffer_donor = true,\n"
        "      sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}, %b: tensor<8xf32>)\n"
        "      -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},\n"
        "          tensor<8x16xf32>) {\n"
        "    %0 = stablehlo.negate %a : tensor<8x16xf32>\n"
        "    %1 = stablehlo.custom_call @nobody_knows(%a, %b)\n"
        "      : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>\n"
        "    return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>\n"
        "  }\n"
        "}\n";
    static const struct stet_plan_devices four = {1, 4};
    const struct stet_plan_info *info;
    struct stet_program p;
    struct stet_plan *plan = border(text, &p, &four);

    EXPECT(plan != NULL);
    info = stet_plan_info(plan);
    EXPECT_INT(8, info->input_count);
    EXPECT_INT(8, info->output_count);
    EXPECT_INT(4, stet_sharding_tiles(&info->input_shardings[0]));
    EXPECT_INT(1, stet_sharding_tiles(&info->input_shardings[1]));
    /* a result without a sharding has that of what it is computed from */
    EXPECT_INT(4, stet_sharding_tiles(&info->output_shardings[1]));
    for (uint32_t lane = 0; lane < 4; lane++) {
        EXPECT_INT(128, info->inputs[2 * lane].bytes);
        EXPECT_INT(32, info->inputs[2 * lane + 1].bytes);
        EXPECT_INT(128, info->outputs[2 * lane].bytes);
        EXPECT_INT((int)(2 * lane), info->output_alias[2 * lane]);
        EXPECT(info->donatable[2 * lane] && !info->donatable[2 * lane + 1]);
    }
    release(plan, &p);
}

TEST(tuples_of_hlo_are_flattened)
{
    static const char text[] = "HloModule m\n\n"
                               "ENTRY main {\n"
                               "  a = f32[2,3] parameter(0)\n"
                               "  b = s32[] parameter(1)\n"
                               "  c = f32[2,3] custom-call(a), custom_call_target=\"mystery\"\n"
                               "  ROOT t = (f32[2,3], s32[]) tuple(c, b)\n"
                               "}\n";
    struct stet_program p;
    struct stet_plan *plan = border(text, &p, &one);

    EXPECT(plan != NULL);
    EXPECT_INT(2, stet_plan_info(plan)->input_count);
    EXPECT_INT(2, stet_plan_info(plan)->output_count);
    EXPECT_INT(24, stet_plan_info(plan)->outputs[0].bytes);
    EXPECT_INT(4, stet_plan_info(plan)->outputs[1].bytes);
    release(plan, &p);
}

TEST(what_has_no_border_is_refused_by_name)
{
    static const char uneven[] =
        "module @m {\n"
        "  sdy.mesh @mesh = <[\"x\"=4]>\n"
        "  func.func public @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, "
        "[{\"x\"}]>})\n"
        "      -> tensor<6xf32> {\n"
        "    return %a : tensor<6xf32>\n"
        "  }\n"
        "}\n";
    static const char dynamic[] = "module @m {\n"
                                  "  func.func public @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
                                  "    return %a : tensor<?xf32>\n"
                                  "  }\n"
                                  "}\n";
    static const struct stet_plan_devices four = {1, 4};
    struct stet_program p;

    EXPECT(border(uneven, &p, &four) == NULL);
    EXPECT(strstr(last.text, "6") != NULL);
    EXPECT(border(dynamic, &p, &one) == NULL);
    EXPECT(strstr(last.text, "dynamic") != NULL);
}
