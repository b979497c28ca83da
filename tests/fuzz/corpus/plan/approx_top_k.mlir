module { func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {called_computations = [@gt], mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 2 : i64}} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %r#0, %r#1 : tensor<2x2xf32>, tensor<2x2xi32>
}
func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %r = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %r : tensor<i1>
} }
