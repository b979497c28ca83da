module @jit_sinh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.sinh" %arg0 {decomposition = @chlo.sinh.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.sinh.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<4x3xf32>
    %0 = stablehlo.log %cst_0 : tensor<4x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4x3xf32>
    %2 = stablehlo.exponential %1 : tensor<4x3xf32>
    %3 = stablehlo.subtract %0, %arg0 : tensor<4x3xf32>
    %4 = stablehlo.exponential %3 : tensor<4x3xf32>
    %5 = stablehlo.subtract %2, %4 : tensor<4x3xf32>
    %6 = stablehlo.exponential_minus_one %arg0 : tensor<4x3xf32>
    %7 = stablehlo.add %6, %cst : tensor<4x3xf32>
    %8 = stablehlo.divide %6, %7 : tensor<4x3xf32>
    %9 = stablehlo.add %6, %8 : tensor<4x3xf32>
    %10 = stablehlo.multiply %cst_0, %9 : tensor<4x3xf32>
    %11 = stablehlo.abs %arg0 : tensor<4x3xf32>
    %12 = stablehlo.compare LT, %11, %cst : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %13 = stablehlo.select %12, %10, %5 : tensor<4x3xi1>, tensor<4x3xf32>
    return %13 : tensor<4x3xf32>
  }
}
