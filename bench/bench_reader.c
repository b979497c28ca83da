/* Reading a program and fingerprinting it, beside MLIR's own reader on the same bytes in the same
 * run (bench/mlir_parse.py), and the rate at which large constants pass. MLIR reads into a new
 * context, as every plugin does in a compile call (ParsePjrtProgram) and as Stet does, which keeps
 * nothing between programs either; and into one that has seen the program, which is the harder
 * limit.
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
#include <unistd.h>

/* Rounds of the comparison; in each one MLIR reads ten times either way and Stet a hundred times.
 */
enum { ROUNDS = 60, MLIR_EACH = 10, STET_EACH = 100 };

#define PYTHON "build/env/jax/bin/python"

static void die(const char *what)
{
    fprintf(stderr, "bench_reader: %s\n", what);
    exit(1);
}

/* Microseconds for one reading, with fingerprints when asked; giving memory back is not counted,
 * nor is it for MLIR. */
static double read_once(struct stet_view bytes, bool fingerprints)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_fingerprint print;
    struct stet_program p;
    double begin = bench_cpu_ns(), end;

    if (stet_decode_bytecode(&p, bytes, &err) != STET_OK)
        die(err.text);
    if (fingerprints && stet_fingerprint_make(&print, &p, (struct stet_view){0}, &err) != STET_OK)
        die(err.text);
    end = bench_cpu_ns();
    stet_program_release(&p);
    return (end - begin) / 1e3;
}

/* MLIR's reader in a process of its own (bench/mlir_parse.py), which waits for its turn. */
struct mlir {
    FILE *ask, *answer;
};

static bool mlir_start(struct mlir *m, const char *path)
{
    int to[2], from[2];

    *m = (struct mlir){0};
    if (access(PYTHON, X_OK) != 0 || pipe(to) != 0 || pipe(from) != 0)
        return false;
    if (fork() == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execl(PYTHON, PYTHON, "bench/mlir_parse.py", path, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    m->ask = fdopen(to[1], "w");
    m->answer = fdopen(from[0], "r");
    return m->ask && m->answer;
}

static bool mlir_answer(struct mlir *m, double took[MLIR_EACH])
{
    for (int i = 0; i < MLIR_EACH; i++)
        if (fscanf(m->answer, "%lf", &took[i]) != 1)
            return false;
    return true;
}

static bool mlir_read(struct mlir *m, double fresh[MLIR_EACH], double again[MLIR_EACH])
{
    fputs("\n", m->ask);
    fflush(m->ask);
    return mlir_answer(m, fresh) && mlir_answer(m, again);
}

static void print(const char *name, double *took, size_t count, const char *against, double mlir)
{
    bench_print(name, "us", bench_quantile(took, count, 0.5), bench_quantile(took, count, 0.1),
                bench_quantile(took, count, 0.9), against, mlir, mlir / 10);
}

/* By turns on one core, since what else the machine does changes by the second. */
static void measure(struct stet_view bytes, const char *path)
{
    static double read[ROUNDS * STET_EACH], both[ROUNDS * STET_EACH];
    static double fresh[ROUNDS * MLIR_EACH], again[ROUNDS * MLIR_EACH];
    struct mlir m;
    bool there = mlir_start(&m, path);
    double middle = 0;
    size_t n = 0;

    for (int round = -2; round < ROUNDS; round++) {
        n = round < 0 ? 0 : (size_t)round;
        there = there && mlir_read(&m, &fresh[n * MLIR_EACH], &again[n * MLIR_EACH]);
        for (size_t i = 0; i < STET_EACH; i++) {
            read[n * STET_EACH + i] = read_once(bytes, false);
            both[n * STET_EACH + i] = read_once(bytes, true);
        }
    }
    if (there)
        middle = bench_quantile(fresh, ROUNDS * MLIR_EACH, 0.5);
    else
        fprintf(stderr, "bench_reader: no build/env/jax to compare with\n");
    print("reader.read", read, ROUNDS * STET_EACH, "MLIR's ir.Module.parse", middle);
    print("reader.read+fingerprints", both, ROUNDS * STET_EACH, "MLIR's ir.Module.parse", middle);
    if (there)
        print("reader.read+fingerprints", both, ROUNDS * STET_EACH,
              "the same into a context that has read it before",
              bench_quantile(again, ROUNDS * MLIR_EACH, 0.5));
    if (m.ask)
        fclose(m.ask);
}

static void measure_memory(const char *name, struct stet_view bytes)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    double ratio;

    if (stet_decode_bytecode(&p, bytes, &err) != STET_OK)
        die(err.text);
    ratio = (double)p.arena.used / (double)(bytes.len - p.constant_bytes);
    stet_program_release(&p);
    bench_print(name, "x", ratio, ratio, ratio, "the input without its constants", 1, 8);
}

/* What a small program takes: a training step of two layers, 3.4 KB. */
static void measure_small(void)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f;

    if (stet_file_open(&f, "tests/cli/data/base.mlirbc", &err) != STET_OK)
        die(err.text);
    measure_memory("reader.memory.small", f.bytes);
    stet_file_close(&f);
}

/* BENCH_CONSTANTS: a program that is nearly all constants. */
static void measure_constants(const char *path)
{
    static double took[31];
    struct stet_err err = STET_ERR_INIT;
    struct stet_file f;

    if (stet_file_open(&f, path, &err) != STET_OK)
        die(err.text);
    for (int i = -2; i < 31; i++)
        took[i < 0 ? 0 : i] = read_once(f.bytes, true) * 1e3 / (double)f.bytes.len;
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

    if (!path)
        die("BENCH_PROGRAM is not set");
    if (stet_file_open(&f, path, &err) != STET_OK)
        die(err.text);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 256 << 20);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    measure(f.bytes, path);
    measure_memory("reader.memory", f.bytes);
    measure_small();
    if (constants)
        measure_constants(constants);
    stet_file_close(&f);
    return 0;
}
