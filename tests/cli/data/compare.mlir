func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.compare  GT, %x, %y,  FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %1 = stablehlo.select %0, %x, %y : tensor<8xi1>, tensor<8xf32>
  return %1 : tensor<8xf32>
}
