"""What JAX rarely or never emits, as StableHLO text: bounded shapes, quantized types, resources,
communication, composites, unusual locations."""

PROGRAMS = {}

PROGRAMS["bounded"] = """
func.func @main(%a: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %n: tensor<i32>)
    -> tensor<?x4xf32, #stablehlo.bounds<8, ?>> {
  %0 = stablehlo.add %a, %a : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  %1 = "stablehlo.get_dimension_size"(%0) {dimension = 0 : i64}
      : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<i32>
  %2 = "stablehlo.set_dimension_size"(%0, %n) {dimension = 0 : i64}
      : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  return %2 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
}"""

PROGRAMS["dynamic"] = """
func.func @main(%a: tensor<?x?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %0, %s, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>}
      : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = "stablehlo.real_dynamic_slice"(%1, %s, %s, %s)
      : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}"""

PROGRAMS["quantized"] = """
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 3.400000e+01:16>>,
                %b: tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {2.000000e+02,9.987200e-01:10,1.000000e+00}>>) -> tensor<2xf32> {
  %0 = "other.dequantize"(%a) {k = #other.attr<1, [2]>, t = !other<type x>} : (tensor<2x!quant.uniform<i8:f32, 3.400000e+01:16>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""

PROGRAMS["tuples-and-tokens"] = """
func.func @main(%t: !stablehlo.token, %a: tensor<2xf32>) -> !stablehlo.token {
  %0 = stablehlo.tuple %a, %a : tuple<tensor<2xf32>, tensor<2xf32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %2 = stablehlo.create_token : !stablehlo.token
  %3 = stablehlo.after_all %t, %2 : !stablehlo.token
  %4:2 = "stablehlo.infeed"(%3) {infeed_config = "c", layout = [[0]]} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %5 = "stablehlo.outfeed"(%4#0, %4#1) {outfeed_config = ""} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %6 = "stablehlo.send"(%1, %5) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}
      : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %7:2 = "stablehlo.recv"(%6) {channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}
      : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %7#1 : !stablehlo.token
}"""

PROGRAMS["composite"] = """
func.func private @impl(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "my.op" %a {composite_attributes = {k = 3 : i32, s = "x"}, decomposition = @impl, version = 2 : i32}
      : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.composite "my.op" %0 {decomposition = @impl} : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}"""

PROGRAMS["collectives"] = """
func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids,
      channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "stablehlo.collective_permute"(%0) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}
      : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = "stablehlo.collective_broadcast"(%1) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}"""

PROGRAMS["custom-call"] = """
func.func private @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.custom_call"(%a, %a) {call_target_name = "t", has_side_effect = true, backend_config = "b\\00\\FF\\22",
      api_version = 2 : i32, called_computations = [@f, @"odd name"], operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>],
      result_layouts = [dense<0> : tensor<1xindex>], extra = #stablehlo<precision HIGH>,
      output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "u", api_version = 4 : i32, backend_config = {a = 1 : i64, b = [1.5 : f32, true], "odd key" = unit}}
      : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @"odd name"(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"""

PROGRAMS["accuracy"] = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.exponential"(%a) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.1, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}
      : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "stablehlo.tanh"(%0) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "stablehlo.log"(%1) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}"""

PROGRAMS["rarely-used"] = """
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<2xi64>, %c: tensor<3xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot %a, %b, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = "stablehlo.einsum"(%a, %b) {einsum_config = "ab,bc->ac"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = "stablehlo.unary_einsum"(%a) {einsum_config = "ab->ba"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = "stablehlo.broadcast"(%a) {broadcast_sizes = array<i64: 5>} : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  %4 = "stablehlo.torch_index_select"(%a, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %5:3 = "stablehlo.batch_norm_training"(%a, %c, %c) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %6 = "stablehlo.map"(%a, %a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %m = stablehlo.multiply %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = stablehlo.replica_id : tensor<ui32>
  %8 = stablehlo.partition_id : tensor<ui32>
  %9 = stablehlo.compare TOTALORDER, LT, %a, %a : tensor<2x3xi1> attributes
      TOTALORDER_unused
  return %0 : tensor<2x4xf32>
}""".replace("""  %9 = stablehlo.compare TOTALORDER, LT, %a, %a : tensor<2x3xi1> attributes
      TOTALORDER_unused
""", """  %9 = "stablehlo.compare"(%a, %a) {comparison_direction = #stablehlo<comparison_direction LT>,
      compare_type = #stablehlo<comparison_type TOTALORDER>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
""")

PROGRAMS["locations"] = """
#a = loc("dir/a.py":1:2)
#b = loc("b.py":3:4 to 5:6)
#c = loc("c.py":7:8 to :9)
#d = loc(callsite("g"(#a) at callsite(#b at "h"(#c))))
func.func @main(%a: tensor<f32> loc("arg name"), %b: tensor<f32> loc(#a)) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32> loc(#d)
  %1 = stablehlo.add %0, %b : tensor<f32> loc(fused[#a, #b, "n"])
  %2 = stablehlo.add %1, %b : tensor<f32> loc(fused<{k = "v"}>[#a, #c])
  %3 = stablehlo.add %2, %b : tensor<f32> loc("name \\"q\\" \\\\ \\0A tab\\09"(#b))
  %4 = stablehlo.add %3, %b : tensor<f32> loc(unknown)
  return %4 : tensor<f32> loc("last":0:0)
}"""

PROGRAMS["resources"] = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense_resource<weights> : tensor<4xf32>
  %1 = stablehlo.constant dense_resource<more> : tensor<2xi32>
  %2 = stablehlo.constant dense_resource<weights> : tensor<4xf32>
  %3 = stablehlo.add %a, %0 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
{-#
  dialect_resources: { builtin: {
    weights: "0x400000000000803F000000400000404000008040",
    more: "0x040000000100000002000000"
  } }
#-}"""

PROGRAMS["attributes"] = """
module @m attributes {a.i = 5 : i8, a.u = 200 : ui8, a.n = -3 : i64, a.x = 4 : index, a.f = 1.5 : f64, a.h = 0x7FC0 : bf16,
    a.s = "t" , a.y = @sym::@nested, a.t = tensor<?x2xf32>, a.fn = (i32, f32) -> (), a.e = [], a.d = {}, a.unit,
    a.big = 123456789012345678901234567890 : i128, a.arr = array<i32: 1, -2>, a.fl = array<f32: 1.5, 0.1>, a.bo = array<i1: true, false>,
    a.no = none, a.tup = tuple<i1, tuple<>>, a.vec = vector<2x3xf32>, a.mem = memref<2x?xf32>, a.unr = tensor<*xf32>,
    a.str = dense<["a", "b"]> : tensor<2x!a.string>, a.idx = dense<[1, 2]> : tensor<2xindex>,
    a.i4 = dense<[1, -8, 7]> : tensor<3xi4>, a.u64 = dense<18446744073709551615> : tensor<1xui64>, a.c = complex<f32>} {
  func.func @main() { return }
}"""

PROGRAMS["blocks"] = """
func.func @main(%p: i1, %a: tensor<f32>) -> tensor<f32> {
  cf.cond_br %p, ^bb1(%a : tensor<f32>), ^bb2
^bb1(%x: tensor<f32>):
  cf.br ^bb3(%x : tensor<f32>)
^bb2:
  cf.br ^bb3(%a : tensor<f32>)
^bb3(%y: tensor<f32>):
  return %y : tensor<f32>
}"""

PROGRAMS["chlo"] = """
func.func @main(%a: tensor<4xf32>, %b: tensor<f32>, %g: tensor<2xi32>, %m: tensor<4x3xf32>, %n: tensor<2x3x5xf32>) -> tensor<4xf32> {
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = chlo.erf_inv %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.broadcast_compare %1, %b {comparison_direction = #chlo<comparison_direction GT>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %3 = "chlo.ragged_dot"(%m, %n, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
      precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>]} : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
  %4:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %1 : tensor<4xf32>
}"""

PROGRAMS["shardy"] = """
sdy.mesh @m = <["x"=2, "y"=4]>
sdy.mesh @ids = <["z"=4], device_ids=[3, 2, 1, 0]>
sdy.mesh @max = <[], device_ids=[5]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}p1, {"y":(1)2}], replicated={"y":(2)2}>},
                %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["q"=2]>, [{"q"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@m, [{"x"}, {?}], replicated={"y"}> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@m, [{}, {"x", "y"}]> : tensor<8x8xf32>
  %2 = stablehlo.add %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %3 = stablehlo.custom_call @foo(%2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, jk]) {i=8, j=4, k=2} need_replication={i} permutation={j}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = sdy.manual_computation(%3) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4x8xf32>) {
    sdy.return %c : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = sdy.all_gather [{"x"}, {}] %4 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %6 = sdy.propagation_barrier %5 allowed_direction=FORWARD : tensor<8x8xf32>
  sdy.sharding_group %6 group_id=7 : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}"""

PROGRAMS["narrow-floats"] = """
func.func @main(%a: tensor<2x2xf32>, %b: tensor<4xf6E2M3FN>, %c: tensor<4xf6E3M2FN>, %d: tensor<4xtf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32,
    rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
    allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.constant dense<[1.0, 0.5, -2.0]> : tensor<3xf6E3M2FN>
  %2 = stablehlo.constant dense<[1.0, 0.5, -2.0]> : tensor<3xf4E2M1FN>
  %3 = stablehlo.constant dense<[1.0, 0.5, 4.0]> : tensor<3xf8E8M0FNU>
  return %0 : tensor<2x2xf32>
}"""

PROGRAMS["shardy-operations"] = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @mixed = <["a"=2, "b"=2], device_ids=[3, 1, 0, 2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}p1, {"y"}]>}) -> tensor<8x8xf32> {
  %r = sdy.reshard %a <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %0 = sdy.all_gather [{}, {"y"}] %r out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  %4 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %5 = sdy.reduce_scatter [{"y"}, {}] %4 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  %6 = sdy.reshard %5 <@mesh, [{}, {}], replicated={"x"}, unreduced={"y"}> : tensor<8x8xf32>
  %7 = sdy.propagation_barrier %6 allowed_direction=BACKWARD : tensor<8x8xf32>
  %d = stablehlo.add %7, %7 : tensor<8x8xf32>
  %8 = sdy.data_flow_edge %d sharding=<@mesh, [{?}, {?}]> : tensor<8x8xf32>
  sdy.sharding_group %8 group_id=3 : tensor<8x8xf32>
  %9 = sdy.named_computation<"f">(%8) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%x: tensor<8x8xf32>) {
    sdy.return %x : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %10 = stablehlo.custom_call @foo(%9) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, jk]) {i=8, j=4, k=2} need_replication={j} permutation={k} blocked_propagation={i}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %10 : tensor<8x8xf32>
}"""

PROGRAMS["chlo-operations"] = """
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<8xi32>) -> tensor<8xf32> {
  %0 = chlo.broadcast_add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = chlo.next_after %a, %b : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %2 = "chlo.broadcast_compare"(%a, %b) {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type FLOAT>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %3:2 = chlo.top_k(%a, k = 3) : tensor<8xf32> -> (tensor<3xf32>, tensor<3xi32>)
  %4 = chlo.broadcast_select %2, %a, %b : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %6 = "chlo.constant_like"(%a) {value = 2.5 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %7 = chlo.is_inf %a : tensor<8xf32> -> tensor<8xi1>
  return %6 : tensor<8xf32>
}"""

PROGRAMS["chlo-scan"] = """
func.func @main(%a: tensor<8xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0:2 = chlo.scan(%a) inits (%c) dimension=0 attributes {is_associative = true} {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1, %1 : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %0#1 : tensor<f32>
}"""

PROGRAMS["short-forms"] = """
func.func @main(%a: tensor<4x4xf32>, %s: tensor<f32>, %n: tensor<2xi64>, %t: !stablehlo.token, %p: tensor<i1>) -> tensor<4x4xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  %1 = stablehlo.cholesky %0 : tensor<4x4xf32>
  %2 = stablehlo.rng %s, %s, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x4xf32>
  %3 = stablehlo.dot %a, %a, precision = [HIGH, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.einsum %a, %a, config = "ab,bc->ac" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<4x4xf32>) -> tensor<4xf32>
  %6 = stablehlo.broadcast %s, sizes = [2] : (tensor<f32>) -> tensor<2xf32>
  %7 = stablehlo.after_all  : !stablehlo.token
  %8 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32>
  stablehlo.optimization_barrier ()
  %9 = stablehlo.reduce_precision %a, format = e8m7 : tensor<4x4xf32>
  %10 = stablehlo.partition_id : tensor<ui32>
  %11 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %12 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<4x4xf32>
  %13 = stablehlo.slice %a [0:4:2, 1:4] : (tensor<4x4xf32>) -> tensor<2x3xf32>
  %14 = stablehlo.get_dimension_size %8, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %15 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>
  %16 = stablehlo.tanh %a {result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x4xf32>
  %17 = builtin.unrealized_conversion_cast %a : tensor<4x4xf32> to tensor<16xf32>
  return %12 : tensor<4x4xf32>
}"""

PROGRAMS["mpmd"] = """
func.func @main(%a: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  return %0 : !mpmd.mesh_tensor<"m1", tensor<4xf32>>
}"""

MESH_TENSOR = '!mpmd.mesh_tensor<"m1", tensor<4xf32>>'
PROGRAMS["mpmd-forms"] = """
func.func @main(%a: T, %b: T, %c: tensor<4xf32>) -> T attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m1", origin=["f1", "f2"(1)], stage=3, in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}]>],
      out_shardings=[<@mesh, [{}]>]> (%a, %b) {foo = 1 : i32} (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %s = stablehlo.add %x, %y : tensor<4xf32>
    mpmd.return %s : tensor<4xf32>
  } : (T, T) -> T
  %1 = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{}]>]> (%0) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (T) -> T
  %2:2 = mpmd.for (%1, %b) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%x: T, %y: T, %i: tensor<ui32>) {
    mpmd.return %x, %y : T, T
  } : T, T
  %3 = mpmd.fragment_call<mesh="m1", origin=["f1"]> @callee(%2#0) {bar} : (T) -> T
  %4 = mpmd.assign {origin = "o"} %c : (tensor<4xf32>) -> T
  %5 = mpmd.unassign %4 : (T) -> tensor<4xf32>
  return %3 : T
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4xf32>
}
func.func @plain(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpmd.named_computation<"n"(2)> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = mpmd.named_tensor %0 name="t" : tensor<4xf32>
  %2 = mpmd.reduce<add> %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = mpmd.reduce<none> %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = mpmd.broadcast %3 : tensor<4xf32>
  %5 = mpmd.call @callee(%4) : (tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}""".replace(" T", " " + MESH_TENSOR).replace("(T", "(" + MESH_TENSOR)

PROGRAMS["odd-names"] = r"""
module @"odd \22module\22 \\ \0A ünï" {
func.func private @"f \22q\22"(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func private @"日本語"(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func private @"1starts.with$digit-"(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func @main(%a: tensor<2xf32> {"my.odd key \22" = "v\00\FF\0A\09\\\22", jax.buffer_donor = true, tf.aliasing_output = 0 : i32, mhlo.sharding = "{replicated}", mhlo.layout_mode="default", mhlo.memory_kind="pinned_host"}) -> (tensor<2xf32> {"1x.y" = unit, _y$.z = 1}) {
  %0 = func.call @"f \22q\22"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @"日本語"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = func.call @"1starts.with$digit-"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = stablehlo.custom_call @"odd target \22 ü"(%2) {backend_config = "\F0\9F\98\80 {\22a\22: 1}\00"} : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}}"""

PROGRAMS["number-forms"] = """
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0x7FC00001> : tensor<f32>
  %1 = stablehlo.constant dense<[0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000, 0x7F800001, 0x80000000, 0x00000001]> : tensor<7xf32>
  %2 = stablehlo.constant dense<0x7FF0000000000001> : tensor<f64>
  %3 = stablehlo.constant dense<[0x7C00, 0xFC00, 0x7E01, 0x0001, 0x8000]> : tensor<5xf16>
  %4 = stablehlo.constant dense<[0x7F80, 0xFF80, 0x7FC1, 0x0001, 0x8000]> : tensor<5xbf16>
  %5 = stablehlo.constant dense<[0x7F, 0xFF, 0x00, 0x80, 0x01]> : tensor<5xf8E4M3FN>
  %6 = stablehlo.constant dense<[0x7C, 0xFC, 0x7F, 0x80, 0x01]> : tensor<5xf8E5M2>
  %7 = stablehlo.constant dense<[0x80, 0x7F, 0x00, 0x01]> : tensor<4xf8E4M3FNUZ>
  %8 = stablehlo.constant dense<[0x80, 0x7F, 0x00, 0x01]> : tensor<4xf8E5M2FNUZ>
  %9 = stablehlo.constant dense<[0x80, 0x7F, 0x00, 0x01]> : tensor<4xf8E4M3B11FNUZ>
  %10 = stablehlo.constant dense<[0x78, 0x7F, 0x80, 0x01]> : tensor<4xf8E4M3>
  %11 = stablehlo.constant dense<[0x70, 0x7F, 0x80, 0x01]> : tensor<4xf8E3M4>
  %12 = stablehlo.constant dense<[0xFF, 0x00, 0x80, 0x01]> : tensor<4xf8E8M0FNU>
  %13 = stablehlo.constant dense<[(1.0, 0x7FC00000), (-0.0, 0xFF800000)]> : tensor<2xcomplex<f32>>
  %14 = stablehlo.constant dense<(0.1, 1.0e300)> : tensor<complex<f64>>
  %15 = stablehlo.constant dense<(1.5, -2.5)> : tensor<3x2xcomplex<f32>>
  %160 = stablehlo.constant dense<1.0> : tensor<0xf32>
  %161 = stablehlo.constant dense<7> : tensor<2x0xi32>
  %162 = stablehlo.constant dense<(1.0, 2.0)> : tensor<0xcomplex<f32>>
  %16 = stablehlo.constant dense<[]> : tensor<0xcomplex<f64>>
  %18 = stablehlo.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %19 = stablehlo.constant dense<"0xABCD"> : tensor<2xui8>
  %20 = stablehlo.constant dense<[[-1, 1],[0, -2]]> : tensor<2x2xi2>
  %21 = stablehlo.constant dense<[3, 0, 1]> : tensor<3xui2>
  %22 = stablehlo.constant dense<[15, 0]> : tensor<2xui4>
  %23 = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
  %24 = stablehlo.constant dense<1.17549435E-38> : tensor<f32>
  %25 = stablehlo.constant dense<[0x3F, 0x00, 0x20, 0x01]> : tensor<4xf6E2M3FN>
  %26 = stablehlo.constant dense<[1.0, -0.5, 6.0, 0.0]> : tensor<4xf4E2M1FN>
  %28 = stablehlo.constant dense<true> : tensor<i1>
  %29 = stablehlo.constant dense<false> : tensor<9xi1>
  return %0 : tensor<f32>
}"""

PROGRAMS["nested-modules"] = """
module @outer attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} {
  module @inner {
    func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
    module { func.func private @decl(tensor<2xf32>, i32) -> (tensor<2xf32>, !stablehlo.token) 
    }
  }
  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> attributes {x.ref = @inner::@f, no_inline} {
    %0 = "other.call"(%a) {callee = @inner::@f} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}"""

PROGRAMS["more-locations"] = r"""
#loc0 = loc("dir/a.py":1:2 to 3:4)
#m = loc(fused<#stablehlo.channel_handle<handle = 1, type = 0>>["a", "b":1:1])
#name = loc("only name")
module {
func.func @main(%a: tensor<f32> loc(unknown), %b: tensor<f32> loc(callsite("x" at "y":2:3))) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32> loc(#m)
  %1 = stablehlo.add %0, %b : tensor<f32> loc(fused[fused["a", "b"], callsite(#loc0 at #name)])
  %2 = stablehlo.add %1, %b : tensor<f32> loc("n"("m"("o"(#loc0))))
  %3 = stablehlo.add %2, %b : tensor<f32> loc(fused<"meta">[unknown])
  %4 = stablehlo.add %3, %b : tensor<f32> loc("":0:0)
  %5 = stablehlo.add %4, %b : tensor<f32> loc("")
  %6 = stablehlo.add %5, %b : tensor<f32> loc("f":4294967295:4294967295)
  %7 = stablehlo.add %6, %b : tensor<f32> loc("f":1:1 to 1:1)
  %8 = stablehlo.add %7, %b : tensor<f32> loc("ünï \22 \\ \0A.py":3:4)
  return %8 : tensor<f32> loc(fused<[1, 2]>["z"])
} loc("fn":9:9)
} loc("module":1:1)"""

PROGRAMS["affine"] = """
#map = affine_map<(d0, d1)[s0] -> (d0 * 2 + s0, d1 floordiv 3, d1 mod 4, d0 ceildiv 2, -d1)>
#set = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d0 == 0)>
func.func @main() attributes {a.m = #map, a.s = #set, a.id = affine_map<() -> ()>, a.t = memref<4xf32, affine_map<(d0) -> (d0 + 1)>>} { return }"""

PROGRAMS["manual-computations"] = """
sdy.mesh @m = <["x"=2, "y"=4, "z"=1]>
sdy.mesh @empty = <[]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y", "z"}]>}, %b: tensor<f32> {sdy.sharding = #sdy.sharding<@empty, []>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {?}p3]>}) {
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@m, [{"x"}, {}]>, <@m, []>] out_shardings=[<@m, [{"x"}, {}]>, <@m, [], replicated={"x"}>] manual_axes={"x", "y"} (%c: tensor<4x8xf32>, %d: tensor<f32>) {
    %q = sdy.manual_computation(%c) in_shardings=[<@m, [{}, {"z"}]>] out_shardings=[<@m, [{}, {"z"}]>] manual_axes={"z"} (%e: tensor<4x8xf32>) {
      sdy.return %e : tensor<4x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %q, %d : tensor<4x8xf32>, tensor<f32>
  } : (tensor<8x8xf32>, tensor<f32>) -> (tensor<8x8xf32>, tensor<f32>)
  %1 = stablehlo.dot_general %0#0, %a, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y":(1)2, ?}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return %1 : tensor<8x8xf32>
}"""

PROGRAMS["unknown-dialect"] = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = "vendor.op"(%a) ({
    ^bb0(%x: tensor<f32>, %y: !vendor.t<a, "b>", [1, {k = 2}]>):
      "vendor.yield"(%x)[^bb1] : (tensor<f32>) -> ()
    ^bb1:
      "vendor.end"() : () -> ()
  }, {}) {a = #vendor.attr<"x>y", (1 + 2) -> 3>, b = #vendor<x>, c = !vendor.t, d = !vendor<"s"> , e = #vendor.bare, g = @s}: (tensor<2xf32>) -> (tensor<2xf32>, i64)
  return %0#0 : tensor<2xf32>
}"""

PROGRAMS["dynamic-operations"] = """
func.func @main(%a: tensor<?x?xf32>, %s: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3x3x4x8xf32>, %x: tensor<1x?x8x4xf32>, %p: tensor<2x2xi32>, %i: tensor<?x1xi32>, %u: tensor<*xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_pad %a, %f, %s, %s, %s : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = "stablehlo.dynamic_conv"(%x, %k, %p) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 1, 1>} : (tensor<1x?x8x4xf32>, tensor<3x3x4x8xf32>, tensor<2x2xi32>) -> tensor<1x?x?x8xf32>
  %2 = "stablehlo.dynamic_gather"(%a, %i, %s) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true} : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %3 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
  %q = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %4 = stablehlo.set_dimension_size %k, %q, dim = 0 : (tensor<3x3x4x8xf32>, tensor<i32>) -> tensor<?x3x4x8xf32, #stablehlo.bounds<3, ?, ?, ?>>
  return %2 : tensor<?x?xf32>
}"""

PROGRAMS["custom-call-forms"] = r"""
func.func @main(%a: tensor<2x3xf32>, %t: tuple<tensor<2xf32>, tensor<f32>>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @a(%a) {mhlo.backend_config = {x = 1 : i32}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.custom_call @b(%a) {api_version = 4 : i32, backend_config = {}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.custom_call @c(%a) {api_version = 4 : i32, backend_config = {b = dense<[1.5]> : tensor<1xf32>, c = {d = {e = "sym"}}, f = #stablehlo<precision HIGH>, g = tensor<2xf32>, h = 1.0e-5 : f64, i = 0x7F800000 : f32, j = -1 : i64, k = false, l = "s"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.custom_call @d(%a) {backend_config = "", api_version = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4:2 = stablehlo.custom_call @e(%a, %a) {mhlo.frontend_attributes = {k = "v", "a b" = "c"}, mhlo.sharding = "{devices=[2,1]<=[2]}", operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<f32>)
  %5 = stablehlo.custom_call @f(%t) : (tuple<tensor<2xf32>, tensor<f32>>) -> tuple<tensor<f32>, tuple<>>
  stablehlo.custom_call @g() {has_side_effect = true} : () -> ()
  %6 = stablehlo.custom_call @tpu_custom_call(%a) {backend_config = "{\"custom_call_config\": {\"body\": \"TUzvUg==\"}}", kernel_name = "k\22"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""

PROGRAMS["more-collectives"] = """
func.func @main(%a: tensor<8x4xf32>, %b: tensor<8x4xbf16>, %i: tensor<4xi64>) -> tensor<8x4xf32> {
  %0:2 = "stablehlo.all_reduce"(%a, %a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1, -1], [2, 3, 4]]> : tensor<2x3xi64>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %1 = "stablehlo.reduce_scatter"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %2:2 = "stablehlo.all_to_all"(%a, %a) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 9, type = 1>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %3:2 = "stablehlo.all_gather"(%a, %b) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>, tensor<8x4xbf16>) -> (tensor<16x4xf32>, tensor<16x4xbf16>)
  return %a : tensor<8x4xf32>
}"""

PROGRAMS["asynchronous"] = """
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<4x4xf32>):
     %y = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
     stablehlo.return %y : tensor<4x4xf32>
  }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}"""

PROGRAMS["strings-and-sparse"] = r"""
func.func @main() attributes {a.s = dense<["a", "b\22", "", "日本"]> : tensor<4x!unknown.string>, a.t = dense<"x"> : tensor<3x!unknown.string>, a.u = dense<[["p"],["q"]]> : tensor<2x1x!unknown.string>,
   a.sp = sparse<[[0, 0], [1, 2]], [1.0, 5.0]> : tensor<3x4xf32>, a.sp2 = sparse<[[1]], 5> : tensor<3xi32>,
   a.ty = i1, a.f = f80, a.tyf = (tensor<2xf32>, !stablehlo.token) -> (i1, index), a.bl = true, a.si = 3 : si8, a.w = 1 : i1, a.str = "typed" : i32, a.d = dense<1> : vector<2xi32>, a.so = strided<[1, ?], offset: ?>} { return }"""

PROGRAMS["dots"] = """
func.func @main(%a: tensor<2x2xbf16>, %g: tensor<2xi32>, %h: tensor<4x2xbf16>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %h, %h, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x2xbf16>, tensor<4x2xbf16>) -> tensor<4xf32>
  %2 = stablehlo.dot_general %a, %a, contracting_dims = [] x [] : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2x2x2xf32>
  return %0 : tensor<2x2xf32>
}"""

PROGRAMS["vectors"] = """
module @m attributes {a.w = vector<2x[4]x3x[1]xi8>, a.none = vector<f32>, a.all = vector<[4]x[8]xbf16>,
    a.dense = dense<1.5> : vector<[4]xf32>, a.flat = dense<[1, 2]> : vector<2xi32>, a.tuple = tuple<vector<[2]xi1>, memref<*xi1>>} {
  func.func @main(%a: vector<[4]xf32>, %b: vector<4x[4]xf32>) -> vector<2x[4]xf32> {
    %0 = "other.add"(%a, %b) {t = vector<[16]xi8>} : (vector<[4]xf32>, vector<4x[4]xf32>) -> vector<2x[4]xf32>
    return %0 : vector<2x[4]xf32>
  }
}"""

PROGRAMS["memrefs"] = """
module @m attributes {a.both = memref<4x?xf32, strided<[1, ?], offset: ?>, 2>, a.map = memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>,
    a.mapped = memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 1 : i32>, a.dict = memref<f32, {k = 1 : i64}>, a.zero = memref<2xf32, 0>,
    a.identity = memref<2x3xf32, affine_map<(d0, d1) -> (d0, d1)>>, a.enum = memref<*xf32, #stablehlo<precision HIGH>>} {
  func.func @main(%a: memref<*xf32>, %b: memref<*xf32, 3>, %c: memref<8x?xf32, 1>) -> memref<*xvector<[2]xi8>, "x"> {
    %0 = "other.view"(%a, %b, %c) : (memref<*xf32>, memref<*xf32, 3>, memref<8x?xf32, 1>) -> memref<*xvector<[2]xi8>, "x">
    return %0 : memref<*xvector<[2]xi8>, "x">
  }
}"""

PROGRAMS["arith"] = """
func.func @main(%i: index, %f: f32, %v: vector<[4]xi32>) -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.constant dense<[1, 2]> : vector<2xi32>
  %2 = arith.constant true
  %3 = arith.constant {a.x} 1.5 : f32
  %4 = arith.constant -3 : index
  %5 = arith.constant dense<2.0> : tensor<4xf32>
  %6 = arith.constant dense<7> : vector<[4]xi32>
  %7 = arith.constant 0x7F800000 : f32
  %8 = arith.constant dense<[[1.5, -0.0]]> : vector<1x2xbf16>
  %9 = arith.constant 12 : i64
  %10 = arith.constant false
  %11 = arith.addi %0, %0 overflow<nsw, nuw> : i32
  %12 = arith.addi %6, %v : vector<[4]xi32>
  %13 = arith.subi %0, %11 {a.x = 1 : i32} : i32
  %14 = arith.muli %0, %13 overflow<nuw> : i32
  %15 = arith.addf %f, %3 fastmath<nnan,contract> : f32
  %16 = arith.addf %f, %3 fastmath<fast> {a.x} : f32
  %17 = arith.addf %f, %15 : f32
  %18 = arith.index_cast %i : index to i32
  return %14 : i32
}"""
