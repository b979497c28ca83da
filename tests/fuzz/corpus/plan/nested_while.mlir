module { func.func @main(%a: tensor<4x3xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<4x3xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<4x3xf32>
    cond { %k = stablehlo.constant dense<5> : tensor<i32> %c = stablehlo.compare LT, %i, %k : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }
    do { %r = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 1] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
      %1:2 = stablehlo.while(%j = %i, %y = %x) : tensor<i32>, tensor<4x3xf32>
        cond { %k = stablehlo.constant dense<7> : tensor<i32> %c = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }
        do { %u = stablehlo.dynamic_update_slice %y, %r, %j, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
          %v = stablehlo.add %u, %y : tensor<4x3xf32> %j1 = stablehlo.add %j, %one : tensor<i32> stablehlo.return %j1, %v : tensor<i32>, tensor<4x3xf32> }
      %i1 = stablehlo.add %i, %one : tensor<i32> stablehlo.return %i1, %1#1 : tensor<i32>, tensor<4x3xf32> }
  return %0#0, %0#1 : tensor<i32>, tensor<4x3xf32> } }
