module {
  func.func @main(%arg0: !stablehlo.token, %arg1: tensor<2xf32>) -> !stablehlo.token {
    %0 = stablehlo.tuple %arg1, %arg1 : tuple<tensor<2xf32>, tensor<2xf32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
    %2 = stablehlo.create_token : !stablehlo.token
    %3 = stablehlo.after_all %arg0, %2 : !stablehlo.token
    %4:2 = "stablehlo.infeed"(%3) <{infeed_config = "c", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %5 = "stablehlo.outfeed"(%4#0, %4#1) <{outfeed_config = ""}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %6 = "stablehlo.send"(%1, %5) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %7:2 = "stablehlo.recv"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    return %7#1 : !stablehlo.token
  }
}
