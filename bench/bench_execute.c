/* What the layer adds to one execute of a plugin that does nothing: bare and layered calls take
 * turns in one process, round by round, and the median of the rounds' differences is the figure. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1501, CALLS = 2000, MANY = 256 };

static PJRT_LoadedExecutable *executables[2][MANY];

static void compile_all(struct harness *h, PJRT_LoadedExecutable **list)
{
    for (int i = 0; i < MANY; i++) {
        char text[64];
        int size = snprintf(text, sizeof(text), "fake program %d\n", i);

        list[i] = harness_compile(h, text, (size_t)size, "mlir", NULL, 0);
        if (!list[i]) {
            fprintf(stderr, "%s\n", h->text);
            exit(1);
        }
    }
}

/* Nanoseconds for an execute of four outputs and their destruction: what a step of a real program
 * makes the layer look at. `list` holds the executable. */
static double time_steps(struct harness *h, PJRT_LoadedExecutable **list, int count)
{
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *buffers[4], **outputs = buffers;
    PJRT_Buffer *const *inputs = NULL;
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = list[0], .options = &options,
         .argument_lists = &inputs, .num_devices = 1, .output_lists = &outputs);
    ARGS(PJRT_Buffer_Destroy, destroy, .buffer = NULL);
    double begin = bench_now_ns();

    for (int i = 0; i < CALLS / 10 * count; i++) {
        if (h->api->PJRT_LoadedExecutable_Execute(&args))
            abort();
        for (int k = 0; k < 4; k++) {
            destroy.buffer = buffers[k];
            h->api->PJRT_Buffer_Destroy(&destroy);
        }
    }
    return (bench_now_ns() - begin) / (CALLS / 10 * count);
}

/* Nanoseconds a call, going round `count` executables. */
static double time_calls(struct harness *h, PJRT_LoadedExecutable **list, int count)
{
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer **outputs = NULL;
    PJRT_Buffer *const *inputs = NULL;
    ARGS(PJRT_LoadedExecutable_Execute, args, .options = &options, .argument_lists = &inputs,
         .num_devices = 1, .output_lists = &outputs);
    PJRT_LoadedExecutable_Execute *execute = h->api->PJRT_LoadedExecutable_Execute;
    double begin = bench_now_ns();

    for (int i = 0; i < CALLS; i++) {
        args.executable = list[i & (count - 1)];
        if (execute(&args))
            abort();
    }
    return (bench_now_ns() - begin) / (double)CALLS;
}

typedef double timing(struct harness *h, PJRT_LoadedExecutable **list, int count);

static void measure(struct bench *b, const char *name, timing *time, int count, double limit)
{
    static double bare[ROUNDS], added[ROUNDS];

    for (int i = -50; i < ROUNDS; i++) { /* the first rounds warm up */
        int at = i < 0 ? 0 : i;
        double layered;

        if (i & 1)
            bare[at] = time(&b->bare, executables[0], count);
        layered = time(&b->layer, executables[1], count);
        if (!(i & 1))
            bare[at] = time(&b->bare, executables[0], count);
        added[at] = layered - bare[at];
    }
    bench_print(name, "ns", bench_quantile(added, ROUNDS, 0.5), bench_quantile(added, ROUNDS, 0.1),
                bench_quantile(added, ROUNDS, 0.9), "the bare call",
                bench_quantile(bare, ROUNDS, 0.5), limit);
}

static void with_outputs(struct bench *b)
{
    static const char text[] = "fake program step\nout f32[4] f32[4] f32[4] s32[]\n";
    PJRT_LoadedExecutable *saved[2] = {executables[0][0], executables[1][0]};

    executables[0][0] = harness_compile(&b->bare, text, sizeof(text) - 1, "mlir", NULL, 0);
    executables[1][0] = harness_compile(&b->layer, text, sizeof(text) - 1, "mlir", NULL, 0);
    if (!executables[0][0] || !executables[1][0])
        exit(1);
    measure(b, "layer.step.added.4-outputs", time_steps, 1, 0);
    harness_loaded_destroy(&b->bare, executables[0][0]);
    harness_loaded_destroy(&b->layer, executables[1][0]);
    executables[0][0] = saved[0];
    executables[1][0] = saved[1];
}

int main(void)
{
    struct bench b;

    bench_begin(&b);
    compile_all(&b.bare, executables[0]);
    compile_all(&b.layer, executables[1]);
    measure(&b, "layer.execute.added", time_calls, 1, 20);
    measure(&b, "layer.execute.added.16-executables", time_calls, 16, 20);
    measure(&b, "layer.execute.added.256-executables", time_calls, MANY, 0);
    with_outputs(&b);
    for (int i = 0; i < MANY; i++) {
        harness_loaded_destroy(&b.bare, executables[0][i]);
        harness_loaded_destroy(&b.layer, executables[1][i]);
    }
    bench_end(&b);
    return 0;
}
