module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf32>) -> (tensor<5xbf16> {jax.result_info = "result[0]"}, tensor<5xf16> {jax.result_info = "result[1]"}, tensor<5xi8> {jax.result_info = "result[2]"}, tensor<5xi1> {jax.result_info = "result[3]"}, tensor<5xcomplex<f32>> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xbf16>
    %1 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xf16>
    %2 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xi8>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %4 = stablehlo.compare NE, %arg0, %3, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    %5 = stablehlo.convert %4 : tensor<5xi1>
    %6 = stablehlo.convert %arg0 : (tensor<5xf32>) -> tensor<5xcomplex<f32>>
    return %0, %1, %2, %5, %6 : tensor<5xbf16>, tensor<5xf16>, tensor<5xi8>, tensor<5xi1>, tensor<5xcomplex<f32>>
  }
}
