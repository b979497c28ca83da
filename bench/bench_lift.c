/* What lifting costs a process. `lift.value`: a compile of a 35 KB training step (tools/bench.sh)
 * that differs from the earlier ones in its learning rate alone, with and without a store; a
 * compile of the plain program on the CPU backend takes turns with it. `lift.execute`: what an
 * execution of a lifted executable takes beyond one of the plain executable, for a program that
 * does next to nothing.
 *
 * `bench_lift step plain|lifted N` runs N training steps and measures nothing: lift_instructions.py
 * counts their instructions. */
#include "bench.h"

#include "decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUES = 301, ROUNDS = 501, CALLS = 200 };

/* The learning rate of tests/conformance/make_program.py, in the bytes of the program. */
static char *find_rate(struct bench_bytes program)
{
    const float rate = 1e-3f;
    char *at = memmem(program.ptr, program.len, &rate, sizeof rate);

    if (!at) {
        fprintf(stderr, "bench_lift: the program has no rate of 0.001\n");
        exit(1);
    }
    return at;
}

static double compile_ms(struct harness *h, struct bench_bytes program, struct bench_bytes options)
{
    double begin = bench_now_ns(), took;
    PJRT_LoadedExecutable *loaded = bench_must(
        h, harness_compile(h, program.ptr, program.len, "mlir", options.ptr, options.len));

    took = bench_now_ns() - begin;
    harness_loaded_destroy(h, loaded);
    return took / 1e6;
}

static void measure_values(struct bench *b, const char *name)
{
    const char *folder = getenv("BENCH_STEP");
    struct bench_bytes program = bench_read(folder, "step.mlirbc"),
                       options = bench_read(folder, "options.pb");
    static double plain[VALUES], lifted[VALUES];
    char *rate = find_rate(program);

    for (int i = -10; i < VALUES; i++) {
        int at = i < 0 ? 0 : i;
        float value = 1e-3f + 1e-6f * (float)(i + 11);

        memcpy(rate, &value, sizeof value);
        plain[at] = compile_ms(&b->bare, program, options);
        lifted[at] = compile_ms(&b->layer, program, options);
    }
    bench_print(name, "ms", bench_quantile(lifted, VALUES, 0.5),
                bench_quantile(lifted, VALUES, 0.1), bench_quantile(lifted, VALUES, 0.9),
                "the CPU backend's compile", bench_quantile(plain, VALUES, 0.5), 1);
    free(program.ptr);
    free(options.ptr);
}

/* ---- executions ---- */

static PJRT_LoadedExecutable *compile_factor(struct harness *h, int factor)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "module @m {\nfunc.func public @main(%%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "%%c = stablehlo.constant dense<%d.5> : tensor<4xf32>\n"
                     "%%0 = stablehlo.multiply %%a, %%c : tensor<4xf32>\n"
                     "return %%0 : tensor<4xf32>\n}\n}\n",
                     factor);

    return bench_must(h, harness_compile(h, text, (size_t)n, "mlir", "", 0));
}

static double execute_ns(struct harness *h, PJRT_LoadedExecutable *loaded, PJRT_Buffer *in)
{
    double begin = bench_now_ns();

    for (int i = 0; i < CALLS; i++) {
        PJRT_Buffer *out = NULL;

        if (!harness_execute(h, loaded, &in, 1, &out)) {
            fprintf(stderr, "%s\n", h->text);
            exit(1);
        }
        harness_buffer_destroy(h, out);
    }
    return (bench_now_ns() - begin) / (double)CALLS;
}

static void measure_executions(struct bench *b)
{
    static double plain[ROUNDS], added[ROUNDS];
    struct harness *h = &b->layer;
    PJRT_LoadedExecutable *first = compile_factor(h, 1), *second = compile_factor(h, 2),
                          *third = compile_factor(h, 3);
    PJRT_Buffer *in = harness_buffer(h, PJRT_Buffer_Type_F32, (const int64_t[]){4}, 1, 16, 7);

    for (int i = -20; i < ROUNDS; i++) {
        int at = i < 0 ? 0 : i;

        if (i % 2) {
            plain[at] = execute_ns(h, first, in);
            added[at] = execute_ns(h, third, in) - plain[at];
        } else {
            added[at] = execute_ns(h, third, in);
            plain[at] = execute_ns(h, first, in);
            added[at] -= plain[at];
        }
    }
    bench_print("lift.execute.added", "ns", bench_quantile(added, ROUNDS, 0.5),
                bench_quantile(added, ROUNDS, 0.1), bench_quantile(added, ROUNDS, 0.9),
                "the plain executable", bench_quantile(plain, ROUNDS, 0.5), 0);
    harness_buffer_destroy(h, in);
    harness_loaded_destroy(h, third);
    harness_loaded_destroy(h, second);
    harness_loaded_destroy(h, first);
}

/* ---- a training step, to count its instructions ---- */

enum { ARGUMENTS_MAX = 512 };

static size_t make_arguments(struct harness *h, struct bench_bytes program, PJRT_Buffer **out,
                             size_t *outputs)
{
    struct stet_program p;
    size_t n = 0;

    if (stet_decode(&p, stet_view_of(program.ptr, program.len), NULL) != STET_OK ||
        p.argument_count > ARGUMENTS_MAX || p.output_count > ARGUMENTS_MAX)
        exit(1);
    for (; n < p.argument_count; n++) {
        const struct stet_type *t = p.arguments[n].value->type;
        uint64_t elements = 0;

        stet_type_elements(t, &elements);
        out[n] = harness_buffer(h, PJRT_Buffer_Type_F32, t->dims, t->rank, 4 * elements, 7);
    }
    *outputs = p.output_count;
    stet_program_release(&p);
    return n;
}

static int run_steps(bool lifted, int steps)
{
    const char *folder = getenv("BENCH_STEP");
    struct bench_bytes program = bench_read(folder, "step.mlirbc"),
                       options = bench_read(folder, "options.pb");
    PJRT_Buffer *in[ARGUMENTS_MAX], *out[ARGUMENTS_MAX];
    PJRT_LoadedExecutable *of[3];
    char *rate = find_rate(program);
    size_t n, outputs;
    struct bench b;

    bench_begin_with(&b, "libstet_cpu.so", false);
    for (int i = 0; i < 3; i++) {
        float value = 1.1e-3f + 1e-4f * (float)i;

        memcpy(rate, &value, sizeof value);
        of[i] = bench_must(&b.layer, harness_compile(&b.layer, program.ptr, program.len, "mlir",
                                                     options.ptr, options.len));
    }
    n = make_arguments(&b.layer, program, in, &outputs);
    for (int i = -1; i < steps; i++) { /* the first one of a lifted program is compared */
        if (!harness_execute(&b.layer, of[lifted || i < 0 ? 2 : 0], in, n, out))
            exit(1);
        for (size_t k = 0; k < outputs; k++)
            harness_buffer_destroy(&b.layer, out[k]);
    }
    bench_end(&b);
    return 0;
}

int main(int argc, char **argv)
{
    const char *store = getenv("BENCH_WITH_STORE");
    struct bench b;

    if (!getenv("BENCH_STEP")) {
        fprintf(stderr, "bench_lift: run it by tools/bench.sh, which makes the program\n");
        return 1;
    }
    setenv("STET_LIFT", "1", 1);
    if (argc == 4 && !strcmp(argv[1], "step"))
        return run_steps(!strcmp(argv[2], "lifted"), atoi(argv[3]));
    bench_begin_with(&b, "libstet_cpu.so", store != NULL);
    measure_values(&b, store ? "lift.value.with-store" : "lift.value.without-store");
    if (!store)
        measure_executions(&b);
    bench_end(&b);
    if (!store) { /* the layer reads its settings once: the other half in a process of its own */
        setenv("BENCH_WITH_STORE", "1", 1);
        execl("/proc/self/exe", "bench_lift", (char *)NULL);
    }
    return 0;
}
