module @with_a_kernel {
  func.func @main(%w: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2x3xf32> {
    %0 = stablehlo.custom_call @tpu_custom_call(%w) {backend_config = ""} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
