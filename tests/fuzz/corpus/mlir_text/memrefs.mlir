#map = affine_map<(d0, d1) -> (d1, d0)>
module @m attributes {a.both = memref<4x?xf32, strided<[1, ?], offset: ?>, 2>, a.dict = memref<f32, {k = 1 : i64}>, a.enum = memref<*xf32, #stablehlo<precision HIGH>>, a.identity = memref<2x3xf32>, a.map = memref<4x4xf32, #map>, a.mapped = memref<4x4xf32, #map, 1 : i32>, a.zero = memref<2xf32>} {
  func.func @main(%arg0: memref<*xf32>, %arg1: memref<*xf32, 3>, %arg2: memref<8x?xf32, 1>) -> memref<*xvector<[2]xi8>, "x"> {
    %0 = "other.view"(%arg0, %arg1, %arg2) : (memref<*xf32>, memref<*xf32, 3>, memref<8x?xf32, 1>) -> memref<*xvector<[2]xi8>, "x">
    return %0 : memref<*xvector<[2]xi8>, "x">
  }
}
