module @jit_acosh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.acosh" %arg0 {decomposition = @chlo.acosh.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.acosh.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<3.40282347E+38> : tensor<4x3xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<4x3xf32>
    %0 = stablehlo.divide %cst_0, %cst_1 : tensor<4x3xf32>
    %1 = stablehlo.compare GE, %arg0, %0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %2 = stablehlo.log %cst_1 : tensor<4x3xf32>
    %3 = stablehlo.log %arg0 : tensor<4x3xf32>
    %4 = stablehlo.add %2, %3 : tensor<4x3xf32>
    %5 = stablehlo.subtract %arg0, %cst : tensor<4x3xf32>
    %6 = stablehlo.sqrt %5 : tensor<4x3xf32>
    %7 = stablehlo.add %arg0, %cst : tensor<4x3xf32>
    %8 = stablehlo.sqrt %7 : tensor<4x3xf32>
    %9 = stablehlo.add %8, %6 : tensor<4x3xf32>
    %10 = stablehlo.multiply %6, %9 : tensor<4x3xf32>
    %11 = stablehlo.log_plus_one %10 : tensor<4x3xf32>
    %12 = stablehlo.select %1, %4, %11 : tensor<4x3xi1>, tensor<4x3xf32>
    return %12 : tensor<4x3xf32>
  }
}
