/* Facts about numbers as the shortest decimals that read back. */
#include "test.h"

#include "fingerprint/scalar.h"
#include "program/build.h"

#include <math.h>
#include <stdlib.h>

static const char *show(const struct stet_type *t, const void *bytes, size_t size)
{
    static char text[4][STET_SCALAR_TEXT];
    static int turn;
    struct stet_scalar s;
    char *out = text[turn++ & 3];

    if (!stet_scalar_read(&s, t, stet_view_of(bytes, size)))
        return "unreadable";
    stet_scalar_format(&s, out);
    return out;
}

static const char *f32(float v)
{
    return show(stet_type_float(STET_F32), &v, sizeof v);
}

static const char *f64(double v)
{
    return show(stet_type_float(STET_F64), &v, sizeof v);
}

static const char *bf16(float v)
{
    uint32_t bits;
    uint16_t half;

    memcpy(&bits, &v, sizeof bits);
    half = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    return show(stet_type_float(STET_BF16), &half, sizeof half);
}

static const char *integer(int64_t v, uint32_t width, enum stet_sign sign)
{
    return show(stet_type_integer(NULL, width, sign), &v, width < 8 ? 1 : width / 8);
}

TEST(literals_print_as_they_were_written)
{
    EXPECT_STR("0.001", f32(0.001f));
    EXPECT_STR("0.000999", f32(9.99e-4f));
    EXPECT_STR("1", f32(1));
    EXPECT_STR("-0", f32(-0.0f));
    EXPECT_STR("100", f32(100));
    EXPECT_STR("0.5", f32(0.5f));
    EXPECT_STR("-1e+30", f32(-1e30f));
    EXPECT_STR("3.4028235e+38", f32(3.4028235e38f));
    EXPECT_STR("1e-45", f32(1e-45f));
    EXPECT_STR("inf", f32(INFINITY));
    EXPECT_STR("-inf", f32(-INFINITY));
    EXPECT_STR("nan", f32(NAN));
    EXPECT_STR("0.1", f64(0.1));
    EXPECT_STR("123456.789", f64(123456.789));
    EXPECT_STR("0.30000000000000004", f64(0.1 + 0.2));
}

TEST(a_literal_is_the_same_in_every_type_that_holds_it)
{
    EXPECT_STR("0.001", bf16(0.001f));
    EXPECT_STR("3000", bf16(3000));
    EXPECT_STR("0.7", bf16(0.7f));
    EXPECT_STR("0.7", f64(0.7));
    EXPECT_STR("3000", integer(3000, 32, STET_SIGNLESS));
}

TEST(huge_numbers_stay_apart)
{
    EXPECT_STR("1e+60", f64(1e60));
    EXPECT_STR("1e+100", f64(1e100));
    EXPECT_STR("2e+100", f64(2e100));
    EXPECT_STR("1.7976931348623157e+308", f64(1.7976931348623157e308));
}

TEST(integers_print_exactly)
{
    EXPECT_STR("-1", integer(-1, 32, STET_SIGNLESS));
    EXPECT_STR("4294967295", integer(-1, 32, STET_UNSIGNED));
    EXPECT_STR("1", integer(1, 1, STET_SIGNLESS));
    EXPECT_STR("-8", integer(8, 4, STET_SIGNLESS));
    EXPECT_STR("-9223372036854775808", integer(INT64_MIN, 64, STET_SIGNLESS));
    EXPECT_STR("18446744073709551615", integer(-1, 64, STET_UNSIGNED));
}

/* Every float prints so that strtof gives it back, and distinct floats print distinctly. */
TEST(any_float_reads_back_as_itself)
{
    uint32_t bits = 1;

    for (int i = 0; i < 200000; i++) {
        float v;

        bits = bits * 1664525u + 1013904223u;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        if (strtof(f32(v), NULL) != v) {
            EXPECT_STR("to read back", f32(v));
            break;
        }
    }
}

TEST(small_formats_decode)
{
    unsigned char one_e4m3 = 0x38, max_e4m3fn = 0x7e, nan_e4m3fn = 0x7f, e8m0 = 128;

    EXPECT_STR("1", show(stet_type_float(STET_F8E4M3FN), &one_e4m3, 1));
    EXPECT_STR("450", show(stet_type_float(STET_F8E4M3FN), &max_e4m3fn, 1)); /* 448, shortest */
    EXPECT_STR("nan", show(stet_type_float(STET_F8E4M3FN), &nan_e4m3fn, 1));
    EXPECT_STR("2", show(stet_type_float(STET_F8E8M0FNU), &e8m0, 1));
}

static double decimal(float v)
{
    struct stet_scalar s;
    double out = -1;

    EXPECT(stet_scalar_read(&s, stet_type_float(STET_F32), stet_view_of((char *)&v, sizeof v)));
    EXPECT(isnan(v) ? !stet_scalar_decimal(&s, &out) : stet_scalar_decimal(&s, &out));
    return out;
}

TEST(the_number_that_was_written_is_found_again)
{
    static const double written[] = {0, 1, -8, 0.05, -0.05, 0.1, 1e-30, 3e38, 16777216, 0.7};

    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        EXPECT(decimal((float)written[i]) == written[i]);
    EXPECT(decimal(INFINITY) > 1e308 && decimal(-INFINITY) < -1e308);
    EXPECT(decimal(NAN) == -1);
}
