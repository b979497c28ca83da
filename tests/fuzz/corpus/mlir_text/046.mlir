module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf8E8M0FNU> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<[0xFF, 1.000000e+00, 1.000000e+00, 5.000000e-01]> : tensor<4xf8E8M0FNU>
    return %arg0, %cst : tensor<4xf32>, tensor<4xf8E8M0FNU>
  }
}
