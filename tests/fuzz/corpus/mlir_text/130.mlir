module @jit_asinh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.asinh" %arg0 {decomposition = @chlo.asinh.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.asinh.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<4x3xf32>
    %cst_1 = stablehlo.constant dense<3.40282347E+38> : tensor<4x3xf32>
    %0 = stablehlo.sign %arg0 : tensor<4x3xf32>
    %1 = stablehlo.abs %arg0 : tensor<4x3xf32>
    %2 = stablehlo.sqrt %cst_1 : tensor<4x3xf32>
    %3 = stablehlo.compare GE, %1, %2 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %4 = stablehlo.log %cst_0 : tensor<4x3xf32>
    %5 = stablehlo.log %1 : tensor<4x3xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x3xf32>
    %7 = stablehlo.multiply %1, %1 : tensor<4x3xf32>
    %8 = stablehlo.add %cst, %7 : tensor<4x3xf32>
    %9 = stablehlo.sqrt %8 : tensor<4x3xf32>
    %10 = stablehlo.add %cst, %9 : tensor<4x3xf32>
    %11 = stablehlo.divide %7, %10 : tensor<4x3xf32>
    %12 = stablehlo.add %1, %11 : tensor<4x3xf32>
    %13 = stablehlo.log_plus_one %12 : tensor<4x3xf32>
    %14 = stablehlo.select %3, %6, %13 : tensor<4x3xi1>, tensor<4x3xf32>
    %15 = stablehlo.multiply %0, %14 : tensor<4x3xf32>
    return %15 : tensor<4x3xf32>
  }
}
