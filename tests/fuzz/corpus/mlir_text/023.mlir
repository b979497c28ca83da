module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf4E2M1FN> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf4E2M1FN>
    return %0 : tensor<4xf4E2M1FN>
  }
}
