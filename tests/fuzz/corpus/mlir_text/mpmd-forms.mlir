module {
  func.func @main(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>> attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} {
    %0 = mpmd.fragment<mesh="m1", origin=["f1", "f2"(1)], stage=3, in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}]>], out_shardings=[<@mesh, [{}]>]> (%arg0, %arg1) {foo = 1 : i32} (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>) {
      %4 = stablehlo.add %arg2, %arg3 : tensor<4xf32>
      mpmd.return %4 : tensor<4xf32>
    } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    %1 = mpmd.fragment<mesh="m1", origin=[]> (%0) (%arg2: tensor<4xf32>) {
      mpmd.return %arg2 : tensor<4xf32>
    } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    %2:2 = mpmd.for (%arg0, %arg1) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%arg2: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %arg3: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %index: tensor<ui32>) {
      mpmd.return %arg2, %arg3 : !mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    } : !mpmd.mesh_tensor<"m1", tensor<4xf32>>, !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    %3 = mpmd.fragment_call<mesh="m1", origin=["f1"]> @callee(%1) {bar} : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    return %3 : !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  }
  func.func private @callee(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
    return %arg0 : tensor<4xf32>
  }
  func.func @plain(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = mpmd.named_computation<"n"(2)> (%arg0) (%arg2: tensor<4xf32>) {
      mpmd.return %arg2 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %1 = mpmd.reduce<add> %0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
