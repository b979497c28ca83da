module {
  func.func @main(%arg0: i1, %arg1: tensor<f32>) -> tensor<f32> {
    cf.cond_br %arg0, ^bb1(%arg1 : tensor<f32>), ^bb2
  ^bb1(%0: tensor<f32>):  // pred: ^bb0
    cf.br ^bb3(%0 : tensor<f32>)
  ^bb2:  // pred: ^bb0
    cf.br ^bb3(%arg1 : tensor<f32>)
  ^bb3(%1: tensor<f32>):  // 2 preds: ^bb1, ^bb2
    return %1 : tensor<f32>
  }
}
