/* What the layer adds to one compile, apart from decoding, which it leaves to others: bare and
 * layered compiles of the same bytes take turns. The program is the one named by BENCH_PROGRAM
 * (what JAX sends, about 35 KB), each time with another number in its last bytes so that it is new,
 * or the very same again. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 301, DEFAULT_SIZE = 35 << 10 };

static char *program;
static size_t size;

/* Without one from JAX: text about as repetitive as a program is. */
static void make_program(void)
{
    unsigned random = 1;

    program = malloc(DEFAULT_SIZE + 64);
    while (size < DEFAULT_SIZE) {
        random = random * 1664525u + 1013904223u;
        size += (size_t)sprintf(program + size, "%%%u = add %%%u\n", random >> 12, random % 977);
    }
}

static void read_program(const char *path)
{
    FILE *f = fopen(path, "rb");

    if (!f) {
        perror(path);
        exit(1);
    }
    program = malloc(4 << 20);
    size = fread(program, 1, 4 << 20, f);
    fclose(f);
}

static double time_compile(struct harness *h)
{
    static char options[1200]; /* as long as JAX's */
    double begin = bench_now_ns(), took;
    PJRT_LoadedExecutable *loaded =
        harness_compile(h, program, size, "mlir", options, sizeof(options));

    took = bench_now_ns() - begin;
    if (!loaded) {
        fprintf(stderr, "%s\n", h->text);
        exit(1);
    }
    harness_loaded_destroy(h, loaded);
    return took / 1e6;
}

static void measure(struct bench *b, const char *name, bool new, double limit)
{
    static double bare[ROUNDS], added[ROUNDS];

    for (int i = -20; i < ROUNDS; i++) {
        int at = i < 0 ? 0 : i, number = i + 1000 + (new ? 1 << 20 : 0);

        if (new)
            memcpy(program + size - sizeof(number), &number, sizeof(number));
        bare[at] = time_compile(&b->bare);
        added[at] = time_compile(&b->layer) - bare[at];
    }
    bench_print(name, "ms", bench_quantile(added, ROUNDS, 0.5), bench_quantile(added, ROUNDS, 0.1),
                bench_quantile(added, ROUNDS, 0.9), "the bare call",
                bench_quantile(bare, ROUNDS, 0.5), limit);
}

int main(void)
{
    struct bench b;
    const char *path = getenv("BENCH_PROGRAM");

    if (path)
        read_program(path);
    else
        make_program();
    fprintf(stderr, "program of %zu bytes from %s\n", size, path ? path : "ourselves");
    bench_begin(&b);
    measure(&b, "layer.compile.added.new-program", true, 1);
    measure(&b, "layer.compile.added.known-program", false, 1);
    bench_end(&b);
    free(program);
    return 0;
}
