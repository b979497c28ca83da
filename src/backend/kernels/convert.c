/* Conversions between element types: to pred is "not zero"; floats to integers saturate and NaN
 * becomes 0 (as in XLA); integers wrap; complex drops its imaginary part. Also the conversions
 * between memory and registers. Twins: ref/elementwise.c. */
#include "backend/kernels/isa.h"
#include "backend/kernels/vmath.h"

#include <complex.h>

/* clang-format off */
/* The bound as a float may round up to one past the largest integer, hence >=. */
#define SATURATE(x, T, LOW, HIGH, F) \
    ((x) != (x) ? (T)0 : (x) <= (F)(LOW) ? (LOW) : (x) >= (F)(HIGH) ? (HIGH) : (T)(x))
UNARY(PRED, from_pred, uint8_t, uint8_t, x != 0)
UNARY(S8, from_pred, int8_t, uint8_t, x)
UNARY(S16, from_pred, int16_t, uint8_t, x)
UNARY(S32, from_pred, int32_t, uint8_t, x)
UNARY(S64, from_pred, int64_t, uint8_t, x)
UNARY(U8, from_pred, uint8_t, uint8_t, x)
UNARY(U16, from_pred, uint16_t, uint8_t, x)
UNARY(U32, from_pred, uint32_t, uint8_t, x)
UNARY(U64, from_pred, uint64_t, uint8_t, x)
UNARY(F32, from_pred, float, uint8_t, x)
UNARY(F64, from_pred, double, uint8_t, x)
UNARY(C64, from_pred, float complex, uint8_t, x)
UNARY(C128, from_pred, double complex, uint8_t, x)
UNARY(PRED, from_s8, uint8_t, int8_t, x != 0)
UNARY(S8, from_s8, int8_t, int8_t, x)
UNARY(S16, from_s8, int16_t, int8_t, x)
UNARY(S32, from_s8, int32_t, int8_t, x)
UNARY(S64, from_s8, int64_t, int8_t, x)
UNARY(U8, from_s8, uint8_t, int8_t, x)
UNARY(U16, from_s8, uint16_t, int8_t, x)
UNARY(U32, from_s8, uint32_t, int8_t, x)
UNARY(U64, from_s8, uint64_t, int8_t, x)
UNARY(F32, from_s8, float, int8_t, x)
UNARY(F64, from_s8, double, int8_t, x)
UNARY(C64, from_s8, float complex, int8_t, x)
UNARY(C128, from_s8, double complex, int8_t, x)
UNARY(PRED, from_s16, uint8_t, int16_t, x != 0)
UNARY(S8, from_s16, int8_t, int16_t, x)
UNARY(S16, from_s16, int16_t, int16_t, x)
UNARY(S32, from_s16, int32_t, int16_t, x)
UNARY(S64, from_s16, int64_t, int16_t, x)
UNARY(U8, from_s16, uint8_t, int16_t, x)
UNARY(U16, from_s16, uint16_t, int16_t, x)
UNARY(U32, from_s16, uint32_t, int16_t, x)
UNARY(U64, from_s16, uint64_t, int16_t, x)
UNARY(F32, from_s16, float, int16_t, x)
UNARY(F64, from_s16, double, int16_t, x)
UNARY(C64, from_s16, float complex, int16_t, x)
UNARY(C128, from_s16, double complex, int16_t, x)
UNARY(PRED, from_s32, uint8_t, int32_t, x != 0)
UNARY(S8, from_s32, int8_t, int32_t, x)
UNARY(S16, from_s32, int16_t, int32_t, x)
UNARY(S32, from_s32, int32_t, int32_t, x)
UNARY(S64, from_s32, int64_t, int32_t, x)
UNARY(U8, from_s32, uint8_t, int32_t, x)
UNARY(U16, from_s32, uint16_t, int32_t, x)
UNARY(U32, from_s32, uint32_t, int32_t, x)
UNARY(U64, from_s32, uint64_t, int32_t, x)
UNARY(F32, from_s32, float, int32_t, x)
UNARY(F64, from_s32, double, int32_t, x)
UNARY(C64, from_s32, float complex, int32_t, x)
UNARY(C128, from_s32, double complex, int32_t, x)
UNARY(PRED, from_s64, uint8_t, int64_t, x != 0)
UNARY(S8, from_s64, int8_t, int64_t, x)
UNARY(S16, from_s64, int16_t, int64_t, x)
UNARY(S32, from_s64, int32_t, int64_t, x)
UNARY(S64, from_s64, int64_t, int64_t, x)
UNARY(U8, from_s64, uint8_t, int64_t, x)
UNARY(U16, from_s64, uint16_t, int64_t, x)
UNARY(U32, from_s64, uint32_t, int64_t, x)
UNARY(U64, from_s64, uint64_t, int64_t, x)
UNARY(F32, from_s64, float, int64_t, x)
UNARY(F64, from_s64, double, int64_t, x)
UNARY(C64, from_s64, float complex, int64_t, x)
UNARY(C128, from_s64, double complex, int64_t, x)
UNARY(PRED, from_u8, uint8_t, uint8_t, x != 0)
UNARY(S8, from_u8, int8_t, uint8_t, x)
UNARY(S16, from_u8, int16_t, uint8_t, x)
UNARY(S32, from_u8, int32_t, uint8_t, x)
UNARY(S64, from_u8, int64_t, uint8_t, x)
UNARY(U8, from_u8, uint8_t, uint8_t, x)
UNARY(U16, from_u8, uint16_t, uint8_t, x)
UNARY(U32, from_u8, uint32_t, uint8_t, x)
UNARY(U64, from_u8, uint64_t, uint8_t, x)
UNARY(F32, from_u8, float, uint8_t, x)
UNARY(F64, from_u8, double, uint8_t, x)
UNARY(C64, from_u8, float complex, uint8_t, x)
UNARY(C128, from_u8, double complex, uint8_t, x)
UNARY(PRED, from_u16, uint8_t, uint16_t, x != 0)
UNARY(S8, from_u16, int8_t, uint16_t, x)
UNARY(S16, from_u16, int16_t, uint16_t, x)
UNARY(S32, from_u16, int32_t, uint16_t, x)
UNARY(S64, from_u16, int64_t, uint16_t, x)
UNARY(U8, from_u16, uint8_t, uint16_t, x)
UNARY(U16, from_u16, uint16_t, uint16_t, x)
UNARY(U32, from_u16, uint32_t, uint16_t, x)
UNARY(U64, from_u16, uint64_t, uint16_t, x)
UNARY(F32, from_u16, float, uint16_t, x)
UNARY(F64, from_u16, double, uint16_t, x)
UNARY(C64, from_u16, float complex, uint16_t, x)
UNARY(C128, from_u16, double complex, uint16_t, x)
UNARY(PRED, from_u32, uint8_t, uint32_t, x != 0)
UNARY(S8, from_u32, int8_t, uint32_t, x)
UNARY(S16, from_u32, int16_t, uint32_t, x)
UNARY(S32, from_u32, int32_t, uint32_t, x)
UNARY(S64, from_u32, int64_t, uint32_t, x)
UNARY(U8, from_u32, uint8_t, uint32_t, x)
UNARY(U16, from_u32, uint16_t, uint32_t, x)
UNARY(U32, from_u32, uint32_t, uint32_t, x)
UNARY(U64, from_u32, uint64_t, uint32_t, x)
UNARY(F32, from_u32, float, uint32_t, x)
UNARY(F64, from_u32, double, uint32_t, x)
UNARY(C64, from_u32, float complex, uint32_t, x)
UNARY(C128, from_u32, double complex, uint32_t, x)
UNARY(PRED, from_u64, uint8_t, uint64_t, x != 0)
UNARY(S8, from_u64, int8_t, uint64_t, x)
UNARY(S16, from_u64, int16_t, uint64_t, x)
UNARY(S32, from_u64, int32_t, uint64_t, x)
UNARY(S64, from_u64, int64_t, uint64_t, x)
UNARY(U8, from_u64, uint8_t, uint64_t, x)
UNARY(U16, from_u64, uint16_t, uint64_t, x)
UNARY(U32, from_u64, uint32_t, uint64_t, x)
UNARY(U64, from_u64, uint64_t, uint64_t, x)
UNARY(F32, from_u64, float, uint64_t, x)
UNARY(F64, from_u64, double, uint64_t, x)
UNARY(C64, from_u64, float complex, uint64_t, x)
UNARY(C128, from_u64, double complex, uint64_t, x)
UNARY(PRED, from_f32, uint8_t, float, x != 0)
UNARY(S8, from_f32, int8_t, float, SATURATE(x, int8_t, INT8_MIN, INT8_MAX, float))
UNARY(S16, from_f32, int16_t, float, SATURATE(x, int16_t, INT16_MIN, INT16_MAX, float))
UNARY(S32, from_f32, int32_t, float, SATURATE(x, int32_t, INT32_MIN, INT32_MAX, float))
UNARY(S64, from_f32, int64_t, float, SATURATE(x, int64_t, INT64_MIN, INT64_MAX, float))
UNARY(U8, from_f32, uint8_t, float, SATURATE(x, uint8_t, 0, UINT8_MAX, float))
UNARY(U16, from_f32, uint16_t, float, SATURATE(x, uint16_t, 0, UINT16_MAX, float))
UNARY(U32, from_f32, uint32_t, float, SATURATE(x, uint32_t, 0, UINT32_MAX, float))
UNARY(U64, from_f32, uint64_t, float, SATURATE(x, uint64_t, 0, UINT64_MAX, float))
UNARY(F32, from_f32, float, float, x)
UNARY(F64, from_f32, double, float, x)
UNARY(C64, from_f32, float complex, float, x)
UNARY(C128, from_f32, double complex, float, x)
UNARY(PRED, from_f64, uint8_t, double, x != 0)
UNARY(S8, from_f64, int8_t, double, SATURATE(x, int8_t, INT8_MIN, INT8_MAX, double))
UNARY(S16, from_f64, int16_t, double, SATURATE(x, int16_t, INT16_MIN, INT16_MAX, double))
UNARY(S32, from_f64, int32_t, double, SATURATE(x, int32_t, INT32_MIN, INT32_MAX, double))
UNARY(S64, from_f64, int64_t, double, SATURATE(x, int64_t, INT64_MIN, INT64_MAX, double))
UNARY(U8, from_f64, uint8_t, double, SATURATE(x, uint8_t, 0, UINT8_MAX, double))
UNARY(U16, from_f64, uint16_t, double, SATURATE(x, uint16_t, 0, UINT16_MAX, double))
UNARY(U32, from_f64, uint32_t, double, SATURATE(x, uint32_t, 0, UINT32_MAX, double))
UNARY(U64, from_f64, uint64_t, double, SATURATE(x, uint64_t, 0, UINT64_MAX, double))
UNARY(F32, from_f64, float, double, x)
UNARY(F64, from_f64, double, double, x)
UNARY(C64, from_f64, float complex, double, x)
UNARY(C128, from_f64, double complex, double, x)
UNARY(PRED, from_c64, uint8_t, float complex, crealf(x) != 0)
UNARY(S8, from_c64, int8_t, float complex, SATURATE(crealf(x), int8_t, INT8_MIN, INT8_MAX, float))
UNARY(S16, from_c64, int16_t, float complex, SATURATE(crealf(x), int16_t, INT16_MIN, INT16_MAX, float))
UNARY(S32, from_c64, int32_t, float complex, SATURATE(crealf(x), int32_t, INT32_MIN, INT32_MAX, float))
UNARY(S64, from_c64, int64_t, float complex, SATURATE(crealf(x), int64_t, INT64_MIN, INT64_MAX, float))
UNARY(U8, from_c64, uint8_t, float complex, SATURATE(crealf(x), uint8_t, 0, UINT8_MAX, float))
UNARY(U16, from_c64, uint16_t, float complex, SATURATE(crealf(x), uint16_t, 0, UINT16_MAX, float))
UNARY(U32, from_c64, uint32_t, float complex, SATURATE(crealf(x), uint32_t, 0, UINT32_MAX, float))
UNARY(U64, from_c64, uint64_t, float complex, SATURATE(crealf(x), uint64_t, 0, UINT64_MAX, float))
UNARY(F32, from_c64, float, float complex, crealf(x))
UNARY(F64, from_c64, double, float complex, crealf(x))
UNARY(C64, from_c64, float complex, float complex, x)
UNARY(C128, from_c64, double complex, float complex, x)
UNARY(PRED, from_c128, uint8_t, double complex, creal(x) != 0)
UNARY(S8, from_c128, int8_t, double complex, SATURATE(creal(x), int8_t, INT8_MIN, INT8_MAX, double))
UNARY(S16, from_c128, int16_t, double complex, SATURATE(creal(x), int16_t, INT16_MIN, INT16_MAX, double))
UNARY(S32, from_c128, int32_t, double complex, SATURATE(creal(x), int32_t, INT32_MIN, INT32_MAX, double))
UNARY(S64, from_c128, int64_t, double complex, SATURATE(creal(x), int64_t, INT64_MIN, INT64_MAX, double))
UNARY(U8, from_c128, uint8_t, double complex, SATURATE(creal(x), uint8_t, 0, UINT8_MAX, double))
UNARY(U16, from_c128, uint16_t, double complex, SATURATE(creal(x), uint16_t, 0, UINT16_MAX, double))
UNARY(U32, from_c128, uint32_t, double complex, SATURATE(creal(x), uint32_t, 0, UINT32_MAX, double))
UNARY(U64, from_c128, uint64_t, double complex, SATURATE(creal(x), uint64_t, 0, UINT64_MAX, double))
UNARY(F32, from_c128, float, double complex, creal(x))
UNARY(F64, from_c128, double, double complex, creal(x))
UNARY(C64, from_c128, float complex, double complex, x)
UNARY(C128, from_c128, double complex, double complex, x)
const stet_tile_fn ISA(stet_convert_pred)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_pred, [STET_DT_S8] = k_S8_from_pred, [STET_DT_S16] = k_S16_from_pred, [STET_DT_S32] = k_S32_from_pred, [STET_DT_S64] = k_S64_from_pred, [STET_DT_U8] = k_U8_from_pred, [STET_DT_U16] = k_U16_from_pred, [STET_DT_U32] = k_U32_from_pred, [STET_DT_U64] = k_U64_from_pred, [STET_DT_F32] = k_F32_from_pred, [STET_DT_F64] = k_F64_from_pred, [STET_DT_C64] = k_C64_from_pred, [STET_DT_C128] = k_C128_from_pred,
};
const stet_tile_fn ISA(stet_convert_s8)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_s8, [STET_DT_S8] = k_S8_from_s8, [STET_DT_S16] = k_S16_from_s8, [STET_DT_S32] = k_S32_from_s8, [STET_DT_S64] = k_S64_from_s8, [STET_DT_U8] = k_U8_from_s8, [STET_DT_U16] = k_U16_from_s8, [STET_DT_U32] = k_U32_from_s8, [STET_DT_U64] = k_U64_from_s8, [STET_DT_F32] = k_F32_from_s8, [STET_DT_F64] = k_F64_from_s8, [STET_DT_C64] = k_C64_from_s8, [STET_DT_C128] = k_C128_from_s8,
};
const stet_tile_fn ISA(stet_convert_s16)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_s16, [STET_DT_S8] = k_S8_from_s16, [STET_DT_S16] = k_S16_from_s16, [STET_DT_S32] = k_S32_from_s16, [STET_DT_S64] = k_S64_from_s16, [STET_DT_U8] = k_U8_from_s16, [STET_DT_U16] = k_U16_from_s16, [STET_DT_U32] = k_U32_from_s16, [STET_DT_U64] = k_U64_from_s16, [STET_DT_F32] = k_F32_from_s16, [STET_DT_F64] = k_F64_from_s16, [STET_DT_C64] = k_C64_from_s16, [STET_DT_C128] = k_C128_from_s16,
};
const stet_tile_fn ISA(stet_convert_s32)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_s32, [STET_DT_S8] = k_S8_from_s32, [STET_DT_S16] = k_S16_from_s32, [STET_DT_S32] = k_S32_from_s32, [STET_DT_S64] = k_S64_from_s32, [STET_DT_U8] = k_U8_from_s32, [STET_DT_U16] = k_U16_from_s32, [STET_DT_U32] = k_U32_from_s32, [STET_DT_U64] = k_U64_from_s32, [STET_DT_F32] = k_F32_from_s32, [STET_DT_F64] = k_F64_from_s32, [STET_DT_C64] = k_C64_from_s32, [STET_DT_C128] = k_C128_from_s32,
};
const stet_tile_fn ISA(stet_convert_s64)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_s64, [STET_DT_S8] = k_S8_from_s64, [STET_DT_S16] = k_S16_from_s64, [STET_DT_S32] = k_S32_from_s64, [STET_DT_S64] = k_S64_from_s64, [STET_DT_U8] = k_U8_from_s64, [STET_DT_U16] = k_U16_from_s64, [STET_DT_U32] = k_U32_from_s64, [STET_DT_U64] = k_U64_from_s64, [STET_DT_F32] = k_F32_from_s64, [STET_DT_F64] = k_F64_from_s64, [STET_DT_C64] = k_C64_from_s64, [STET_DT_C128] = k_C128_from_s64,
};
const stet_tile_fn ISA(stet_convert_u8)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_u8, [STET_DT_S8] = k_S8_from_u8, [STET_DT_S16] = k_S16_from_u8, [STET_DT_S32] = k_S32_from_u8, [STET_DT_S64] = k_S64_from_u8, [STET_DT_U8] = k_U8_from_u8, [STET_DT_U16] = k_U16_from_u8, [STET_DT_U32] = k_U32_from_u8, [STET_DT_U64] = k_U64_from_u8, [STET_DT_F32] = k_F32_from_u8, [STET_DT_F64] = k_F64_from_u8, [STET_DT_C64] = k_C64_from_u8, [STET_DT_C128] = k_C128_from_u8,
};
const stet_tile_fn ISA(stet_convert_u16)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_u16, [STET_DT_S8] = k_S8_from_u16, [STET_DT_S16] = k_S16_from_u16, [STET_DT_S32] = k_S32_from_u16, [STET_DT_S64] = k_S64_from_u16, [STET_DT_U8] = k_U8_from_u16, [STET_DT_U16] = k_U16_from_u16, [STET_DT_U32] = k_U32_from_u16, [STET_DT_U64] = k_U64_from_u16, [STET_DT_F32] = k_F32_from_u16, [STET_DT_F64] = k_F64_from_u16, [STET_DT_C64] = k_C64_from_u16, [STET_DT_C128] = k_C128_from_u16,
};
const stet_tile_fn ISA(stet_convert_u32)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_u32, [STET_DT_S8] = k_S8_from_u32, [STET_DT_S16] = k_S16_from_u32, [STET_DT_S32] = k_S32_from_u32, [STET_DT_S64] = k_S64_from_u32, [STET_DT_U8] = k_U8_from_u32, [STET_DT_U16] = k_U16_from_u32, [STET_DT_U32] = k_U32_from_u32, [STET_DT_U64] = k_U64_from_u32, [STET_DT_F32] = k_F32_from_u32, [STET_DT_F64] = k_F64_from_u32, [STET_DT_C64] = k_C64_from_u32, [STET_DT_C128] = k_C128_from_u32,
};
const stet_tile_fn ISA(stet_convert_u64)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_u64, [STET_DT_S8] = k_S8_from_u64, [STET_DT_S16] = k_S16_from_u64, [STET_DT_S32] = k_S32_from_u64, [STET_DT_S64] = k_S64_from_u64, [STET_DT_U8] = k_U8_from_u64, [STET_DT_U16] = k_U16_from_u64, [STET_DT_U32] = k_U32_from_u64, [STET_DT_U64] = k_U64_from_u64, [STET_DT_F32] = k_F32_from_u64, [STET_DT_F64] = k_F64_from_u64, [STET_DT_C64] = k_C64_from_u64, [STET_DT_C128] = k_C128_from_u64,
};
const stet_tile_fn ISA(stet_convert_f32)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_f32, [STET_DT_S8] = k_S8_from_f32, [STET_DT_S16] = k_S16_from_f32, [STET_DT_S32] = k_S32_from_f32, [STET_DT_S64] = k_S64_from_f32, [STET_DT_U8] = k_U8_from_f32, [STET_DT_U16] = k_U16_from_f32, [STET_DT_U32] = k_U32_from_f32, [STET_DT_U64] = k_U64_from_f32, [STET_DT_F32] = k_F32_from_f32, [STET_DT_F64] = k_F64_from_f32, [STET_DT_C64] = k_C64_from_f32, [STET_DT_C128] = k_C128_from_f32,
};
const stet_tile_fn ISA(stet_convert_f64)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_f64, [STET_DT_S8] = k_S8_from_f64, [STET_DT_S16] = k_S16_from_f64, [STET_DT_S32] = k_S32_from_f64, [STET_DT_S64] = k_S64_from_f64, [STET_DT_U8] = k_U8_from_f64, [STET_DT_U16] = k_U16_from_f64, [STET_DT_U32] = k_U32_from_f64, [STET_DT_U64] = k_U64_from_f64, [STET_DT_F32] = k_F32_from_f64, [STET_DT_F64] = k_F64_from_f64, [STET_DT_C64] = k_C64_from_f64, [STET_DT_C128] = k_C128_from_f64,
};
const stet_tile_fn ISA(stet_convert_c64)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_c64, [STET_DT_S8] = k_S8_from_c64, [STET_DT_S16] = k_S16_from_c64, [STET_DT_S32] = k_S32_from_c64, [STET_DT_S64] = k_S64_from_c64, [STET_DT_U8] = k_U8_from_c64, [STET_DT_U16] = k_U16_from_c64, [STET_DT_U32] = k_U32_from_c64, [STET_DT_U64] = k_U64_from_c64, [STET_DT_F32] = k_F32_from_c64, [STET_DT_F64] = k_F64_from_c64, [STET_DT_C64] = k_C64_from_c64, [STET_DT_C128] = k_C128_from_c64,
};
const stet_tile_fn ISA(stet_convert_c128)[STET_DT_COUNT] = {
    [STET_DT_PRED] = k_PRED_from_c128, [STET_DT_S8] = k_S8_from_c128, [STET_DT_S16] = k_S16_from_c128, [STET_DT_S32] = k_S32_from_c128, [STET_DT_S64] = k_S64_from_c128, [STET_DT_U8] = k_U8_from_c128, [STET_DT_U16] = k_U16_from_c128, [STET_DT_U32] = k_U32_from_c128, [STET_DT_U64] = k_U64_from_c128, [STET_DT_F32] = k_F32_from_c128, [STET_DT_F64] = k_F64_from_c128, [STET_DT_C64] = k_C64_from_c128, [STET_DT_C128] = k_C128_from_c128,
};
/* clang-format on */

/* ---- the set ---- */

#define ROW(S) [STET_DT_##S]
#define ALL(M)                                                                                     \
    ROW(PRED) = M(pred), ROW(S8) = M(s8), ROW(S16) = M(s16), ROW(S32) = M(s32), ROW(S64) = M(s64), \
    ROW(U8) = M(u8), ROW(U16) = M(u16), ROW(U32) = M(u32), ROW(U64) = M(u64), ROW(F32) = M(f32),   \
    ROW(F64) = M(f64), ROW(C64) = M(c64), ROW(C128) = M(c128)
#define OPS(s)     ISA(stet_ops_##s)
#define FOLDS(s)   ISA(stet_fold_##s)
#define CONVERT(s) ISA(stet_convert_##s)

const struct stet_tile_set ISA(stet_tile_set) = {
    .ops = {ALL(OPS)},
    .convert = {ALL(CONVERT)},
    .fold = {ALL(FOLDS)},
    .halves = ISA(stet_halves),
    .load = ISA(stet_load),
    .store = ISA(stet_store),
    .round = ISA(stet_round),
    .f64_to_odd_f32 = ISA(stet_f64_to_odd_f32),
    .gemm = ISA(stet_gemms),
    .gemm_lines = ISA(stet_gemm_lines),
    .gemm_narrow = &ISA(stet_gemm_narrow),
    .channels = &ISA(stet_channels),
    .fft = ISA(stet_ffts),
    .moves = ISA(stet_moves),
    .count = ISA(stet_counts),
};
