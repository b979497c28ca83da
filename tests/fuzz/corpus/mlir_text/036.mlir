module @jit_atan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %0 = stablehlo.atan2 %arg0, %cst : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
