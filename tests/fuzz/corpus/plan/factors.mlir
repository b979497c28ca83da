module { func.func @main(%a: tensor<2x3x3xcomplex<f32>>) -> (tensor<2x3x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3x3xcomplex<f32>>, tensor<2x3xi32>, tensor<2x3x3xcomplex<f32>>) {
  %0:2 = "stablehlo.custom_call"(%a) <{call_target_name = "Eigh", backend_config = "1,1,100,1e-6"}> : (tensor<2x3x3xcomplex<f32>>) -> (tensor<2x3x3xcomplex<f32>>, tensor<2x3xf32>)
  %1:3 = "stablehlo.custom_call"(%a) <{call_target_name = "LuDecomposition"}> : (tensor<2x3x3xcomplex<f32>>) -> (tensor<2x3x3xcomplex<f32>>, tensor<2x3xi32>, tensor<2x3xi32>)
  %2:2 = "stablehlo.custom_call"(%a) <{call_target_name = "Qr"}> : (tensor<2x3x3xcomplex<f32>>) -> (tensor<2x3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
  %3 = "stablehlo.custom_call"(%2#0, %2#1) <{call_target_name = "ProductOfElementaryHouseholderReflectors"}> : (tensor<2x3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  return %0#0, %0#1, %1#0, %1#1, %3 : tensor<2x3x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3x3xcomplex<f32>>, tensor<2x3xi32>, tensor<2x3x3xcomplex<f32>> } }
