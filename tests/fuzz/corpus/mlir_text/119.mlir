module @jit_atanh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.atanh" %arg0 {decomposition = @chlo.atanh.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.atanh.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<4x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %0 = stablehlo.abs %arg0 : tensor<4x3xf32>
    %1 = stablehlo.compare GT, %0, %cst_1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %2 = stablehlo.log_plus_one %arg0 : tensor<4x3xf32>
    %3 = stablehlo.negate %arg0 : tensor<4x3xf32>
    %4 = stablehlo.log_plus_one %3 : tensor<4x3xf32>
    %5 = stablehlo.subtract %2, %4 : tensor<4x3xf32>
    %6 = stablehlo.multiply %5, %cst : tensor<4x3xf32>
    %7 = stablehlo.select %1, %cst_0, %6 : tensor<4x3xi1>, tensor<4x3xf32>
    return %7 : tensor<4x3xf32>
  }
}
