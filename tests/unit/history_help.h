/* A run of small programs and what explain finds in it, for tests of explanations. */
#ifndef STET_TESTS_HISTORY_HELP_H
#define STET_TESTS_HISTORY_HELP_H

#include "program_help.h"

#include "decode/decode.h"
#include "explain/history.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST = 24 };

struct run {
    struct stet_history h;
    char texts[MOST][1024];
    struct stet_program programs[MOST];
    struct stet_fingerprint fingerprints[MOST];
    struct stet_order order;
    uint32_t items[256];
    uint32_t count;
    const char *file;  /* that calls; one that is not there unless said */
    uint64_t function; /* that it is of; 0: not known */
    bool library;      /* that function is a library's */
    uint64_t object;   /* the one of that function's objects that was called; 0: not known */
    bool values;       /* Python's frames were read */
    bool stepped;      /* the step is known */
    uint64_t step;     /* in which it is compiled */
    int64_t rank;      /* and process; -1 for one without */
    bool shared;       /* its devices are in common with other ranks */
};

static inline enum stet_rc open_program(void *context, uint32_t number,
                                        struct stet_history_side *out, struct stet_err *err)
{
    struct run *r = context;

    (void)err;
    *out = (struct stet_history_side){{&r->programs[number], &r->fingerprints[number], NULL}, NULL};
    return STET_OK;
}

static inline void start(struct run *r)
{
    struct stet_err err = STET_ERR_INIT;

    memset(r, 0, sizeof *r);
    EXPECT_INT(STET_OK, stet_history_init(&r->h, &err));
    r->h.open = open_program;
    r->h.context = r;
    r->file = "/nowhere/train.py";
    r->rank = -1;
    r->h.orders = &r->order;
    r->h.order_count = 1;
    r->order.items = r->items;
}

/* The text that was written last, called in `line` of train.py, or by nobody that was seen. */
static inline void add(struct run *r, uint32_t line, uint64_t executions)
{
    uint32_t n = r->count++, id;
    struct stet_err err = STET_ERR_INIT;
    struct stet_history_side side;
    struct stet_sighting s = {
        .process = r->rank > 0 ? (uint32_t)r->rank : 0,
        .rank = r->rank,
        .shared = r->shared,
        .index = n,
        .executions = executions,
        .executable = n + 1,
        .step = r->step,
        .step_known = r->stepped,
        .function = r->function,
        .library = r->library,
        .object = r->object,
        .values = r->values ? STET_VIEW("read") : (struct stet_view){0},
        .trigger = {stet_view_str(r->file), STET_VIEW("main"), line},
    };

    if (!read_program(&r->programs[n], stet_view_str(r->texts[n])))
        return;
    EXPECT_INT(STET_OK, stet_fingerprint_make(&r->fingerprints[n], &r->programs[n],
                                              (struct stet_view){0}, &err));
    s.program = stet_hash_bytes(stet_view_str(r->texts[n]));
    open_program(r, n, &side, &err);
    EXPECT_INT(STET_OK, stet_history_add(&r->h, &s, &side, NULL, &id, &err));
}

/* f(x) = x * value, written in line 7 of train.py, called in line 20; `more` goes in between. */
static inline void compile_of(struct run *r, int batch, const char *value, const char *more,
                              const char *name, uint64_t executions)
{
    uint32_t n = r->count;

    snprintf(r->texts[n], sizeof r->texts[n],
             "module @%s {\n"
             "func.func public @main(%%x: tensor<%dx4xf32> loc(\"x\")) -> tensor<%dx4xf32> {\n"
             "%%c = stablehlo.constant dense<%s> : tensor<%dx4xf32>\n"
             "%%a = stablehlo.multiply %%x, %%c : tensor<%dx4xf32> "
             "loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n"
             "%s"
             "%%y = stablehlo.tanh %s : tensor<%dx4xf32> "
             "loc(\"f\"(\"/nowhere/train.py\":9:5 to :9))\n"
             "return %%y : tensor<%dx4xf32>\n}\n}\n",
             name, batch, batch, value, batch, batch, more, *more ? "%b" : "%a", batch, batch);
    add(r, 20, executions);
}

/* A graph as PyTorch/XLA sends it, without names and lines. */
static inline void graph_of(struct run *r, const char *value, const char *more, uint32_t line)
{
    snprintf(r->texts[r->count], sizeof r->texts[0],
             "module @SyncTensorsGraph.%u {\n"
             "func.func public @main(%%x: tensor<4xf32>) -> tensor<4xf32> {\n"
             "%%c = stablehlo.constant dense<%s> : tensor<4xf32>\n"
             "%%a = stablehlo.multiply %%x, %%c : tensor<4xf32>\n%s"
             "%%y = stablehlo.tanh %s : tensor<4xf32>\n"
             "return %%y : tensor<4xf32>\n}\n}\n",
             r->count, value, more, *more ? "%b" : "%a");
    add(r, line, 1);
}

/* The k largest of eight, by a sort. */
static inline void largest_of(struct run *r, int k)
{
    snprintf(r->texts[r->count], sizeof r->texts[0],
             "module @SyncTensorsGraph.%u {\n"
             "func.func public @main(%%x: tensor<8xf32>) -> tensor<%dxf32> {\n"
             "%%s = \"stablehlo.sort\"(%%x) <{dimension = 0 : i64, is_stable = false}> ({\n"
             "^bb0(%%l: tensor<f32>, %%r: tensor<f32>):\n"
             "%%p = stablehlo.compare GT, %%l, %%r : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
             "stablehlo.return %%p : tensor<i1>\n}) : (tensor<8xf32>) -> tensor<8xf32>\n"
             "%%y = stablehlo.slice %%s [0:%d] : (tensor<8xf32>) -> tensor<%dxf32>\n"
             "return %%y : tensor<%dxf32>\n}\n}\n",
             r->count, k, k, k, k);
    add(r, 20, 1);
}

static inline void ran(struct run *r, const char *order)
{
    for (; *order; order++)
        r->items[r->order.count++] = (uint32_t)(*order - 'a');
}

static inline const struct stet_finding *judged(struct run *r, uint32_t number)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, stet_history_judge(&r->h, &err));
    for (uint32_t i = 0; i < r->h.finding_count; i++)
        if (r->h.findings[i].sighting == number)
            return &r->h.findings[i];
    return &r->h.findings[0];
}

static inline void end(struct run *r)
{
    stet_history_release(&r->h);
    for (uint32_t i = 0; i < r->count; i++)
        stet_program_release(&r->programs[i]);
}

#define EXPECT_CLASS(name, f)                                                                      \
    EXPECT_STR(name, (f)->cause != STET_CAUSE_NONE ? stet_cause_id((f)->cause) : "nothing")

static struct run r;

/* As TorchTPU sends it, in frames from the inside out. */
static inline void torchtpu_of(struct run *run, const char *name, const char *argument,
                               const char *op, const char *frames, uint32_t line)
{
    snprintf(run->texts[run->count], sizeof run->texts[0],
             "module @tt_jit_%s {\n"
             "func.func public @main(%%x: tensor<%sxf32>) -> tensor<%sxf32> {\n"
             "%%y = stablehlo.%s %%x : tensor<%sxf32> loc(\"%s/%s\"(%s))\n"
             "return %%y : tensor<%sxf32>\n}\n}\n",
             name, argument, argument, op, argument, op, op, frames, argument);
    add(run, line, 5);
}

#define COMPILED(with)                                                                             \
    "callsite(\"loss_of\"(\"/nowhere/train.py\":8:0) at callsite(\"fx_to_mlir\"("                  \
    "\"/p/site-packages/torch_tpu/_internal/export/export.py\":534:0) at \"" with                  \
    "\"(\"/p/site-packages/torch/_dynamo/backends/common.py\":83:0)))"

#endif
