/* What the store adds to a load: the plugin's bare deserialise-and-load, and a compile that the
 * layer answers with the same executable from disk and from memory, take turns in one process; and
 * the first of a process, each in one of its own. Programs and options are those of JAX
 * (tools/bench.sh), the plugin is the CPU backend, whose loads are so short that every microsecond
 * of ours shows. */
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 201, FIRSTS = 41 };
/* Between a client and its first program: JAX takes longer. */
enum { PAUSE_US = 50000 };

static struct bench_bytes serialised(struct harness *h, struct bench_bytes program,
                                     struct bench_bytes options)
{
    PJRT_LoadedExecutable *loaded = bench_must(
        h, harness_compile(h, program.ptr, program.len, "mlir", options.ptr, options.len));
    PJRT_Executable *executable = harness_executable(h, loaded);
    struct bench_bytes b;

    b.ptr = harness_serialize(h, executable, &b.len);
    harness_executable_destroy(h, executable);
    harness_loaded_destroy(h, loaded);
    return b;
}

/* Only what a framework waits for is timed: not letting go of the executable. */
static double bare(struct bench *b, struct bench_bytes executable)
{
    double begin = bench_now_ns(), took;
    PJRT_LoadedExecutable *loaded =
        bench_must(&b->bare, harness_deserialize(&b->bare, executable.ptr, executable.len));

    took = bench_now_ns() - begin;
    harness_loaded_destroy(&b->bare, loaded);
    return took / 1e6;
}

static double served(struct bench *b, struct bench_bytes program, struct bench_bytes options)
{
    double begin = bench_now_ns(), took;
    PJRT_LoadedExecutable *loaded =
        bench_must(&b->layer, harness_compile(&b->layer, program.ptr, program.len, "mlir",
                                              options.ptr, options.len));

    took = bench_now_ns() - begin;
    harness_loaded_destroy(&b->layer, loaded);
    return took / 1e6;
}

static void measure(struct bench *b, const char *folder, const char *size, const char *from)
{
    static double load[ROUNDS], added[ROUNDS];
    char name[128];
    struct bench_bytes program, options, executable;

    program = bench_read(folder, "step.mlirbc");
    options = bench_read(folder, "options.pb");
    executable = serialised(&b->bare, program, options);
    served(b, program, options); /* compiles, and is kept before its destruction returns */
    for (int i = -10; i < ROUNDS; i++) {
        int at = i < 0 ? 0 : i;

        /* who comes second more often loses the processor on a busy machine */
        if (i % 2) {
            load[at] = bare(b, executable);
            added[at] = served(b, program, options) - load[at];
        } else {
            added[at] = served(b, program, options);
            load[at] = bare(b, executable);
            added[at] -= load[at];
        }
    }
    snprintf(name, sizeof(name), "store.reload.added.%s.%s", from, size);
    fprintf(stderr, "%s: program of %zu bytes, executable of %zu\n", name, program.len,
            executable.len);
    bench_print(name, "ms", bench_quantile(added, ROUNDS, 0.5), bench_quantile(added, ROUNDS, 0.1),
                bench_quantile(added, ROUNDS, 0.9), "the plugin's bare load",
                bench_quantile(load, ROUNDS, 0.5), 0.5);
    free(program.ptr);
    free(options.ptr);
    free(executable.ptr);
}

/* The process of a first program: `how` is bare or layer. Says how many milliseconds it took. */
static int first_program(const char *how, const char *folder, const char *executable)
{
    bool layer = !strcmp(how, "layer");
    PJRT_LoadedExecutable *loaded;
    struct bench_bytes program, options;
    struct harness h;
    cpu_set_t all;
    double begin;

    memset(&all, 0xff, sizeof(all));
    sched_setaffinity(0, sizeof(all), &all);
    if (!harness_open(&h, layer ? STET_LIB_DIR "/libstet_plugin.so" : getenv("STET_PLUGIN")) ||
        !harness_initialize(&h) || !harness_client(&h, NULL, 0)) {
        fprintf(stderr, "%s\n", h.text);
        return 1;
    }
    program = layer ? bench_read(folder, "step.mlirbc") : bench_read("", executable);
    options = bench_read(folder, "options.pb");
    usleep(PAUSE_US);
    begin = bench_now_ns();
    loaded = layer ? harness_compile(&h, program.ptr, program.len, "mlir", options.ptr, options.len)
                   : harness_deserialize(&h, program.ptr, program.len);
    printf("%.6f\n", (bench_now_ns() - begin) / 1e6);
    harness_loaded_destroy(&h, bench_must(&h, loaded));
    harness_client_destroy(&h);
    free(program.ptr);
    free(options.ptr);
    return 0;
}

static double in_its_process(const char *how, const char *folder, const char *executable)
{
    char self[4096], command[16384];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    double ms = -1;
    FILE *f;

    self[n < 0 ? 0 : n] = '\0';
    snprintf(command, sizeof(command), "'%s' %s '%s' '%s'", self, how, folder, executable);
    f = popen(command, "r");
    if (!f || fscanf(f, "%lf", &ms) != 1 || pclose(f) != 0) {
        fprintf(stderr, "%s failed\n", command);
        exit(1);
    }
    return ms;
}

/* The store has it: the process before kept it. */
static void measure_first(struct bench *b, const char *folder)
{
    double load[FIRSTS], added[FIRSTS];
    char path[4096];
    struct bench_bytes program, options, executable;
    FILE *f;

    program = bench_read(folder, "step.mlirbc");
    options = bench_read(folder, "options.pb");
    executable = serialised(&b->bare, program, options);
    snprintf(path, sizeof(path), "%s/executable", b->state);
    f = fopen(path, "wb");
    if (!f || fwrite(executable.ptr, 1, executable.len, f) != executable.len || fclose(f) != 0)
        exit(1);
    for (int i = -2; i < FIRSTS; i++) {
        int at = i < 0 ? 0 : i;

        load[at] = in_its_process("bare", folder, path);
        added[at] = in_its_process("layer", folder, path) - load[at];
    }
    bench_print("store.reload.added.first-of-a-process", "ms", bench_quantile(added, FIRSTS, 0.5),
                bench_quantile(added, FIRSTS, 0.1), bench_quantile(added, FIRSTS, 0.9),
                "the plugin's bare load, the first of its process",
                bench_quantile(load, FIRSTS, 0.5), 0.5);
    free(program.ptr);
    free(options.ptr);
    free(executable.ptr);
}

int main(int argc, char **argv)
{
    const char *large = getenv("BENCH_STEP"), *small = getenv("BENCH_SMALL_STEP");
    struct bench b;

    if (argc == 4)
        return first_program(argv[1], argv[2], argv[3]);
    if (!large || !small) {
        fprintf(stderr, "bench_reload: run it by tools/bench.sh, which makes the programs\n");
        return 1;
    }
    setenv("STET_STORE_MEMORY", getenv("BENCH_FROM_MEMORY") ? "268435456" : "0", 1);
    setenv("STET_STORE_AHEAD", "off", 1); /* how long a compile waits is the question */
    bench_begin_with(&b, "libstet_cpu.so", true);
    measure(&b, small, "small", getenv("BENCH_FROM_MEMORY") ? "memory" : "disk");
    measure(&b, large, "large", getenv("BENCH_FROM_MEMORY") ? "memory" : "disk");
    if (!getenv("BENCH_FROM_MEMORY"))
        measure_first(&b, small);
    bench_end(&b);
    /* the limit is set where the layer starts: the other half in a process of its own */
    if (!getenv("BENCH_FROM_MEMORY")) {
        setenv("BENCH_FROM_MEMORY", "1", 1);
        execl("/proc/self/exe", "bench_reload", (char *)NULL);
    }
    return 0;
}
