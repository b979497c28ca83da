module {
  func.func @main(%arg0: tensor<?x?xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
    %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %1 = stablehlo.dynamic_broadcast_in_dim %0, %arg1, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>} : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %2 = stablehlo.real_dynamic_slice %1, %arg1, %arg1, %arg1 : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %2 : tensor<?x?xf32>
  }
}
