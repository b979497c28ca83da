module @m attributes {a.all = vector<[4]x[8]xbf16>, a.dense = dense<1.500000e+00> : vector<[4]xf32>, a.flat = dense<[1, 2]> : vector<2xi32>, a.none = vector<f32>, a.tuple = tuple<vector<[2]xi1>, memref<*xi1>>, a.w = vector<2x[4]x3x[1]xi8>} {
  func.func @main(%arg0: vector<[4]xf32>, %arg1: vector<4x[4]xf32>) -> vector<2x[4]xf32> {
    %0 = "other.add"(%arg0, %arg1) {t = vector<[16]xi8>} : (vector<[4]xf32>, vector<4x[4]xf32>) -> vector<2x[4]xf32>
    return %0 : vector<2x[4]xf32>
  }
}
