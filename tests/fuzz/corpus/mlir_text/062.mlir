module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3x8xf32>, %arg1: tensor<6x3x3xf32>) -> (tensor<2x6x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x3x8xf32>, tensor<6x3x3xf32>) -> tensor<2x6x6xf32>
    return %0 : tensor<2x6x6xf32>
  }
}
