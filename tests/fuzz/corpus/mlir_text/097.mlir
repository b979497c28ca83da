"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x2xf32>, tensor<4xf6E2M3FN>, tensor<4xf6E3M2FN>, tensor<4xtf32>) -> tensor<2x2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x2xf32>, %arg1: tensor<4xf6E2M3FN>, %arg2: tensor<4xf6E3M2FN>, %arg3: tensor<4xtf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg0) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    "func.return"(%0) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
