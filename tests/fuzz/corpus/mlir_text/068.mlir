module {
  func.func @main(%arg0: tensor<2x2xf32>, %arg1: tensor<4xf6E2M3FN>, %arg2: tensor<4xf6E3M2FN>, %arg3: tensor<4xtf32>) -> tensor<2x2xf32> {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}
