module @talk {
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %turns = stablehlo.constant dense<3> : tensor<i32>
  %t = stablehlo.create_token : !stablehlo.token
  %w = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %a = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.create_token : !stablehlo.token
    %v = "stablehlo.send"(%a, %u) <{channel_handle = #stablehlo.channel_handle<handle = 7,
      type = 2>, is_host_transfer = true}> : (tensor<i32>, !stablehlo.token)
      -> !stablehlo.token
    stablehlo.return %a : tensor<i32>
  }
  %y = stablehlo.add %x, %x : tensor<3xf32>
  %s = "stablehlo.send"(%y, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1,
    type = 2>, is_host_transfer = true}> : (tensor<3xf32>, !stablehlo.token)
    -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 2,
    type = 3>, is_host_transfer = true}> : (!stablehlo.token)
    -> (tensor<3xf32>, !stablehlo.token)
  %z = stablehlo.negate %r#0 : tensor<3xf32>
  return %z : tensor<3xf32>
}
}
