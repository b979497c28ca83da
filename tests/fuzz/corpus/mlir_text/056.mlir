module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xf64>) -> (tensor<7xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[1.000000e-01, 0.33333333333333331, 1.000000e+300, -2.500000e-310, 123456789.125, 1.000000e+16, 0x4345EE2A2EB5A5C4]> : tensor<7xf64>
    %0 = stablehlo.add %arg0, %cst : tensor<7xf64>
    return %0 : tensor<7xf64>
  }
}
