/* Fourier transforms of every kind of length: several lines at once, long lines, prime factors that
 * have a loop of their own and those that have none. */
#include "backend_help.h"

enum kind { FORWARD, BACK, FROM_REAL, TO_REAL, KINDS };
static const char *const names[KINDS] = {"FFT", "IFFT", "RFFT", "IRFFT"};

static bool run_fft(struct stet_ref *out, const struct stet_ref *a, enum kind kind,
                    const int64_t *length, uint32_t dims)
{
    const struct stet_ref *in[1] = {a};
    struct text m = {.n = 0};

    put(&m, "<{fft_type = #stablehlo<fft_type %s>, ", names[kind]);
    put_array(&m, "fft_length", length, dims), put(&m, "}>");
    return run_op(out, "fft", m.s, in, 1);
}

/* ---- against the definition ---- */

/* Fills half of a spectrum that real numbers have. */
static struct stet_ref half_of(const struct stet_ref *spectrum)
{
    int64_t dims[2] = {spectrum->shape.dims[0], spectrum->shape.dims[1] / 2 + 1};
    struct stet_ref half = tensor(spectrum->shape.dtype, dims, 2);
    int64_t at[STET_MAX_RANK];

    for (uint64_t i = 0; i < half.shape.elements; i++) {
        stet_ref_index(&half.shape, i, at);
        stet_ref_set(&half, i, stet_ref_get(spectrum, stet_ref_at(&spectrum->shape, at)));
    }
    return half;
}

static void check_rows(int64_t rows, int64_t n, bool wide)
{
    enum stet_dtype real = wide ? STET_DT_F64 : STET_DT_F32, c = wide ? STET_DT_C128 : STET_DT_C64;
    int64_t dims[2] = {rows, n};
    struct stet_ref x = fill(real, dims, 2, false), spectrum = tensor(c, dims, 2);
    struct stet_ref z = fill(c, dims, 2, false), want = tensor(c, dims, 2), got = like(&want, c);
    struct stet_ref half, back = tensor(real, dims, 2), some;

    for (int kind = FORWARD; kind <= BACK; kind++) {
        stet_ref_fourier(&want, &z, 1, kind == BACK ? 1 : -1);
        EXPECT(run_fft(&got, &z, (enum kind)kind, &n, 1) && same(&want, &got, 100, names[kind]));
    }
    stet_ref_fourier(&spectrum, &x, 1, -1);
    half = half_of(&spectrum), some = like(&half, c);
    EXPECT(run_fft(&some, &x, FROM_REAL, &n, 1) && same(&half, &some, 100, "RFFT"));
    EXPECT(run_fft(&back, &half, TO_REAL, &n, 1) && same(&x, &back, 100, "IRFFT"));
    free(x.data), free(spectrum.data), free(z.data), free(want.data), free(got.data);
    free(half.data), free(back.data), free(some.data);
}

TEST(short_lines_agree_with_the_definition)
{
    for (int64_t n = 1; n <= 130; n++)
        check_rows(n % 19 + 1, n, n % 2);
}

TEST(lines_of_every_radix_agree_with_the_definition)
{
    static const int64_t lengths[] = {8 * 9,  16 * 11, 13 * 17, 19 * 4, 23 * 8, 2 * 29, 31 * 5,
                                      37 * 2, 41 * 3,  43 * 2,  47 * 4, 49 * 5, 343,    256};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_rows(17, lengths[i], i % 2);
        check_rows(1, lengths[i], (i + 1) % 2);
    }
}

TEST(lengths_with_large_prime_factors_agree_with_the_definition)
{
    static const int64_t lengths[] = {53, 2 * 53, 59 * 3, 97, 211, 2 * 149, 331};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_rows(18, lengths[i], i % 2);
        check_rows(1, lengths[i], (i + 1) % 2);
    }
}

/* ---- a few elements that are not zero, for lengths where the definition takes too long ---- */

enum { SPIKES = 3 };

/* Lines of zeros with spikes, along dimension 0 of [n, columns] or 1 of [rows, n]. */
static void check_spikes(const int64_t *dims, uint32_t along, enum kind kind, bool wide)
{
    enum stet_dtype t = kind == FROM_REAL ? (wide ? STET_DT_F64 : STET_DT_F32)
                                          : (wide ? STET_DT_C128 : STET_DT_C64);
    enum stet_dtype c = wide ? STET_DT_C128 : STET_DT_C64;
    int64_t n = dims[along], lines = dims[1 - along], out[2] = {dims[0], dims[1]}, length[2];
    struct stet_ref a = tensor(t, dims, 2), want, got;

    out[1] = kind == FROM_REAL ? n / 2 + 1 : out[1];
    want = tensor(c, out, 2), got = like(&want, c);
    for (int64_t line = 0; line < lines; line++) {
        int64_t at[SPIKES] = {line % n, (line + n / 3) % n, n - 1 - line % n};
        struct stet_ref_scalar x[SPIKES];

        for (int s = 0; s < SPIKES; s++) {
            x[s] = (struct stet_ref_scalar){0, (double)pick(1, 9), kind == FROM_REAL ? 0 : 2};
            stet_ref_set(&a, (uint64_t)(along ? line * n + at[s] : at[s] * lines + line), x[s]);
            for (int before = 0; before < s; before++) /* the later one is there */
                x[before].f = at[before] == at[s] ? 0 : x[before].f,
                x[before].im = at[before] == at[s] ? 0 : x[before].im;
        }
        for (int64_t k = 0; k < (along ? out[1] : n); k++) {
            double re = 0, im = 0, scale = kind == BACK ? 1 / (double)n : 1;

            for (int s = 0; s < SPIKES; s++) {
                double turn = 2 * M_PI * (double)(at[s] * k % n) / (double)n;
                double co = cos(turn), si = kind == BACK ? sin(turn) : -sin(turn);

                re += x[s].f * co - x[s].im * si;
                im += x[s].f * si + x[s].im * co;
            }
            stet_ref_set(&want, (uint64_t)(along ? line * out[1] + k : k * lines + line),
                         (struct stet_ref_scalar){0, re * scale, im * scale});
        }
    }
    length[0] = dims[0], length[1] = dims[1];
    if (along == 1) {
        EXPECT(run_fft(&got, &a, kind, length + 1, 1) && same(&want, &got, 30, names[kind]));
    } else { /* over both dimensions, of which the second has one element */
        EXPECT(run_fft(&got, &a, kind, length, 2) && same(&want, &got, 30, names[kind]));
    }
    free(a.data), free(want.data), free(got.data);
}

TEST(long_lines_have_the_transform_of_their_spikes)
{
    static const int64_t lengths[] = {2049, 4096, 4099, 5000, 2 * 2503, 10007, 16384, 30031, 65536};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int kind = FORWARD; kind <= FROM_REAL; kind++)
            for (int64_t rows = 1; rows <= 9; rows += 8)
                check_spikes((int64_t[]){rows, lengths[i]}, 1, (enum kind)kind,
                             (i + (size_t)kind) % 2);
}

TEST(long_columns_have_the_transform_of_their_spikes)
{
    check_spikes((int64_t[]){8193, 1}, 0, FORWARD, false);
    check_spikes((int64_t[]){9000, 1}, 0, BACK, true);
}

/* Back and forth over three dimensions, of which the first is long. */
TEST(long_columns_beside_each_other_return)
{
    int64_t dims[3] = {8200, 2, 3}, half[3] = {8200, 2, 2};
    struct stet_ref x = fill(STET_DT_F64, dims, 3, false), s = tensor(STET_DT_C128, half, 3);
    struct stet_ref back = like(&x, STET_DT_F64), z = fill(STET_DT_C64, dims, 3, false);
    struct stet_ref y = like(&z, STET_DT_C64), w = like(&z, STET_DT_C64);

    EXPECT(run_fft(&s, &x, FROM_REAL, dims, 3) && run_fft(&back, &s, TO_REAL, dims, 3));
    EXPECT(same(&x, &back, 1, "IRFFT of RFFT"));
    EXPECT(run_fft(&y, &z, FORWARD, dims, 3) && run_fft(&w, &y, BACK, dims, 3));
    EXPECT(same(&z, &w, 1, "IFFT of FFT"));
    free(x.data), free(s.data), free(back.data), free(z.data), free(y.data), free(w.data);
}

/* ---- refused ---- */

TEST(a_long_prime_is_refused_without_its_memory)
{
    static const char text[] =
        "module { func.func @main(%a: tensor<2147483629xcomplex<f32>>) -> "
        "tensor<2147483629xcomplex<f32>> { %0 = \"stablehlo.fft\"(%a) <{fft_type = "
        "#stablehlo<fft_type FFT>, fft_length = array<i64: 2147483629>}> : "
        "(tensor<2147483629xcomplex<f32>>) -> tensor<2147483629xcomplex<f32>> return %0 : "
        "tensor<2147483629xcomplex<f32>> } }";
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_plan *plan;

    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_of(text, sizeof text - 1), &err));
    EXPECT_INT(STET_LIMIT, stet_plan_new(&plan, &p, &err));
    EXPECT(strstr(err.text, "prime factor above 47") != NULL);
    stet_program_release(&p);
}
