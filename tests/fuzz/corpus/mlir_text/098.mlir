module @jit_acos attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.acos" %arg0 {decomposition = @chlo.acos.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.acos.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %0 = stablehlo.subtract %cst, %arg0 : tensor<4x3xf32>
    %1 = stablehlo.add %cst, %arg0 : tensor<4x3xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4x3xf32>
    %3 = stablehlo.sqrt %2 : tensor<4x3xf32>
    %4 = stablehlo.atan2 %3, %arg0 : tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
}
