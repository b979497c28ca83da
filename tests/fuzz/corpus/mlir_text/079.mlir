module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x2xcomplex<f64>>
    %cst = stablehlo.constant dense<(3.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = stablehlo.add %0, %1 : tensor<2x2xcomplex<f64>>
    return %2 : tensor<2x2xcomplex<f64>>
  }
}
