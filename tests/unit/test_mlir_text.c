/* The MLIR text reader: short and generic forms give one program, everything else a place. */
#include "mlir_help.h"

/* ---- forms ---- */

TEST(short_forms_mean_their_generic_forms)
{
    EXPECT(
        same("%0 = stablehlo.add %a, %a : tensor<4xf32>",
             "%0 = \"stablehlo.add\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"));
    EXPECT(same("%0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>",
                "%0 = \"stablehlo.convert\"(%a) : (tensor<4xf32>) -> tensor<4xbf16>"));
    EXPECT(same("%0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> "
                "tensor<4xi1>",
                "%0 = \"stablehlo.compare\"(%a, %a) <{compare_type = #stablehlo<comparison_type "
                "FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : "
                "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"));
    EXPECT(same("%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>",
                "%0 = \"stablehlo.iota\"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>"));
    EXPECT(same("%0 = stablehlo.slice %b [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
                "%0 = \"stablehlo.slice\"(%b) <{limit_indices = array<i64: 2, 3>, start_indices = "
                "array<i64: 0, 0>, strides = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> "
                "tensor<2x2xf32>"));
    EXPECT(same("%0 = stablehlo.pad %b, %c, low = [0, 1], high = [2, 3], interior = [0, 0] : "
                "(tensor<2x3xf32>, tensor<f32>) -> tensor<4x7xf32>\n"
                "%c = stablehlo.constant dense<0.0> : tensor<f32>",
                "%0 = \"stablehlo.pad\"(%b, %c) <{edge_padding_high = array<i64: 2, 3>, "
                "edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>}> : "
                "(tensor<2x3xf32>, tensor<f32>) -> tensor<4x7xf32>\n"
                "%c = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<f32>}> : () -> "
                "tensor<f32>"));
    EXPECT(same("%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>",
                "%0 = \"stablehlo.reduce_precision\"(%a) <{exponent_bits = 5 : i32, mantissa_bits "
                "= 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>"));
    EXPECT(same("%0 = stablehlo.select %p, %i, %i : tensor<i1>, tensor<i32>",
                "%0 = \"stablehlo.select\"(%p, %i, %i) : (tensor<i1>, tensor<i32>, tensor<i32>) -> "
                "tensor<i32>"));
    EXPECT(same("%0 = stablehlo.complex %a, %a : tensor<4xcomplex<f32>>",
                "%0 = \"stablehlo.complex\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> "
                "tensor<4xcomplex<f32>>"));
    EXPECT(same("%0 = stablehlo.tuple %a, %p : tuple<tensor<4xf32>, tensor<i1>>\n"
                "%1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<i1>>) -> "
                "tensor<i1>",
                "%0 = \"stablehlo.tuple\"(%a, %p) : (tensor<4xf32>, tensor<i1>) -> "
                "tuple<tensor<4xf32>, tensor<i1>>\n"
                "%1 = \"stablehlo.get_tuple_element\"(%0) <{index = 1 : i32}> : "
                "(tuple<tensor<4xf32>, tensor<i1>>) -> tensor<i1>"));
    EXPECT(
        same("%0:2 = stablehlo.optimization_barrier %a, %p : tensor<4xf32>, tensor<i1>",
             "%0:2 = \"stablehlo.optimization_barrier\"(%a, %p) : (tensor<4xf32>, tensor<i1>) -> "
             "(tensor<4xf32>, tensor<i1>)"));
    EXPECT(same("%0, %1 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)",
                "%0:2 = \"chlo.top_k\"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, "
                "tensor<2xi32>)"));
    EXPECT(same("%0 = stablehlo.composite \"my.op\" %a {composite_attributes = {n = 1 : i32}, "
                "decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>",
                "%0 = \"stablehlo.composite\"(%a) <{composite_attributes = {n = 1 : i32}, "
                "decomposition = @f, name = \"my.op\"}> : (tensor<4xf32>) -> tensor<4xf32>"));
    EXPECT(same("%0 = arith.constant 1 : i32\n%1 = arith.constant true\n"
                "%2 = arith.constant {x.y} dense<2> : vector<[4]xi8>\n"
                "%3 = arith.addi %0, %0 : i32\n%4 = arith.muli %0, %3 overflow<nsw, nuw> : i32",
                "%0 = \"arith.constant\"() <{value = 1 : i32}> : () -> i32\n"
                "%1 = \"arith.constant\"() <{value = true}> : () -> i1\n"
                "%2 = \"arith.constant\"() <{value = dense<2> : vector<[4]xi8>}> {x.y} : () -> "
                "vector<[4]xi8>\n"
                "%3 = \"arith.addi\"(%0, %0) <{overflowFlags = #arith.overflow<none>}> : (i32, "
                "i32) -> i32\n"
                "%4 = \"arith.muli\"(%0, %3) <{overflowFlags = #arith.overflow<nsw, nuw>}> : (i32, "
                "i32) -> i32"));
}

TEST(dot_and_convolution_have_their_own_notation)
{
    EXPECT(
        same("%0 = stablehlo.dot_general %b, %b, batching_dims = [0] x [0], contracting_dims = "
             "[1] x [1], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
             "tensor<2xf32>",
             "%0 = \"stablehlo.dot_general\"(%b, %b) <{dot_dimension_numbers = "
             "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
             "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, "
             "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : "
             "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>"));
    EXPECT(same(
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[f, b, 1, 0], "
        "window = {stride = [2, 1], pad = [[0, 1], [2, 3]], rhs_dilate = [1, 2], reverse = [false, "
        "true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
        "(tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<4x1x8x4xf32>\n"
        "%x = \"t.x\"() : () -> tensor<1x8x8x3xf32>\n%k = \"t.k\"() : () -> tensor<3x3x3x4xf32>",
        "%0 = \"stablehlo.convolution\"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = "
        "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, "
        "input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, "
        "kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], "
        "output_batch_dimension = 1, output_feature_dimension = 0, output_spatial_dimensions = [3, "
        "2]>, feature_group_count = 1 : i64, padding = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, "
        "rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, true>, window_strides "
        "= array<i64: 2, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<4x1x8x4xf32>\n"
        "%x = \"t.x\"() : () -> tensor<1x8x8x3xf32>\n%k = \"t.k\"() : () -> tensor<3x3x3x4xf32>"));
}

TEST(reduce_has_a_short_and_a_long_form)
{
    const char *generic =
        "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%0 = \"stablehlo.reduce\"(%b, %c) <{dimensions = array<i64: 1>}> ({\n"
        "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
        "  %1 = \"stablehlo.add\"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
        "  \"stablehlo.return\"(%1) : (tensor<f32>) -> ()\n"
        "}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>";

    EXPECT(
        same("%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
             "%0 = stablehlo.reduce(%b init: %c) applies stablehlo.add across dimensions = [1] : "
             "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
             generic));
    EXPECT(same("%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                "%0 = stablehlo.reduce(%b init: %c) across dimensions = [1] : (tensor<2x3xf32>, "
                "tensor<f32>) -> tensor<2xf32>\n reducer(%x: tensor<f32>, %y: tensor<f32>)  {\n"
                "%1 = stablehlo.add %x, %y : tensor<f32>\n stablehlo.return %1 : tensor<f32>\n}",
                generic));
}

TEST(while_shares_its_arguments_between_regions)
{
    EXPECT(
        same("%0:2 = stablehlo.while(%s = %i, %t = %a) : tensor<i32>, tensor<4xf32> cond {\n"
             "%c = \"t.c\"(%s) : (tensor<i32>) -> tensor<i1>\n stablehlo.return %c : tensor<i1>\n"
             "} do {\n stablehlo.return %s, %t : tensor<i32>, tensor<4xf32>\n}\n"
             "%1 = stablehlo.abs %0#1 : tensor<4xf32>",
             "%0:2 = \"stablehlo.while\"(%i, %a) ({\n^bb0(%s: tensor<i32>, %t: tensor<4xf32>):\n"
             "%c = \"t.c\"(%s) : (tensor<i32>) -> tensor<i1>\n"
             "\"stablehlo.return\"(%c) : (tensor<i1>) -> ()\n}, {\n"
             "^bb0(%s: tensor<i32>, %t: tensor<4xf32>):\n"
             "\"stablehlo.return\"(%s, %t) : (tensor<i32>, tensor<4xf32>) -> ()\n"
             "}) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)\n"
             "%1 = stablehlo.abs %0#1 : tensor<4xf32>"));
}

TEST(shardy_reads_in_both_forms)
{
    EXPECT(
        same("%0 = sdy.sharding_constraint %b <@mesh, [{\"x\":(1)2}, {?}p3], replicated={\"y\"}> "
             ": tensor<2x3xf32>",
             "%0 = \"sdy.sharding_constraint\"(%b) <{sharding = #sdy.sharding<@mesh, "
             "[{\"x\":(1)2}, {?}p3], replicated={\"y\"}>}> : (tensor<2x3xf32>) -> "
             "tensor<2x3xf32>"));
    EXPECT(same("%0 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{\"x\"}, {}]>] "
                "out_shardings=[<@mesh, [{}, {}]>] manual_axes={\"x\", \"y\"} (%i: "
                "tensor<1x3xf32>) {\n sdy.return %i : tensor<1x3xf32>\n} : (tensor<2x3xf32>) -> "
                "tensor<1x3xf32>",
                "%0 = \"sdy.manual_computation\"(%b) <{in_shardings = "
                "#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>]>, manual_axes = "
                "#sdy<manual_axes{\"x\", \"y\"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, "
                "[{}, {}]>]>}> ({\n^bb0(%x: tensor<1x3xf32>):\n \"sdy.return\"(%x) : "
                "(tensor<1x3xf32>) -> ()\n}) : (tensor<2x3xf32>) -> tensor<1x3xf32>"));
    EXPECT(!same("%0 = sdy.sharding_constraint %b <@mesh, [{\"x\"}, {}]> : tensor<2x3xf32>",
                 "%0 = sdy.sharding_constraint %b <@mesh, [{\"x\"}, {?}]> : tensor<2x3xf32>"));
}

TEST(defaults_left_out_and_written_out_are_the_same)
{
    EXPECT(
        same("%0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>",
             "%0 = \"stablehlo.custom_call\"(%a) <{api_version = 1 : i32, backend_config = \"\", "
             "call_target_name = \"f\", called_computations = [], has_side_effect = false}> : "
             "(tensor<4xf32>) -> tensor<4xf32>"));
    EXPECT(same("%0 = stablehlo.exponential %a : tensor<4xf32>",
                "%0 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode "
                "= #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4xf32>"));
    EXPECT(!same("%0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>",
                 "%0 = stablehlo.custom_call @f(%a) {api_version = 2 : i32} : (tensor<4xf32>) -> "
                 "tensor<4xf32>"));
}

TEST(functions_know_arguments_and_results)
{
    const struct stet_program *p = read_text(
        "module @m attributes {mhlo.num_partitions = 2 : i32} {\n"
        "  func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 1 : i32} "
        "loc(\"params['w']\"), %y: tensor<?xf32, #stablehlo.bounds<9>> {jax.buffer_donor = true, "
        "mhlo.sharding = \"{replicated}\"}) -> (tensor<4xf32>, tensor<4xf32> {jax.result_info = "
        "\"r\"}) {\n"
        "    %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "    return %0, %x : tensor<4xf32>, tensor<4xf32>\n  }\n"
        "  func.func private @f(tensor<4xf32> {a}) -> tensor<4xf32>\n}");

    if (!p)
        return;
    EXPECT_INT(2, p->function_count);
    EXPECT_INT(2, p->argument_count);
    EXPECT_INT(1, p->arguments[0].alias);
    EXPECT(stet_view_is(p->arguments[0].name, "params['w']"));
    EXPECT(p->arguments[1].donor);
    EXPECT(p->arguments[1].sharding != NULL);
    EXPECT_INT(9, stet_type_rest(p->arguments[1].value->type)->bounds[0]);
    EXPECT_INT(2, p->output_count);
    EXPECT(stet_view_is(p->outputs[1].name, "r"));
    EXPECT(stet_view_is(stet_op_name(op_at(p, 0)), "func.call"));
    EXPECT(stet_view_is(stet_op_name(op_at(p, 1)), "func.return"));
    EXPECT_INT(0, stet_op_region(p->functions[1], 0)->block_count);
}

TEST(blocks_branch_forward_and_back)
{
    const struct stet_program *p =
        read_text("func.func @main(%a: i32) {\n  \"t.br\"()[^two] : () -> ()\n"
                  "^one(%x: i32):\n  \"t.use\"(%x, %y)[^two, ^one] : (i32, i32) -> ()\n"
                  "^two:\n  %y = \"t.def\"() : () -> i32\n  \"t.br\"(%y)[^one] : (i32) -> ()\n}");

    if (!p)
        return;
    const struct stet_region *body = stet_op_region(p->entry, 0);

    EXPECT_INT(3, body->block_count);
    EXPECT(stet_op_successors(body->blocks[0]->ops[0])[0] == body->blocks[2]);
    EXPECT(stet_op_successors(body->blocks[1]->ops[0])[1] == body->blocks[1]);
    EXPECT(stet_op_operand(body->blocks[1]->ops[0], 1) == &body->blocks[2]->ops[0]->results[0]);
    EXPECT(stet_view_is(stet_op_name(p->module), "builtin.module"));
}

TEST(isolated_regions_use_names_again)
{
    const struct stet_program *p =
        read_text("module { func.func @main(%a: i32) { return }\n func.func @f(%a: i32) { return } "
                  "module @inner { func.func @main(%a: i32) { return } } }");

    EXPECT(p != NULL);
    EXPECT(refused("func.func @main(%a: i32) { %a = \"t.x\"() : () -> i32 return }",
                   "line 1 column 28: '%a' is defined twice"));
}

/* ---- attributes and types ---- */

TEST(numbers_become_the_bits_mlir_would_have)
{
    struct stet_arena arena;
    uint32_t word;
    uint16_t half;

    stet_arena_init(&arena, 1 << 20);
    const struct stet_attr *a =
        attr(&arena, "dense<[1.5, -0.0, 0x7FC00000, 3.4e38]> : tensor<4xf32>");

    memcpy(&word, stet_attr_bytes(a).ptr + 8, 4);
    EXPECT_INT(0x7FC00000, word);
    memcpy(&word, stet_attr_bytes(a).ptr + 4, 4);
    EXPECT_INT(0x80000000, word);
    a = attr(&arena, "3.337860e-01 : bf16");
    memcpy(&half, stet_attr_bytes(a).ptr, 2);
    EXPECT_INT(0x3eab, half);
    a = attr(&arena, "6.550400e+04 : f16");
    memcpy(&half, stet_attr_bytes(a).ptr, 2);
    EXPECT_INT(0x7bff, half);
    a = attr(&arena, "5.960460e-08 : f16");
    memcpy(&half, stet_attr_bytes(a).ptr, 2);
    EXPECT_INT(0x0001, half);
    a = attr(&arena, "dense<[4.480000e+02, 1.953130e-03, -1.0]> : tensor<3xf8E4M3FN>");
    EXPECT(memcmp(stet_attr_bytes(a).ptr, "\x7e\x01\xb8", 3) == 0);
    a = attr(&arena, "dense<[1.0, 5.877470e-39, 2.0]> : tensor<3xf8E8M0FNU>");
    EXPECT(memcmp(stet_attr_bytes(a).ptr, "\x7f\x00\x80", 3) == 0);
    a = attr(&arena, "dense<[-8, 7]> : tensor<2xi4>");
    EXPECT(memcmp(stet_attr_bytes(a).ptr, "\x08\x07", 2) == 0);
    a = attr(&arena, "18446744073709551615 : ui64");
    EXPECT_INT(-1, stet_attr_int(a));
    a = attr(&arena, "-9223372036854775808 : i64");
    EXPECT(stet_attr_int(a) == INT64_MIN);
    stet_arena_release(&arena);
}

TEST(all_ways_to_write_elements_agree)
{
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    EXPECT(stet_attr_eq(attr(&arena, "dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>"),
                        attr(&arena, "dense<\"0x0100020003000400\"> : tensor<2x2xi16>")));
    EXPECT(stet_attr_eq(attr(&arena, "dense<7> : tensor<3xi8>"),
                        attr(&arena, "dense<[7, 7, 7]> : tensor<3xi8>")));
    EXPECT(stet_attr_eq(attr(&arena, "dense<[true, false, true]> : tensor<3xi1>"),
                        attr(&arena, "dense<\"0x010001\"> : tensor<3xi1>")));
    EXPECT(stet_attr_eq(attr(&arena, "dense<(1.0,2.0)> : tensor<2xcomplex<f32>>"),
                        attr(&arena, "dense<\"0x0000803F00000040\"> : tensor<2xcomplex<f32>>")));
    EXPECT_INT(0, stet_attr_bytes(attr(&arena, "dense<> : tensor<0x3xf32>")).len);
    EXPECT_INT(16, stet_attr_bytes(attr(&arena, "array<i64: 1, -2>")).len);
    EXPECT_INT(2, stet_attr_bytes(attr(&arena, "array<i1: true, false>")).len);
    EXPECT_INT(2, attr(&arena, "sparse<[[0, 1], [2, 3]], [5, 6]> : tensor<4x4xi32>")->count);
    EXPECT_INT(2, attr(&arena, "dense<[\"a\", \"b\"]> : tensor<2x!tf.string>")->count);
    stet_arena_release(&arena);
}

TEST(attributes_of_all_kinds_are_read)
{
    struct stet_arena arena;
    const struct stet_attr *a;

    stet_arena_init(&arena, 1 << 20);
    EXPECT_INT(STET_ATTR_UNIT, attr(&arena, "unit")->kind);
    EXPECT_INT(STET_ATTR_BOOL, attr(&arena, "1 : i1")->kind);
    EXPECT(stet_view_is(stet_attr_text(attr(&arena, "\"a\\22\\\\\\n\\09z\"")), "a\"\\\n\tz"));
    a = attr(&arena, "@outer::@\"in ner\"::@x");
    EXPECT_INT(2, a->count);
    EXPECT(stet_view_is(stet_attr_text(a->items[0]), "in ner"));
    a = attr(&arena, "{a, \"b c\" = [1 : i32, 2.5], d = {}, t = (i32, tensor<2xf32>) -> ()}");
    EXPECT_INT(4, a->count);
    EXPECT_INT(STET_ATTR_TYPE, a->named[3].value->kind);
    EXPECT_INT(STET_ATTR_AFFINE_MAP, attr(&arena, "affine_map<(d0) -> (d0, 0)>")->kind);
    EXPECT_INT(STET_ATTR_LOCATION, attr(&arena, "loc(fused<\"m\">[\"a\":1:2, unknown])")->kind);
    a = attr(&arena, "#other.thing<[x -> y], \">\">");
    EXPECT_INT(STET_ATTR_OPAQUE, a->kind);
    EXPECT(stet_view_is(stet_attr_text(a), ".thing<[x -> y], \">\">"));
    a = attr(&arena, "#sdy.op_sharding_rule<([i, jk])->([kj, i]) {i=4, j=2, k=3} reduction={i, k}, "
                     "custom>");
    EXPECT_INT(3, stet_attr_field(a, "factor_sizes")->count);
    EXPECT_INT(2, stet_attr_field(a, "reduction_factors")->ints[1]);
    EXPECT(stet_attr_int(stet_attr_field(a, "is_custom_rule")));
    a = attr(&arena, "#sdy.mesh<[\"x\"=2, \"y\"=4], device_ids=[1, 0]>");
    EXPECT_INT(2, stet_attr_field(a, "device_ids")->count);
    a = attr(&arena, "#stablehlo.result_accuracy<atol = 1.000000e-03, ulps = 2, mode = "
                     "#stablehlo.result_accuracy_mode<TOLERANCE>>");
    EXPECT_INT(2, stet_attr_int(stet_attr_field(a, "ulps")));
    a = attr(&arena, "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = "
                     "[<name = \"foo\", size = 2>]>, axes = [#stablehlo.axis_ref<name = \"foo\", "
                     "sub_axis_info = (1)2>]>");
    EXPECT_INT(STET_ATTR_RECORD, a->kind);
    stet_arena_release(&arena);
}

TEST(attributes_print_as_mlir_prints_them)
{
    static const char *const texts[] = {
        "sparse<[[0, 0], [1, 2]], [1.000000e+00, 5.000000e+00]> : tensor<3x4xf32>",
        "sparse<0, 5.000000e+00> : tensor<3x4xf32>",
        "sparse<> : tensor<3xi32>",
        "affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d0 == 0)>",
        "dense<1.000000e+00> : tensor<0xf32>",
        "dense<> : tensor<0xf32>",
        "dense<\"x\"> : tensor<3x!t.string>",
        "memref<4xf32, affine_map<(d0) -> (d0 + 1)>>",
        "memref<4x?xf32, strided<[?, 1], offset: 2>, 3>",
    };
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct stet_buf out = STET_BUF_INIT;

        stet_print_attr(&out, attr(&arena, texts[i]));
        EXPECT_STR(texts[i], out.ptr);
        stet_buf_release(&out);
    }
    stet_arena_release(&arena);
}

TEST(types_of_all_kinds_are_read)
{
    static const struct {
        const char *text;
        enum stet_type_kind kind;
    } cases[] = {
        {"i32", STET_TYPE_INTEGER},
        {"ui4", STET_TYPE_INTEGER},
        {"f8E4M3B11FNUZ", STET_TYPE_FLOAT},
        {"index", STET_TYPE_INDEX},
        {"none", STET_TYPE_NONE},
        {"complex<f64>", STET_TYPE_COMPLEX},
        {"tensor<*xf32>", STET_TYPE_UNRANKED},
        {"tensor<0x4xf32>", STET_TYPE_TENSOR},
        {"tensor<2x?x!stablehlo.token>", STET_TYPE_TENSOR},
        {"vector<4x2xi1>", STET_TYPE_VECTOR},
        {"vector<2x[4]x[1]xf32>", STET_TYPE_VECTOR},
        {"memref<4xf32, strided<[1], offset: ?>, 1>", STET_TYPE_MEMREF},
        {"memref<*xf32>", STET_TYPE_UNRANKED_MEMREF},
        {"memref<*xvector<[4]xi8>, \"x\">", STET_TYPE_UNRANKED_MEMREF},
        {"tuple<>", STET_TYPE_TUPLE},
        {"() -> (i32, () -> ())", STET_TYPE_FUNCTION},
        {"!stablehlo.token", STET_TYPE_TOKEN},
        {"!stablehlo.future<tensor<2xf32>, i32>", STET_TYPE_FUTURE},
        {"!quant.uniform<i8:f32, 2.0e-2:1>", STET_TYPE_QUANTIZED},
        {"!vhlo.tensor_v1<3x!vhlo.f32_v1>", STET_TYPE_OPAQUE},
        {"!d<x>", STET_TYPE_OPAQUE},
    };
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct stet_type *t = NULL;
        struct stet_buf out = STET_BUF_INIT;

        err = (struct stet_err)STET_ERR_INIT;
        stet_mlir_parse_type(&arena, stet_view_str(cases[i].text), &t, &err);
        EXPECT_STR("", err.text);
        EXPECT_INT(cases[i].kind, t ? (int)t->kind : -1);
        if (t)
            stet_print_type(&out, t);
        EXPECT_STR(cases[i].text, out.ptr);
        stet_buf_release(&out);
    }
    stet_arena_release(&arena);
}

TEST(types_that_differ_are_different)
{
    static const char *const texts[] = {"vector<4x4xf32>", "vector<[4]x4xf32>", "vector<4x[4]xf32>",
                                        "memref<f32>",     "memref<*xf32>",     "memref<*xf32, 1>",
                                        "memref<f32, 1>",  "tensor<*xf32>"};
    enum { COUNT = sizeof(texts) / sizeof(*texts) };
    const struct stet_type *t[COUNT] = {0};
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT_INT(STET_OK, stet_mlir_parse_type(&arena, stet_view_str(texts[i]), &t[i], &err));
        for (size_t k = 0; k < i; k++)
            EXPECT(!stet_type_eq(t[i], t[k]));
    }
    stet_arena_release(&arena);
}

TEST(resources_find_their_bytes_at_the_end)
{
    const struct stet_program *p =
        read_text("module { func.func @main() -> tensor<2xi32> {\n"
                  "  %0 = stablehlo.constant dense_resource<blob> : tensor<2xi32>\n"
                  "  %1 = stablehlo.constant dense_resource<gone> : tensor<2xi32>\n"
                  "  return %0 : tensor<2xi32> } }\n{-#\n  dialect_resources: {\n    builtin: {\n"
                  "      blob: \"0x040000000100000002000000\"\n    }\n  },\n"
                  "  external_resources: { mlir_reproducer: { verify_each: true } }\n#-}\n");

    if (!p)
        return;
    const struct stet_attr *a = stet_op_attr(op_at(p, 0), "value");

    EXPECT_INT(STET_ATTR_RESOURCE, a->kind);
    EXPECT_INT(8, stet_attr_bytes(a).len);
    EXPECT_INT(2, stet_attr_bytes(a).ptr[4]);
    EXPECT_INT(0, stet_attr_bytes(stet_op_attr(op_at(p, 1), "value")).len);
}

/* ---- locations ---- */

TEST(locations_may_be_defined_after_their_use)
{
    const struct stet_program *p =
        read_text("#loc1 = loc(\"x\")\n"
                  "module { func.func @main(%a: i32 loc(\"x\"(#loc1))) {\n"
                  "  \"t.a\"() : () -> () loc(#loc4)\n  \"t.b\"() : () -> () loc(\"f.py\":3:4)\n"
                  "  \"t.c\"() : () -> ()\n  return loc(#loc1)\n } loc(#loc2) } loc(unknown)\n"
                  "#loc2 = loc(\"/a/b.py\":7:2 to :9)\n#loc3 = loc(\"main\"(#loc2))\n"
                  "#loc4 = loc(callsite(#loc3 at fused[\"c.py\":1:2 to 3:4, #loc1]))\n");

    if (!p)
        return;
    const struct stet_loc *l = op_at(p, 0)->loc;

    EXPECT_INT(STET_LOC_CALLSITE, l->kind);
    EXPECT(stet_view_is(l->parts[0]->text, "main"));
    EXPECT_INT(7, l->parts[0]->parts[0]->line);
    EXPECT_INT(9, l->parts[0]->parts[0]->end.column);
    EXPECT_INT(3, l->parts[1]->parts[0]->end.line);
    EXPECT_INT(STET_LOC_FILE, op_at(p, 1)->loc->kind);
    EXPECT_INT(STET_LOC_UNKNOWN, op_at(p, 2)->loc->kind);
    EXPECT(p->entry->loc == l->parts[0]->parts[0]);
}
