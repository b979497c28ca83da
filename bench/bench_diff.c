/* How the diff grows with the size of programs: 10^3 to 10^6 operations, of which three came. */
#include "bench.h"

#include "base/buf.h"
#include "decode/decode.h"
#include "explain/diff.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const struct stet_err *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* `count` operations, with one more in the middle when `edited`. */
static void write_program(struct stet_buf *out, int count, bool edited)
{
    stet_buf_str(out, "func.func public @main(%a: tensor<4xf32>, %v0: tensor<4xf32>) -> "
                      "tensor<4xf32> {\n");
    for (int i = 0; i < count; i++) {
        bool here = edited && i == count / 2;

        if (here)
            stet_buf_printf(out, "%%n = stablehlo.cosine %%v%d : tensor<4xf32> loc(\"t.py\":9:1)\n",
                            i);
        stet_buf_printf(out, "%%v%d = stablehlo.%s %s%d, %%a : tensor<4xf32> loc(\"t.py\":%d:%d)\n",
                        i + 1, i % 3 ? "add" : "multiply", "%v", i, 10 + i % 50, i % 7);
        if (here) { /* the next one uses what was inserted */
            stet_buf_printf(
                out, "%%w = stablehlo.add %%v%d, %%n : tensor<4xf32> loc(\"t.py\":9:2)\n", i + 1);
            stet_buf_printf(out,
                            "%%v%d = stablehlo.add %%w, %%a : tensor<4xf32> loc(\"t.py\":%d:%d)\n",
                            i + 2, 10 + (i + 1) % 50, (i + 1) % 7);
            i++;
        }
    }
    stet_buf_printf(out, "return %%v%d : tensor<4xf32>\n}\n", count);
}

struct program {
    struct stet_buf text;
    struct stet_program program;
    struct stet_fingerprint fingerprint;
};

static void make_program(struct program *p, int count, bool edited)
{
    struct stet_err err = STET_ERR_INIT;

    *p = (struct program){0};
    write_program(&p->text, count, edited);
    if (stet_decode(&p->program, stet_buf_as_view(&p->text), &err) != STET_OK ||
        stet_fingerprint_make(&p->fingerprint, &p->program, (struct stet_view){0}, &err) != STET_OK)
        fail(&err);
}

static void free_program(struct program *p)
{
    stet_program_release(&p->program);
    stet_buf_release(&p->text);
}

static void measure_diff(int count, double limit_ms)
{
    struct program a, b;
    struct stet_diff_side sa = {&a.program, &a.fingerprint}, sb = {&b.program, &b.fingerprint};
    struct stet_err err = STET_ERR_INIT;
    double values[5];
    char name[64];

    make_program(&a, count, false);
    make_program(&b, count, true);
    for (int i = 0; i < 5; i++) {
        double begin = bench_cpu_ns();
        struct stet_diff d;

        if (stet_diff_make(&d, &sa, &sb, &err) != STET_OK)
            fail(&err);
        values[i] = (bench_cpu_ns() - begin) / 1e6;
        if (d.ops_came > 3 || d.ops_went > 1)
            fprintf(stderr, "diff of %d operations: %u came, %u went\n", count, d.ops_came,
                    d.ops_went);
        stet_diff_release(&d);
    }
    snprintf(name, sizeof name, "diff.%d-operations", count);
    bench_print(name, "ms", bench_quantile(values, 5, 0.5), bench_quantile(values, 5, 0.1),
                bench_quantile(values, 5, 0.9), "operations", count, limit_ms);
    free_program(&a);
    free_program(&b);
}

int main(void)
{
    for (int count = 1000; count <= 1000000; count *= 10)
        measure_diff(count, count == 1000000 ? 5000 : 0);
    return 0;
}
