module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x6xui8>, %arg1: tensor<i32>) -> (tensor<3x6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:6] : (tensor<3x6xui8>) -> tensor<1x6xui8>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %2 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<6> : tensor<i32>
    %5 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %6 = stablehlo.select %4, %5, %arg1 : tensor<i1>, tensor<i32>
    %7 = stablehlo.dynamic_update_slice %arg0, %0, %3, %6 : (tensor<3x6xui8>, tensor<1x6xui8>, tensor<i32>, tensor<i32>) -> tensor<3x6xui8>
    return %7 : tensor<3x6xui8>
  }
}
