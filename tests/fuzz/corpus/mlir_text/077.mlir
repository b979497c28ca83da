#loc2 = loc("-":2:17)
#loc3 = loc("-":2:38)
#loc4 = loc("-":2:59)
#loc5 = loc("-":2:78)
module {
  func.func @main(%arg0: tensor<2x3xf32> loc("-":2:17), %arg1: tensor<3x4xf32> loc("-":2:38), %arg2: tensor<2xi64> loc("-":2:59), %arg3: tensor<3xf32> loc("-":2:78)) -> tensor<2x4xf32> {
    %0 = stablehlo.dot %arg0, %arg1, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc(#loc6)
    return %0 : tensor<2x4xf32> loc(#loc7)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":0:0)
#loc1 = loc("-":2:1)
#loc6 = loc("-":3:8)
#loc7 = loc("-":19:3)
