module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xi4> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<[0, 1, 1, 0]> : tensor<4xi4>
    return %arg0, %c : tensor<4xf32>, tensor<4xi4>
  }
}
