/* Any bytes as a program for the CPU backend, StableHLO or HLO: refused with a reason, or planned
 * and, when small, run within the memory the plan asked for, to the same bits on one thread and on
 * two. Loops are given up after some turns. */
#include "fuzz.h"

#include "backend/plan.h"
#include "backend/plan_steps.h"
#include "backend/pool.h"
#include "decode/decode.h"
#include "program/ops.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_BUFFERS = 64, MOST_WINDOW = 1 << 10, MOST_ELEMENTS = 1 << 12 };
enum { MOST_TURNS = 40 };

/* What says how long a step runs: windows and padding are not bounded by memory. */
static bool quick(const struct stet_op *op, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr *a = op->attrs[i].value;
        int64_t product = 1;

        if (a->kind != STET_ATTR_INTS || !stet_view_is(op->attrs[i].name, "window_dimensions"))
            continue;
        for (uint32_t j = 0; j < a->count; j++)
            if (a->ints[j] < 0 || a->ints[j] > MOST_WINDOW ||
                (product *= a->ints[j] + 1) > MOST_WINDOW)
                return false;
    }
    return true;
}

static bool small(const struct stet_plan_info *info)
{
    uint64_t bytes = info->scratch_bytes, elements = 0;

    if (info->input_count > MOST_BUFFERS || info->output_count > MOST_BUFFERS || bytes > MOST_BYTES)
        return false;
    for (uint32_t i = 0; i < info->input_count; i++)
        elements += info->inputs[i].elements;
    for (uint32_t i = 0; i < info->output_count; i++)
        elements += info->outputs[i].elements;
    return elements <= MOST_ELEMENTS;
}

static void *block(uint64_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);

    CHECK(p);
    return p;
}

/* Bytes that are wild as indices, floats and sizes alike; pred is 0 or 1. */
static void fill(void *data, const struct stet_shape *s, uint32_t seed)
{
    unsigned char *p = data;

    for (uint64_t i = 0; i < s->bytes; i++) {
        seed = seed * 1664525 + 1013904223;
        p[i] = (unsigned char)(seed >> (s->dtype == STET_DT_PRED ? 31 : 24));
    }
}

/* A host that reads all that it gets, and answers with the channel's number. */
static enum stet_rc to_host(void *context, uint32_t lane, int64_t channel, const void *data,
                            uint64_t bytes, struct stet_err *err)
{
    unsigned char *sum = context;

    (void)lane, (void)channel, (void)err;
    for (uint64_t i = 0; i < bytes; i++)
        *sum ^= ((const unsigned char *)data)[i];
    return STET_OK;
}

static enum stet_rc from_host(void *context, uint32_t lane, int64_t channel, void *data,
                              uint64_t bytes, struct stet_err *err)
{
    (void)context, (void)lane, (void)err;
    if (bytes)
        memset(data, (int)(channel & 1), bytes);
    return STET_OK;
}

static enum stet_rc run(const struct stet_plan *plan, void **in, void **out, struct stet_pool *pool)
{
    const struct stet_plan_info *info = stet_plan_info(plan);
    struct stet_err err = STET_ERR_INIT;
    void *scratch = block(info->scratch_bytes);
    unsigned char sum = 0;
    struct stet_host host = {to_host, from_host, &sum};
    enum stet_rc rc;

    for (uint32_t i = 0; i < info->output_count; i++) {
        out[i] = block(info->outputs[i].bytes);
        memset(out[i], 0, info->outputs[i].bytes);
    }
    rc = stet_plan_run_with(plan, (const void *const *)in, out, scratch, pool, &host, &err);
    CHECK(rc == STET_OK || (rc == STET_LIMIT && err.text[0]));
    free(scratch);
    return rc;
}

static void run_twice(const struct stet_plan *plan)
{
    const struct stet_plan_info *info = stet_plan_info(plan);
    void *in[MOST_BUFFERS + 1], *one[MOST_BUFFERS + 1], *two[MOST_BUFFERS + 1];
    static struct stet_pool *pool;
    enum stet_rc rc;

    if (!pool)
        CHECK(pool = stet_pool_new(2));
    for (uint32_t i = 0; i < info->input_count; i++) {
        in[i] = block(info->inputs[i].bytes);
        fill(in[i], &info->inputs[i], i + 1);
    }
    rc = run(plan, in, one, NULL);
    CHECK(run(plan, in, two, pool) == rc);
    for (uint32_t i = 0; i < info->output_count; i++) {
        CHECK(rc != STET_OK || memcmp(one[i], two[i], info->outputs[i].bytes) == 0);
        free(one[i]), free(two[i]);
    }
    for (uint32_t i = 0; i < info->input_count; i++)
        free(in[i]);
}

static void plan_and_run(const struct stet_program *p, const struct stet_plan_devices *on)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_plan *plan;

    if (stet_plan_new_on(&plan, p, on, &err) != STET_OK) {
        CHECK(err.rc != STET_OK && err.text[0]);
    } else {
        const struct stet_program *as_run = plan->legalised ? &plan->legal : p;

        stet_plan_limit(plan, MOST_TURNS);
        if (small(stet_plan_info(plan)) && stet_program_walk(as_run, quick, NULL))
            run_twice(plan);
        stet_plan_free(plan);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;

    if (stet_decode(&p, stet_view_of(data, size), &err) != STET_OK)
        return 0;
    plan_and_run(&p, &(struct stet_plan_devices){1, 1});
    plan_and_run(&p, &(struct stet_plan_devices){1, 4});
    plan_and_run(&p, &(struct stet_plan_devices){2, 1});
    stet_program_release(&p);
    return 0;
}
