/* A client of the layer over the CPU backend with bad habits (odd_plugin.c), for tests of lifting.
 * CTest sets STET_LIFT, STET_PLUGIN and LAYER, the layer to open. */
#ifndef TESTS_LIFT_CLIENT_H
#define TESTS_LIFT_CLIENT_H

#include "harness.h"
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { ELEMENTS = 4 };

/* Of the plugin below the layer. */
static struct {
    void (*begin)(const char *habit);
    int (*compiles)(bool lifted);
    int (*fail_buffer)(int n);
    void (*fail_compile)(int n);
    void (*hold)(bool on);
    int (*held)(void);
} odd;

static inline bool begin(struct harness *h, const char *habit)
{
    void *plugin = dlopen(getenv("STET_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    bool open;

    *h = (struct harness){0};
    open = harness_open(h, getenv("LAYER")) && harness_initialize(h) && harness_client(h, NULL, 0);
    EXPECT(open && plugin);
    if (!open || !plugin)
        return false;
    *(void **)&odd.begin = dlsym(plugin, "odd_begin");
    *(void **)&odd.compiles = dlsym(plugin, "odd_compiles");
    *(void **)&odd.fail_buffer = dlsym(plugin, "odd_fail_buffer");
    *(void **)&odd.fail_compile = dlsym(plugin, "odd_fail_compile");
    *(void **)&odd.hold = dlsym(plugin, "odd_hold");
    *(void **)&odd.held = dlsym(plugin, "odd_held");
    odd.begin(habit);
    return true;
}

/* A program of its own for each `kind`, with a value. Programs of all sizes have one skeleton. */
static inline PJRT_LoadedExecutable *compile_sized(struct harness *h, const char *kind, int size,
                                                   double value)
{
    char text[1024];
    bool donated = !strcmp(kind, "tanh");
    int n =
        snprintf(text, sizeof text,
                 "module @m {\nfunc.func public @main(%%a: tensor<%dxf32>%s) -> tensor<%dxf32> {\n"
                 "%%c = stablehlo.constant dense<%.1f> : tensor<%dxf32>\n"
                 "%%0 = stablehlo.%s %%a : tensor<%dxf32>\n"
                 "%%1 = stablehlo.multiply %%0, %%c : tensor<%dxf32>\n"
                 "return %%1 : tensor<%dxf32>\n}\n}\n",
                 size, donated ? " {tf.aliasing_output = 0 : i32}" : "", size, value, size, kind,
                 size, size, size);

    return harness_compile(h, text, (size_t)n, "mlir", "", 0);
}

/* Runs it and compares the result with what the plain program computes. */
static inline bool runs_sized(struct harness *h, PJRT_LoadedExecutable *loaded, int size,
                              double value, bool tanh_of)
{
    PJRT_Buffer *in =
        harness_buffer(h, PJRT_Buffer_Type_F32, (const int64_t[]){size}, 1, 4 * (size_t)size, 7);
    PJRT_Buffer *out = NULL;
    size_t bytes = 0, got_bytes = 0;
    float *x = (float *)(void *)harness_read(h, in, &bytes), *got = NULL;
    bool same = loaded && harness_execute(h, loaded, (PJRT_Buffer *const[]){in}, 1, &out);

    if (same)
        got = (float *)(void *)harness_read(h, out, &got_bytes);
    same = same && got && got_bytes == bytes;
    for (int i = 0; same && i < size && !tanh_of; i++) {
        float want = -x[i] * (float)value;

        same = memcmp(&got[i], &want, sizeof want) == 0;
    }
    if (out)
        harness_buffer_destroy(h, out);
    harness_buffer_destroy(h, in);
    free(x);
    free(got);
    return same;
}

#endif
