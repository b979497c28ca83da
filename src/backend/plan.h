/* A program planned for execution: kernels chosen, shapes checked, all memory placed.
 *
 * Planning rejects what it cannot run, with op and source line in the error. Running checks and
 * allocates nothing. A plan is immutable: any number of threads may run it at the same time, each
 * with its own scratch memory. */
#ifndef STET_BACKEND_PLAN_H
#define STET_BACKEND_PLAN_H

#include "backend/tensor.h"
#include "base/err.h"
#include "program/program.h"

struct stet_plan;
struct stet_pool; /* the worker threads, see pool.h */
struct stet_sharding;

/* How many devices a program is for. One of the two numbers is 1. Each device is a lane. */
struct stet_plan_devices {
    uint32_t replicas, partitions;
    /* For each result of the program, how the real compiler shards it, in XLA's language; empty
     * texts and NULL leave it to the plan. */
    const struct stet_view *results;
};

/* Counted when planned; a loop's body once. */
struct stet_plan_cost {
    double flops, transcendentals;
    double bytes; /* of the buffers that the steps read and write */
};

struct stet_plan_info {
    const struct stet_shape *inputs, *outputs;
    /* A tuple result counts as its elements. With several lanes: of the first lane, then of the
     * second, and so on. */
    uint32_t input_count, output_count;
    /* With several lanes: of one lane's inputs and outputs; else NULL. */
    const struct stet_sharding *input_shardings, *output_shardings;
    /* Per output: the input whose memory it may reuse if that input is donated, or -1. */
    const int32_t *output_alias;
    const bool *donatable;  /* per input: the program donates it */
    uint64_t scratch_bytes; /* what stet_plan_run needs, 64-byte aligned */
    uint64_t code_bytes;    /* the plan itself */
    bool calls;             /* functions of libraries, Python's among them */
    bool talks;             /* some of its calls of these or of the host have effects */
    struct stet_plan_cost cost;
    struct stet_view name;
};

/* `p` must outlive the plan, because constants are read in place; HLO programs are legalised
 * inside. */
enum stet_rc stet_plan_new(struct stet_plan **out, const struct stet_program *p,
                           struct stet_err *err);
/* For several devices: one plan, whose inputs and outputs are those of all devices. */
enum stet_rc stet_plan_new_on(struct stet_plan **out, const struct stet_program *p,
                              const struct stet_plan_devices *on, struct stet_err *err);
/* Only the description (stet_plan_info) of the program's arguments and results, for any program
 * whose types and shardings are known, whatever its operations are. It cannot be run. */
enum stet_rc stet_plan_new_border(struct stet_plan **out, const struct stet_program *p,
                                  const struct stet_plan_devices *on, struct stet_err *err);
void stet_plan_free(struct stet_plan *plan);
const struct stet_plan_info *stet_plan_info(const struct stet_plan *plan);
/* For programs that may never end: a run in which all loops together make more iterations than this
 * stops with STET_LIMIT. Call it before the first run. */
void stet_plan_limit(struct stet_plan *plan, uint64_t turns);

/* How a running program communicates with the host: `send` passes `bytes` of `data` to it,
 * `receive` waits for as many; `lane` is the device that does so. Called on the thread that runs
 * the plan, in the program's order. */
struct stet_host {
    enum stet_rc (*send)(void *context, uint32_t lane, int64_t channel, const void *data,
                         uint64_t bytes, struct stet_err *err);
    enum stet_rc (*receive)(void *context, uint32_t lane, int64_t channel, void *data,
                            uint64_t bytes, struct stet_err *err);
    void *context;
    /* A function that the program called failed; `code` is one of absl::StatusCode. May be NULL. */
    void (*failed)(void *context, int code, const char *text);
};

/* Buffers are 64-byte aligned, dense, row-major; pred is one byte, 0 or 1; a token has no memory.
 * outputs[i] may be the same memory as the input it is aliased with (output_alias), and no other;
 * other inputs are never written. Any number of runs of one plan may be in progress at once, each
 * with its own scratch and outputs; they may share the pool. A program that communicates with the
 * host fails in stet_plan_run, which has no host. */
enum stet_rc stet_plan_run(const struct stet_plan *plan, const void *const *inputs,
                           void *const *outputs, void *scratch, struct stet_pool *pool,
                           struct stet_err *err);
enum stet_rc stet_plan_run_with(const struct stet_plan *plan, const void *const *inputs,
                                void *const *outputs, void *scratch, struct stet_pool *pool,
                                const struct stet_host *host, struct stet_err *err);

#endif
