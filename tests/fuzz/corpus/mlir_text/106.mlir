module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=4, "m"=2]> {stablehlo.mesh = {axes = [{name = "d", size = 4 : i64}, {name = "m", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32>) -> (tensor<64x2xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d", "m"} (%arg1: tensor<4x8xf32>) {
      %1 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
      sdy.return %1 : tensor<16x2xf32>
    } : (tensor<16x8xf32>) -> tensor<64x2xf32>
    return %0 : tensor<64x2xf32>
  }
}
