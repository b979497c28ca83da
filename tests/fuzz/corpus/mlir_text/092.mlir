module @m attributes {a.arr = array<i32: 1, -2>, a.big = 123456789012345678901234567890 : i128, a.bo = array<i1: true, false>, a.c = complex<f32>, a.d = {}, a.e = [], a.f = 1.500000e+00 : f64, a.fl = array<f32: 1.500000e+00, 1.000000e-01>, a.fn = (i32, f32) -> (), a.h = 0x7FC0 : bf16, a.i = 5 : i8, a.i4 = dense<[1, -8, 7]> : tensor<3xi4>, a.idx = dense<[1, 2]> : tensor<2xindex>, a.n = -3 : i64, a.no = none, a.s = "t", a.str = dense<["a", "b"]> : tensor<2x!a.string>, a.t = tensor<?x2xf32>, a.tup = tuple<i1, tuple<>>, a.u = 200 : ui8, a.u64 = dense<18446744073709551615> : tensor<1xui64>, a.unit, a.unr = tensor<*xf32>, a.vec = vector<2x3xf32>, a.x = 4 : index, a.y = @sym::@nested} {
  func.func @main() {
    return
  }
}
