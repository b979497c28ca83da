module @jit_cosh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.cosh" %arg0 {decomposition = @chlo.cosh.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.cosh.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<4x3xf32>
    %0 = stablehlo.log %cst : tensor<4x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4x3xf32>
    %2 = stablehlo.exponential %1 : tensor<4x3xf32>
    %3 = stablehlo.subtract %0, %arg0 : tensor<4x3xf32>
    %4 = stablehlo.exponential %3 : tensor<4x3xf32>
    %5 = stablehlo.add %2, %4 : tensor<4x3xf32>
    return %5 : tensor<4x3xf32>
  }
}
