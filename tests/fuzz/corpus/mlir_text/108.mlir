module @jit_asin attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.asin" %arg0 {decomposition = @chlo.asin.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.asin.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %0 = stablehlo.subtract %cst, %arg0 : tensor<4x3xf32>
    %1 = stablehlo.add %cst, %arg0 : tensor<4x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4x3xf32>
    %3 = stablehlo.sqrt %2 : tensor<4x3xf32>
    %4 = stablehlo.add %cst, %3 : tensor<4x3xf32>
    %5 = stablehlo.atan2 %arg0, %4 : tensor<4x3xf32>
    %6 = stablehlo.add %5, %5 : tensor<4x3xf32>
    return %6 : tensor<4x3xf32>
  }
}
