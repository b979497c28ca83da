module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<120xi16> {jax.result_info = "result[1]"}, tensor<6xi4> {jax.result_info = "result[2]"}, tensor<3xbf16> {jax.result_info = "result[3]"}, tensor<1xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<2xi1> {jax.result_info = "result[5]"}) {
    %cst = stablehlo.constant dense<[0x7FC00000, 0x7F800000, -0.000000e+00, 1.000000e-01]> : tensor<4xf32>
    %c = stablehlo.constant dense<"0x00000000000000000000000000000100010001000100010001000100020002000200020002000200020003000300030003000300030003000400040004000400040004000400050005000500050005000500050006000600060006000600060006000700070007000700070007000700080008000800080008000800080009000900090009000900090009000A000A000A000A000A000A000A000B000B000B000B000B000B000B000C000C000C000C000C000C000C000D000D000D000D000D000D000D000E000E000E000E000E000E000E000F000F000F000F000F000F000F0010001000100010001000100010001100"> : tensor<120xi16>
    %c_0 = stablehlo.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi4>
    %cst_1 = stablehlo.constant dense<[0.000000e+00, 1.425780e-01, 2.851560e-01]> : tensor<3xbf16>
    %cst_2 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f32>>
    %c_3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %0 = stablehlo.add %arg0, %cst : tensor<4xf32>
    return %0, %c, %c_0, %cst_1, %cst_2, %c_3 : tensor<4xf32>, tensor<120xi16>, tensor<6xi4>, tensor<3xbf16>, tensor<1xcomplex<f32>>, tensor<2xi1>
  }
}
