/* The factorisations of one matrix of one type. k_factor.c includes this file with T (the element),
 * R (its real part), S (the suffix), and ABS, SQRT, CONJ and REAL of it. */
#define F_(name, suffix) name##_##suffix
#define F2(name, suffix) F_(name, suffix)
#define F(name)          F2(name, S)

/* Rows are exchanged so that the largest remaining element of a column is on the diagonal; a column
 * of zeros is left unchanged. */
static void F(lu)(T *a, int64_t rows, int64_t cols, int32_t *pivots, int32_t *order)
{
    for (int64_t i = 0; i < rows; i++)
        order[i] = (int32_t)i;
    for (int64_t k = 0; k < rows && k < cols; k++) {
        int64_t p = k;

        for (int64_t i = k + 1; i < rows; i++)
            p = ABS(a[i * cols + k]) > ABS(a[p * cols + k]) ? i : p;
        pivots[k] = (int32_t)p;
        if (p != k) {
            int32_t t = order[k];

            order[k] = order[p];
            order[p] = t;
            for (int64_t j = 0; j < cols; j++) {
                T x = a[k * cols + j];

                a[k * cols + j] = a[p * cols + j];
                a[p * cols + j] = x;
            }
        }
        for (int64_t i = k + 1; i < rows && ABS(a[k * cols + k]) > 0; i++) {
            T f = a[i * cols + k] /= a[k * cols + k];

            for (int64_t j = k + 1; j < cols; j++)
                a[i * cols + j] -= f * a[k * cols + j];
        }
    }
}

/* Column j of `x` through I - f v v*, v = (1, a[k+1..rows, k]); both have `cols` columns. */
static void F(reflect)(const T *a, T *x, int64_t rows, int64_t cols, int64_t k, int64_t j, T f)
{
    T w = x[k * cols + j];

    for (int64_t i = k + 1; i < rows; i++)
        w += CONJ(a[i * cols + k]) * x[i * cols + j];
    w *= f;
    x[k * cols + j] -= w;
    for (int64_t i = k + 1; i < rows; i++)
        x[i * cols + j] -= w * a[i * cols + k];
}

/* R above the diagonal, the reflectors below it, their factors beside it: LAPACK's geqrf. */
static void F(qr)(T *a, int64_t rows, int64_t cols, T *tau)
{
    for (int64_t k = 0; k < rows && k < cols; k++) {
        T alpha = a[k * cols + k];
        R below = 0, beta;

        for (int64_t i = k + 1; i < rows; i++)
            below += REAL(a[i * cols + k] * CONJ(a[i * cols + k]));
        tau[k] = 0;
        if (below == 0 && alpha == CONJ(alpha))
            continue;
        beta = SQRT(REAL(alpha * CONJ(alpha)) + below);
        beta = REAL(alpha) < 0 ? beta : -beta;
        tau[k] = (beta - alpha) / beta;
        for (int64_t i = k + 1; i < rows; i++)
            a[i * cols + k] /= alpha - beta;
        a[k * cols + k] = beta;
        for (int64_t j = k + 1; j < cols; j++)
            F(reflect)(a, a, rows, cols, k, j, CONJ(tau[k]));
    }
}

/* The first columns of the product of the reflectors: LAPACK's orgqr. */
static void F(reflectors)(const T *a, const T *tau, T *q, int64_t rows, int64_t cols,
                          int64_t reflectors)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            q[i * cols + j] = i == j;
    for (int64_t k = reflectors - 1; k >= 0; k--)
        for (int64_t j = 0; j < cols; j++)
            F(reflect)(a, q, rows, cols, k, j, tau[k]);
}

#undef F_
#undef F2
#undef F
#undef T
#undef R
#undef S
#undef ABS
#undef SQRT
#undef CONJ
#undef REAL
