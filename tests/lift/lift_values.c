/* Compiles and runs the programs of one family for some values, through the layer over the CPU
 * backend, and checks every result. Each executable is serialized, and what is loaded from the
 * bytes is checked too; that may fail, but not with another value. With ALLOCATION, this allocation
 * of the layer fails; with `sticky`, all that follow fail too. CTest sets STET_LIFT, STET_PLUGIN
 * and LAYER.
 *
 * usage: lift_values FIRST COUNT [ALLOCATION [sticky]] */
#include "harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 4 };

static PJRT_LoadedExecutable *compile(struct harness *h, int value)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "module @m {\nfunc.func public @main(%%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "%%c = stablehlo.constant dense<%d.5> : tensor<4xf32>\n"
                     "%%d = stablehlo.constant dense<0.0> : tensor<4xf32>\n"
                     "%%0 = stablehlo.multiply %%a, %%c : tensor<4xf32>\n"
                     "%%1 = stablehlo.add %%0, %%d : tensor<4xf32>\n"
                     "return %%1 : tensor<4xf32>\n}\n}\n",
                     value);

    return harness_compile(h, text, (size_t)n, "mlir", "", 0);
}

static bool runs(struct harness *h, PJRT_LoadedExecutable *loaded, int value)
{
    PJRT_Buffer *in =
        harness_buffer(h, PJRT_Buffer_Type_F32, (const int64_t[]){ELEMENTS}, 1, 4 * ELEMENTS, 7);
    PJRT_Buffer *out = NULL;
    size_t size = 0, got_size = 0;
    float *x = (float *)(void *)harness_read(h, in, &size), *got = NULL;
    bool same = loaded && x && harness_execute(h, loaded, (PJRT_Buffer *const[]){in}, 1, &out);

    if (same)
        got = (float *)(void *)harness_read(h, out, &got_size);
    same = same && got && got_size == size;
    for (int i = 0; same && i < ELEMENTS; i++)
        same = got[i] == x[i] * ((float)value + 0.5f);
    if (out)
        harness_buffer_destroy(h, out);
    harness_buffer_destroy(h, in);
    free(x);
    free(got);
    return same;
}

/* False if the bytes are those of another value. */
static bool reads_back(struct harness *h, PJRT_LoadedExecutable *loaded, int value)
{
    PJRT_Executable *executable = harness_executable(h, loaded);
    size_t size = 0;
    char *bytes = executable ? harness_serialize(h, executable, &size) : NULL;
    PJRT_LoadedExecutable *again = bytes ? harness_deserialize(h, bytes, size) : NULL;
    bool right = !again || runs(h, again, value);

    if (again)
        harness_loaded_destroy(h, again);
    if (executable)
        harness_executable_destroy(h, executable);
    free(bytes);
    return right;
}

int main(int argc, char **argv)
{
    int first = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 0, wrong = 0;
    /* The backend reads the environment when it is opened, so its allocations do not fail. */
    void *backend = dlopen(getenv("STET_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    struct harness h = {0};

    if (argc > 3)
        setenv("STET_TEST_FAIL_ALLOC", argv[3], 1);
    if (argc > 4)
        setenv("STET_TEST_FAIL_STICKY", "1", 1);
    if (!backend || !harness_open(&h, getenv("LAYER")) || !harness_initialize(&h) ||
        !harness_client(&h, NULL, 0)) {
        fprintf(stderr, "%s\n", h.text);
        return 2;
    }
    for (int v = first; v < first + count; v++) {
        PJRT_LoadedExecutable *x = compile(&h, v);
        bool right = runs(&h, x, v) && runs(&h, x, v) && reads_back(&h, x, v);

        if (!right)
            fprintf(stderr, "value %d: %s\n", v, h.text);
        wrong += !right;
        if (x)
            harness_loaded_destroy(&h, x);
    }
    harness_client_destroy(&h);
    return wrong != 0;
}
