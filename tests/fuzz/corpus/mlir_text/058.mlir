module {
  func.func private @impl(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 3 : i32, s = "x"}, decomposition = @impl, version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.composite "my.op" %0 {decomposition = @impl} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
