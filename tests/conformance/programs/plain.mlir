module @plain {
  func.func @main(%w: tensor<2x3xf32>, %n: tensor<i32>) -> (tensor<2x3xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %sum = stablehlo.add %w, %b : tensor<2x3xf32>
    %total = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    return %sum, %total : tensor<2x3xf32>, tensor<f32>
  }
}
