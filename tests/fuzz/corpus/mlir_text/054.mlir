module {
  func.func @main(%arg0: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %arg1: tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
    %1 = stablehlo.set_dimension_size %0, %arg1, dim = 0 : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
    return %1 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  }
}
