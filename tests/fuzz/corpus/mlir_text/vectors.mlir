#map = affine_map<(d0, d1) -> (d1, d0)>
module @m attributes {a.all = vector<[4]x[8]xbf16>, a.both = memref<4x?xf32, strided<[1, ?], offset: ?>, 2>, a.dense = dense<1.500000e+00> : vector<[4]xf32>, a.dict = memref<f32, {k = 1 : i64}>, a.enum = memref<*xf32, #stablehlo<precision HIGH>>, a.flat = dense<[1, 2]> : vector<2xi32>, a.identity = memref<2x3xf32>, a.m = memref<4xf32, 3>, a.map = memref<4x4xf32, #map>, a.mapped = memref<4x4xf32, #map, 1 : i32>, a.named = memref<*xvector<[2]xi8>, "x">, a.none = vector<f32>, a.space = memref<*xf32, 3>, a.tuple = tuple<vector<[2]xi1>, memref<*xi1>>, a.u = memref<*xf32>, a.v = vector<[4]xf32>, a.w = vector<2x[4]x3x[1]xi8>, a.zero = memref<2xf32>} {
  func.func @main(%arg0: vector<[4]xf32>, %arg1: memref<*xf32>, %arg2: memref<*xf32, 1>, %arg3: memref<8x?xf32, 1>) -> vector<2x[4]xf32> {
    %0 = "other.load"(%arg1, %arg2, %arg3) {t = vector<[16]xi8>} : (memref<*xf32>, memref<*xf32, 1>, memref<8x?xf32, 1>) -> vector<2x[4]xf32>
    return %0 : vector<2x[4]xf32>
  }
}
