/* stet-eval PROGRAM [INPUTS [OUTPUTS]] [--threads N] [--repeat N] [--replicas N]: plans a program
 * file, runs it on the concatenated raw inputs, writes the concatenated raw outputs, and prints
 * what it took as JSON. Replicas have their inputs and outputs one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backend/plan.h"
#include "backend/pool.h"
#include "base/fs.h"
#include "base/mem.h"
#include "decode/decode.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fail(const char *what, const struct stet_err *err)
{
    fprintf(stderr, "%s: %s: %s\n", what, stet_rc_name(err->rc), err->text);
    return 1;
}

static void *block(uint64_t bytes)
{
    size_t size = (size_t)(bytes + 64) / 64 * 64;
    void *memory = aligned_alloc(64, size);

    if (!memory) {
        fprintf(stderr, "out of memory for %zu bytes\n", size);
        exit(1);
    }
    return memory;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct options {
    const char *files[3];
    unsigned threads, repeat, replicas;
};

static int evaluate(const struct options *o, const struct stet_plan *plan, double decode_ms,
                    double plan_ms)
{
    const struct stet_plan_info *info = stet_plan_info(plan);
    void **in = calloc(info->input_count + 1, sizeof *in);
    void **out = calloc(info->output_count + 1, sizeof *out);
    double *times = calloc(o->repeat + 1, sizeof *times);
    void *scratch = block(info->scratch_bytes);
    struct stet_pool *pool = stet_pool_new(o->threads);
    struct stet_err err = STET_ERR_INIT;
    FILE *f = o->files[1] ? fopen(o->files[1], "rb") : NULL;
    int bad = 0;

    for (uint32_t i = 0; i < info->input_count; i++) {
        in[i] = block(info->inputs[i].bytes);
        memset(in[i], 0, info->inputs[i].bytes);
        if (f && info->inputs[i].bytes && fread(in[i], info->inputs[i].bytes, 1, f) != 1)
            bad = 1;
    }
    if (f)
        fclose(f);
    for (uint32_t i = 0; i < info->output_count; i++)
        out[i] = block(info->outputs[i].bytes);
    if (bad || !scratch || !pool) {
        fprintf(stderr, "%s: too short\n", o->files[1] ? o->files[1] : "inputs");
        return 1;
    }
    for (unsigned i = 0; i < o->repeat; i++) {
        double start = now();

        if (stet_plan_run(plan, (const void *const *)in, out, scratch, pool, &err))
            return fail("run", &err);
        times[i] = now() - start;
    }
    if (o->files[2] && (f = fopen(o->files[2], "wb"))) {
        for (uint32_t i = 0; i < info->output_count; i++)
            if (info->outputs[i].bytes)
                fwrite(out[i], info->outputs[i].bytes, 1, f);
        fclose(f);
    }
    qsort(times, o->repeat, sizeof *times, by_value);
    printf("{\"decode_ms\": %.3f, \"plan_ms\": %.3f, \"run_ms\": %.4f, \"scratch\": %llu, "
           "\"code\": %llu, "
           "\"inputs\": %u, \"outputs\": %u}\n",
           decode_ms, plan_ms, o->repeat ? times[o->repeat / 2] : 0,
           (unsigned long long)info->scratch_bytes, (unsigned long long)info->code_bytes,
           info->input_count, info->output_count);
    for (uint32_t i = 0; i < info->input_count; i++)
        free(in[i]);
    for (uint32_t i = 0; i < info->output_count; i++)
        free(out[i]);
    free(in);
    free(out);
    free(times);
    free(scratch);
    stet_pool_free(pool);
    return 0;
}

int main(int argc, char **argv)
{
    struct options o = {.threads = 1, .repeat = 1, .replicas = 1};
    struct stet_plan_devices on = {.partitions = 1};
    struct stet_err err = STET_ERR_INIT;
    struct stet_program program;
    struct stet_plan *plan;
    struct stet_file file;
    double start, decode_ms;
    int n = 0, rc;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            o.threads = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
            o.repeat = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--replicas") && i + 1 < argc)
            o.replicas = (unsigned)atoi(argv[++i]);
        else if (n < 3)
            o.files[n++] = argv[i];
    }
    if (!n) {
        fprintf(stderr, "usage: stet-eval PROGRAM [INPUTS [OUTPUTS]] [--threads N] [--repeat N] "
                        "[--replicas N]\n");
        return 2;
    }
    if (stet_file_open(&file, o.files[0], &err))
        return fail(o.files[0], &err);
    start = now();
    if (stet_decode(&program, file.bytes, &err))
        return fail("decode", &err);
    decode_ms = now() - start;
    start = now();
    on.replicas = o.replicas;
    if (stet_plan_new_on(&plan, &program, &on, &err))
        return fail("plan", &err);
    rc = evaluate(&o, plan, decode_ms, now() - start);
    stet_plan_free(plan);
    stet_program_release(&program);
    stet_file_close(&file);
    return rc;
}
