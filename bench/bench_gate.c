/* What a contract adds to a compile: a layer with the gate and one without compile the program
 * named by BENCH_PROGRAM (what JAX sends, about 35 KB), each in a process of its own, and the
 * processor time of the calling thread is compared. The store is off, so that the gate's reading of
 * the program is all that is read. */
#include "bench.h"

#include "base/buf.h"
#include "base/fs.h"
#include "gate/contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 201 };

static const char text[] = "stet contract 1\n"
                           "evaluate(params*: float32[...], x: float32[8, 16]) at most 1 program\n"
                           "*(...) at most 1000000 programs of 10 graphs with 10 sets of options, "
                           "compiled at most 1000000 times\n";

static char *program;
static size_t size;

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static void read_program(void)
{
    const char *path = getenv("BENCH_PROGRAM");
    FILE *f = path ? fopen(path, "rb") : NULL;

    if (!f)
        die("BENCH_PROGRAM");
    program = malloc(4 << 20);
    size = fread(program, 1, 4 << 20, f);
    fclose(f);
}

/* The table that `stet run --contract` hands over. */
static void write_contract(const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_contract c;

    if (stet_gate_contract_parse(&c, stet_view_str(text), "bench", &err) != STET_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    stet_gate_contract_pack(&out, &c, false);
    if (stet_fs_write(path, stet_buf_as_view(&out), NULL) != STET_OK)
        die(path);
    stet_buf_release(&out);
    stet_gate_contract_release(&c);
}

/* Medians into `out`: of the layered call, and of its 10th and 90th. */
static void measure(double out[3])
{
    static char options[1200]; /* as long as JAX's */
    static double took[ROUNDS];
    struct bench b;

    bench_begin(&b);
    for (int i = -20; i < ROUNDS; i++) {
        double begin = bench_cpu_ns();
        PJRT_LoadedExecutable *loaded =
            harness_compile(&b.layer, program, size, "mlir", options, sizeof options);

        took[i < 0 ? 0 : i] = (bench_cpu_ns() - begin) / 1e6;
        if (!loaded) {
            fprintf(stderr, "%s\n", b.layer.text);
            exit(1);
        }
        harness_loaded_destroy(&b.layer, loaded);
    }
    out[0] = bench_quantile(took, ROUNDS, 0.5);
    out[1] = bench_quantile(took, ROUNDS, 0.1);
    out[2] = bench_quantile(took, ROUNDS, 0.9);
    bench_end(&b);
}

/* In a child: a process has one layer, and that has one contract. */
static void measure_apart(const char *contract, double out[3])
{
    int ends[2], status;
    pid_t pid;

    if (pipe(ends) != 0 || (pid = fork()) < 0)
        die("fork");
    if (!pid) {
        if (contract)
            setenv("STET_CONTRACT", contract, 1);
        else
            unsetenv("STET_CONTRACT");
        measure(out);
        if (write(ends[1], out, 3 * sizeof *out) < 0)
            die("pipe");
        _exit(0);
    }
    if (read(ends[0], out, 3 * sizeof *out) != 3 * sizeof *out || waitpid(pid, &status, 0) != pid ||
        status)
        die("child");
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    char contract[] = "/tmp/stet-bench-contract-XXXXXX";
    int fd = mkstemp(contract);
    double off[3], on[3];

    if (fd < 0)
        die(contract);
    close(fd);
    read_program();
    write_contract(contract);
    measure_apart(NULL, off);
    measure_apart(contract, on);
    bench_print("layer.compile.added.contract", "ms", on[0] - off[0], on[1] - off[1],
                on[2] - off[2], "without one", off[0], 1);
    unlink(contract);
    free(program);
    return 0;
}
