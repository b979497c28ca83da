/* Tile kernels of pred and the integers. Their twins: ref/elementwise.c. */
#include "backend/kernels/isa.h"

#define T         int8_t
#define U         uint8_t
#define STYPE     int8_t
#define S         s8
#define WIDE      uint32_t
#define BITS      8
#define IS_SIGNED 1
#include "backend/kernels/int_rows.h"

#define T         int16_t
#define U         uint16_t
#define STYPE     int16_t
#define S         s16
#define WIDE      uint32_t
#define BITS      16
#define IS_SIGNED 1
#include "backend/kernels/int_rows.h"

#define T         int32_t
#define U         uint32_t
#define STYPE     int32_t
#define S         s32
#define WIDE      uint32_t
#define BITS      32
#define IS_SIGNED 1
#include "backend/kernels/int_rows.h"

#define T         int64_t
#define U         uint64_t
#define STYPE     int64_t
#define S         s64
#define WIDE      uint64_t
#define BITS      64
#define IS_SIGNED 1
#include "backend/kernels/int_rows.h"

#define T         uint8_t
#define U         uint8_t
#define STYPE     int8_t
#define S         u8
#define WIDE      uint32_t
#define BITS      8
#define IS_SIGNED 0
#include "backend/kernels/int_rows.h"

#define T         uint16_t
#define U         uint16_t
#define STYPE     int16_t
#define S         u16
#define WIDE      uint32_t
#define BITS      16
#define IS_SIGNED 0
#include "backend/kernels/int_rows.h"

#define T         uint32_t
#define U         uint32_t
#define STYPE     int32_t
#define S         u32
#define WIDE      uint32_t
#define BITS      32
#define IS_SIGNED 0
#include "backend/kernels/int_rows.h"

#define T         uint64_t
#define U         uint64_t
#define STYPE     int64_t
#define S         u64
#define WIDE      uint64_t
#define BITS      64
#define IS_SIGNED 0
#include "backend/kernels/int_rows.h"

/* pred: 0 or 1 in a byte; sums are "or", products "and", as in StableHLO. */
UNARY(COPY, pred, uint8_t, uint8_t, x)
BINARY(ADD, pred, uint8_t, uint8_t, x | y)
BINARY(MUL, pred, uint8_t, uint8_t, x &y)
BINARY(XOR, pred, uint8_t, uint8_t, x ^ y)
BINARY(EQ, pred, uint8_t, uint8_t, x == y)
BINARY(LT, pred, uint8_t, uint8_t, x < y)
BINARY(LE, pred, uint8_t, uint8_t, x <= y)
BINARY(GT, pred, uint8_t, uint8_t, x > y)
BINARY(GE, pred, uint8_t, uint8_t, x >= y)
UNARY(NOT, pred, uint8_t, uint8_t, x ^ 1)
SELECT(pred, uint8_t)
CLAMP(pred, uint8_t, PLAIN_LESS)
FOLD(ADD, pred, uint8_t, x | y)
FOLD(MUL, pred, uint8_t, x &y)
FOLD(XOR, pred, uint8_t, x ^ y)

const stet_tile_fn ISA(stet_ops_pred)[STET_TILE_OPS] = {
    OP(COPY, pred),
    OP(ADD, pred),
    OP(MUL, pred),
    OP(XOR, pred),
    OP(EQ, pred),
    OP(LT, pred),
    OP(LE, pred),
    OP(GT, pred),
    OP(GE, pred),
    OP(NOT, pred),
    OP(SELECT, pred),
    OP(CLAMP, pred),
    [STET_TILE_OR] = k_ADD_pred,
    [STET_TILE_MAX] = k_ADD_pred,
    [STET_TILE_AND] = k_MUL_pred,
    [STET_TILE_MIN] = k_MUL_pred,
    [STET_TILE_NE] = k_XOR_pred,
};
const stet_fold_fn ISA(stet_fold_pred)[STET_TILE_OPS] = {
    FOLD_OP(ADD, pred),           FOLD_OP(MUL, pred),           FOLD_OP(XOR, pred),
    [STET_TILE_OR] = f_ADD_pred,  [STET_TILE_MAX] = f_ADD_pred, [STET_TILE_AND] = f_MUL_pred,
    [STET_TILE_MIN] = f_MUL_pred,
};
