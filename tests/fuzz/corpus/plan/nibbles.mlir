func.func @main(%a: tensor<4x2xi4>, %f: tensor<4xf32>) -> (tensor<4xi8>, tensor<4x8xui4>, tensor<4xi4>, tensor<4x4xi4>) {
  %x = stablehlo.bitcast_convert %a : (tensor<4x2xi4>) -> tensor<4xi8>
  %y = stablehlo.bitcast_convert %f : (tensor<4xf32>) -> tensor<4x8xui4>
  %z = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xi4>
  %c = stablehlo.constant dense<[[-1, 2], [3, -8]]> : tensor<2x2xi4>
  %p = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<4x2xi4>, tensor<4x2xi4>) -> tensor<4x4xi4>
  %s = stablehlo.shift_right_logical %p, %p : tensor<4x4xi4>
  %n = stablehlo.count_leading_zeros %s : tensor<4x4xi4>
  return %x, %y, %z, %n : tensor<4xi8>, tensor<4x8xui4>, tensor<4xi4>, tensor<4x4xi4>
}
