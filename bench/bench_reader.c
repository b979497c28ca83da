/* Reading a program and fingerprinting it, beside MLIR's own reader on the same bytes in the same
 * run (bench/mlir_parse.py), and the rate at which large constants pass.
 *
 * BENCH_PROGRAM names the program (what JAX sends for a training step). Memory is returned to this
 * process and not to the system between rounds, as in a process that has been running for a while.
 */
#include "bench.h"

#include "base/fs.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"

#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1001 };

static void die(const char *what)
{
    fprintf(stderr, "bench_reader: %s\n", what);
    exit(1);
}

/* Microseconds for one reading, with fingerprints when asked. */
static double read_once(struct stet_view bytes, bool fingerprints, size_t *memory)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_fingerprint print;
    struct stet_program p;
    double begin = bench_cpu_ns();

    if (stet_decode_bytecode(&p, bytes, &err) != STET_OK)
        die(err.text);
    if (fingerprints && stet_fingerprint_make(&print, &p, (struct stet_view){0}, &err) != STET_OK)
        die(err.text);
    *memory = p.arena.used;
    stet_program_release(&p);
    return (bench_cpu_ns() - begin) / 1e3;
}

/* What MLIR needs for the same bytes, in microseconds; 0 without the environment. */
static double mlir_parse(const char *path)
{
    char command[1024];
    double took = 0;
    FILE *f;

    snprintf(command, sizeof(command),
             "build/env/jax/bin/python bench/mlir_parse.py '%s' 2>/dev/null", path);
    f = popen(command, "r");
    if (f) {
        if (fscanf(f, "%lf", &took) != 1)
            took = 0;
        pclose(f);
    }
    return took;
}

static void measure(const char *name, struct stet_view bytes, bool fingerprints, double mlir)
{
    static double took[ROUNDS];
    size_t memory;

    for (int i = -50; i < ROUNDS; i++)
        took[i < 0 ? 0 : i] = read_once(bytes, fingerprints, &memory);
    bench_print(name, "us", bench_quantile(took, ROUNDS, 0.5), bench_quantile(took, ROUNDS, 0.1),
                bench_quantile(took, ROUNDS, 0.9), "MLIR's ir.Module.parse", mlir, mlir / 10);
}

static void measure_memory(struct stet_view bytes)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    double ratio;

    if (stet_decode_bytecode(&p, bytes, &err) != STET_OK)
        die(err.text);
    ratio = (double)p.arena.used / (double)(bytes.len - p.constant_bytes);
    stet_program_release(&p);
    bench_print("reader.memory", "x", ratio, ratio, ratio, "the input without its constants", 1, 8);
}

/* BENCH_CONSTANTS: a program that is nearly all constants. */
static void measure_constants(const char *path)
{
    static double took[31];
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f;
    size_t memory;

    if (stet_file_open(&f, path, &err) != STET_OK)
        die(err.text);
    for (int i = -2; i < 31; i++)
        took[i < 0 ? 0 : i] = read_once(f.bytes, true, &memory) * 1e3 / (double)f.bytes.len;
    bench_print("reader.constants", "ns/B", bench_quantile(took, 31, 0.5),
                bench_quantile(took, 31, 0.1), bench_quantile(took, 31, 0.9), "1 GB/s", 1, 1);
    stet_file_close(&f);
}

int main(void)
{
    const char *path = getenv("BENCH_PROGRAM"), *constants = getenv("BENCH_CONSTANTS");
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f;
    cpu_set_t one;
    double mlir;

    if (!path)
        die("BENCH_PROGRAM is not set");
    if (stet_file_open(&f, path, &err) != STET_OK)
        die(err.text);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 256 << 20);
    mlir = mlir_parse(path);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    measure("reader.read", f.bytes, false, mlir);
    measure("reader.read+fingerprints", f.bytes, true, mlir);
    measure_memory(f.bytes);
    if (constants)
        measure_constants(constants);
    stet_file_close(&f);
    return 0;
}
