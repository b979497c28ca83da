module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf8E3M4>) -> (tensor<2x3xf8E3M4> {jax.result_info = "result[0]"}, tensor<6xf8E3M4> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf8E3M4>) -> tensor<6xf8E3M4>
    return %arg0, %0 : tensor<2x3xf8E3M4>, tensor<6xf8E3M4>
  }
}
