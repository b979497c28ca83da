module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xi16>, %arg1: tensor<i32>) -> (tensor<3xi16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      stablehlo.return %arg0 : tensor<3xi16>
    }, {
      %c_1 = stablehlo.constant dense<1> : tensor<i16>
      %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i16>) -> tensor<3xi16>
      %3 = stablehlo.add %arg0, %2 : tensor<3xi16>
      stablehlo.return %3 : tensor<3xi16>
    }, {
      %c_1 = stablehlo.constant dense<2> : tensor<i16>
      %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i16>) -> tensor<3xi16>
      %3 = stablehlo.multiply %arg0, %2 : tensor<3xi16>
      stablehlo.return %3 : tensor<3xi16>
    }) : (tensor<i32>) -> tensor<3xi16>
    return %1 : tensor<3xi16>
  }
}
