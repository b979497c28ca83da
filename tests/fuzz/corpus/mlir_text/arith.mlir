module {
  func.func @main(%arg0: index, %arg1: f32, %arg2: vector<[4]xi32>) -> i32 {
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant dense<[1, 2]> : vector<2xi32>
    %true = arith.constant true
    %cst_0 = arith.constant {a.x} 1.500000e+00 : f32
    %c-3 = arith.constant -3 : index
    %cst_1 = arith.constant dense<2.000000e+00> : tensor<4xf32>
    %cst_2 = arith.constant dense<7> : vector<[4]xi32>
    %cst_3 = arith.constant 0x7F800000 : f32
    %cst_4 = arith.constant dense<[[1.500000e+00, -0.000000e+00]]> : vector<1x2xbf16>
    %c12_i64 = arith.constant 12 : i64
    %false = arith.constant false
    %0 = arith.addi %c1_i32, %c1_i32 overflow<nsw, nuw> : i32
    %1 = arith.addi %cst_2, %arg2 : vector<[4]xi32>
    %2 = arith.subi %c1_i32, %0 {a.x = 1 : i32} : i32
    %3 = arith.muli %c1_i32, %2 overflow<nuw> : i32
    %4 = arith.addf %arg1, %cst_0 fastmath<nnan,contract> : f32
    %5 = arith.addf %arg1, %cst_0 fastmath<fast> {a.x} : f32
    %6 = arith.addf %arg1, %4 : f32
    %7 = arith.index_cast %arg0 : index to i32
    return %3 : i32
  }
}
