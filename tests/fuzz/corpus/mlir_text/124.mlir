module {
  sdy.mesh @m = <["x"=2, "y"=4]>
  sdy.mesh @ids = <["z"=4], device_ids=[3, 2, 1, 0]>
  sdy.mesh @max = <[], device_ids=[5]>
  func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}p1, {"y":(1)2}], replicated={"y":(2)2}>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["q"=2]>, [{"q"}]>}) -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@m, [{"x"}, {?}], replicated={"y"}> : tensor<8x8xf32>
    %1 = sdy.reshard %0 <@m, [{}, {"x", "y"}]> : tensor<8x8xf32>
    %2 = stablehlo.add %1, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} : tensor<8x8xf32>
    %3 = stablehlo.custom_call @foo(%2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, jk]) {i=8, j=4, k=2} need_replication={i} permutation={j}, custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = sdy.manual_computation(%3) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>) {
      sdy.return %arg2 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = sdy.all_gather [{"x"}, {}] %4 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
    %6 = sdy.propagation_barrier %5 allowed_direction=FORWARD : tensor<8x8xf32>
    sdy.sharding_group %6 group_id=7 : tensor<8x8xf32>
    return %6 : tensor<8x8xf32>
  }
}
