module {
  func.func @main(%arg0: tensor<2x!quant.uniform<i8:f32, 3.400000e+01:16>>, %arg1: tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {2.000000e+02,9.987200e-01:10,1.0}>>) -> tensor<2xf32> {
    %0 = "other.dequantize"(%arg0) {k = #other.attr<1, [2]>, t = !other<type x>} : (tensor<2x!quant.uniform<i8:f32, 3.400000e+01:16>>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
