/* Creates a plan, and runs it. */
#include "backend/plan.h"

#include <stdlib.h>

#include "backend/ffi.h"
#include "backend/lower.h"
#include "backend/params.h"
#include "backend/plan_steps.h"
#include "base/mem.h"
#include "legalize/hlo_to_stablehlo.h"

enum { PLAN_CAP_LOG2 = 36 };

/* ---- making ---- */

/* Of the first lane: the results that may take over the memory of donated arguments. */
static void pair_donors(const struct stet_program *p, const struct stet_shape *in,
                        const struct stet_shape *out, uint32_t results, int32_t *alias,
                        bool *donatable)
{
    for (uint32_t i = 0; i < p->argument_count; i++) {
        int32_t a = p->arguments[i].alias;

        donatable[i] = p->arguments[i].donor || a >= 0;
        if (a >= 0 && (uint32_t)a < results && alias[a] < 0 && stet_shape_eq(&in[i], &out[a]))
            alias[a] = (int32_t)i;
    }
    /* a donated argument that names no result takes the first free result of its type */
    for (uint32_t i = 0; i < p->argument_count; i++) {
        if (!p->arguments[i].donor || p->arguments[i].alias >= 0)
            continue;
        for (uint32_t j = 0; j < results; j++)
            if (alias[j] < 0 && out[j].bytes && stet_shape_eq(&in[i], &out[j])) {
                alias[j] = (int32_t)i;
                break;
            }
    }
}

enum stet_rc stet_plan_describe(struct stet_plan *plan, struct stet_lower *l,
                                const struct stet_shape *in, uint32_t in_count,
                                const struct stet_shape *out, uint32_t out_count)
{
    const struct stet_program *p = l->program;
    int32_t *alias = STET_NEW_ARRAY(l->arena, int32_t, out_count + 1);
    bool *donatable = STET_NEW_ARRAY(l->arena, bool, in_count + 1);
    uint32_t args = in_count / l->lanes, results = out_count / l->lanes;

    if (!alias || !donatable)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < out_count; i++)
        alias[i] = -1;
    if (p->argument_count == args) /* tuple parameters are not donated element by element */
        pair_donors(p, in, out, results, alias, donatable);
    /* every lane has the same shapes */
    for (uint32_t i = args; i < in_count; i++)
        donatable[i] = donatable[i - args];
    for (uint32_t i = results; i < out_count; i++)
        alias[i] = alias[i - results] < 0 ? -1 : alias[i - results] + (int32_t)args;
    plan->info = (struct stet_plan_info){.inputs = in,
                                         .outputs = out,
                                         .input_count = in_count,
                                         .output_count = out_count,
                                         .input_shardings = l->in_shardings,
                                         .output_shardings = l->out_shardings,
                                         .output_alias = alias,
                                         .donatable = donatable,
                                         .name = stet_op_symbol(p->module)};
    return STET_OK;
}

static enum stet_rc fill_info(struct stet_plan *plan, struct stet_lower *l,
                              const struct stet_gblock *entry)
{
    struct stet_shape *in = STET_NEW_ARRAY(l->arena, struct stet_shape, entry->arg_count + 1);
    struct stet_shape *out = STET_NEW_ARRAY(l->arena, struct stet_shape, entry->result_count + 1);

    if (!in || !out)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < entry->arg_count; i++)
        in[i] = entry->args[i]->shape;
    for (uint32_t i = 0; i < entry->result_count; i++)
        out[i] = entry->results[i]->shape;
    return stet_plan_describe(plan, l, in, entry->arg_count, out, entry->result_count);
}

/* Scratch memory of tiny programs, behind the table. */
static void place_tiny(struct stet_plan *plan)
{
    uint64_t at = (plan->info.scratch_bytes + 63) / 64 * 64, most = 0;

    if (!plan->tiny)
        return;
    for (struct stet_tiny *s = plan->tiny; s; s = s->next) {
        uint64_t registers = stet_tiny_registers(s);

        s->offset = at;
        at += stet_tiny_size(s);
        most = registers > most ? registers : most;
    }
    plan->registers = at;
    plan->info.scratch_bytes = at + most;
}

static enum stet_rc make(struct stet_plan *plan, const struct stet_program *p,
                         const struct stet_plan_devices *on, struct stet_err *err)
{
    struct stet_lower l = {.arena = &plan->arena,
                           .program = p,
                           .err = err,
                           .on = *on,
                           .sites = &plan->sites,
                           .lanes = on->replicas * on->partitions};
    struct stet_placement place = {.l = &l};
    struct stet_gblock *entry;
    uint64_t ops = (uint64_t)p->op_count * l.lanes;

    l.maps = STET_NEW_ARRAY(l.arena, struct stet_lowered, ((size_t)p->value_count + 1) * l.lanes);
    l.map = l.maps;
    l.single = l.lanes == 1;
    l.shardings = (struct stet_sharding_reader){.arena = l.arena, .err = err, .lanes = l.lanes};
    l.facts = STET_NEW_ARRAY(l.arena, uint8_t, p->function_count + 1);
    l.calls = STET_NEW_ARRAY(l.arena, const struct stet_op *, STET_MAX_CALLS + 1);
    if (!l.maps || !l.calls || !l.facts)
        return stet_lower_memory(&l);
    l.most_nodes = ops < (STET_MAX_NODES - STET_LEAST_NODES) / STET_NODES_PER_OP
                       ? STET_LEAST_NODES + STET_NODES_PER_OP * (uint32_t)ops
                       : STET_MAX_NODES;
    TRY(stet_lower_program(&l, &entry));
    l.op = NULL;
    TRY(fill_info(plan, &l, entry));
    plan->info.calls = plan->sites != NULL;
    plan->info.talks = entry->talks;
    TRY(stet_backend_graph_simplify(&l, entry));
    TRY(stet_backend_graph_fuse(&l, entry));
    stet_backend_graph_cost(entry, &plan->info.cost);
    place.output_alias = plan->info.output_alias;
    TRY(stet_backend_placement_make(&place, entry));
    TRY(stet_backend_emit(&place, entry, plan));
    plan->table_offset = (place.scratch_bytes + 63) / 64 * 64;
    plan->info.scratch_bytes =
        plan->table_offset + (plan->ref_count + 1) * (uint64_t)sizeof(void *);
    place_tiny(plan);
    plan->info.code_bytes = plan->arena.used;
    return STET_OK;
}

enum stet_rc stet_plan_new(struct stet_plan **out, const struct stet_program *p,
                           struct stet_err *err)
{
    return stet_plan_new_on(out, p, &(struct stet_plan_devices){1, 1}, err);
}

enum stet_rc stet_plan_new_on(struct stet_plan **out, const struct stet_program *p,
                              const struct stet_plan_devices *on, struct stet_err *err)
{
    return stet_plan_new_by(out, make, (size_t)1 << PLAN_CAP_LOG2, true, p, on, err);
}

static enum stet_rc make_legal(struct stet_plan *plan, stet_plan_make_fn *make_plan, bool legalise,
                               const struct stet_program *p, const struct stet_plan_devices *on,
                               struct stet_err *err)
{
    if (legalise && (p->source == STET_SOURCE_HLO || p->source == STET_SOURCE_HLO_TEXT)) {
        TRY(stet_legalize_hlo(&plan->legal, p, err));
        plan->legalised = true;
        p = &plan->legal;
    }
    return make_plan(plan, p, on, err);
}

enum stet_rc stet_plan_new_by(struct stet_plan **out, stet_plan_make_fn *make_plan, size_t cap,
                              bool legalise, const struct stet_program *p,
                              const struct stet_plan_devices *on, struct stet_err *err)
{
    struct stet_plan *plan = stet_mem_calloc(1, sizeof *plan);
    struct stet_err own = STET_ERR_INIT; /* lowering reads the error back, so there must be one */
    enum stet_rc rc;

    *out = NULL;
    if (!plan)
        return stet_fail(err, STET_NO_MEMORY, "out of memory while planning");
    stet_arena_init(&plan->arena, cap);
    rc = make_legal(plan, make_plan, legalise, p, on, err ? err : &own);
    if (rc != STET_OK) {
        stet_plan_free(plan);
        return rc;
    }
    *out = plan;
    return STET_OK;
}

void stet_plan_free(struct stet_plan *plan)
{
    if (!plan)
        return;
    stet_ffi_release(plan->sites);
    if (plan->legalised)
        stet_program_release(&plan->legal);
    stet_arena_release(&plan->arena);
    stet_mem_free(plan);
}

void stet_plan_limit(struct stet_plan *plan, uint64_t turns)
{
    plan->most_turns = turns;
}

const struct stet_plan_info *stet_plan_info(const struct stet_plan *plan)
{
    return &plan->info;
}

/* ---- running ---- */

struct tile_job {
    const struct stet_step *step;
    void *const *bufs;
    uint64_t each; /* panels of a task */
};

static void tile_task(void *context, uint64_t i)
{
    const struct tile_job *j = context;
    const struct stet_tile_prog *prog = j->step->tile.prog;
    uint64_t start = i * j->step->tile.grain, end = start + j->step->tile.grain;
    struct stet_tile_state state;

    if (end > j->step->tile.elements)
        end = j->step->tile.elements;
    stet_tile_begin(prog, &state, j->bufs,
                    end - start < prog->tile ? (size_t)(end - start) : prog->tile);
    for (; start < end; start += prog->tile)
        stet_tile_eval(prog, &state, j->bufs, start,
                       end - start < prog->tile ? (size_t)(end - start) : prog->tile);
}

/* The panels of `rows_each` rows that belong to a task; a panel is within one matrix. */
static void panel_task(void *context, uint64_t i)
{
    const struct tile_job *j = context;
    const struct stet_tile_prog *p = j->step->tile.prog;
    uint64_t rows = (uint64_t)p->rows, panels = (rows + STET_PANEL_ROWS - 1) / STET_PANEL_ROWS;
    uint64_t all = j->step->tile.elements / (rows * (uint64_t)p->cols) * panels;
    struct stet_tile_state state;
    struct stet_tile_panels memory;

    stet_tile_begin(p, &state, j->bufs,
                    p->tile < STET_PANEL_COLS ? (size_t)p->tile : STET_PANEL_COLS);
    for (uint64_t n = i * j->each; n < (i + 1) * j->each && n < all; n++) {
        uint64_t first = n % panels * STET_PANEL_ROWS;

        stet_tile_eval_rows(p, &state, &memory, j->bufs, n / panels * rows + first,
                            rows - first < STET_PANEL_ROWS ? (size_t)(rows - first)
                                                           : STET_PANEL_ROWS);
    }
}

static void run_panels(const struct stet_step *s, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_tile_prog *p = s->tile.prog;
    uint64_t matrix = (uint64_t)(p->rows * p->cols);
    uint64_t panels = (uint64_t)(p->rows + STET_PANEL_ROWS - 1) / STET_PANEL_ROWS;
    struct tile_job job = {s, bufs, 1 + 16384 / ((uint64_t)p->cols * STET_PANEL_ROWS)};
    uint64_t all = s->tile.elements / matrix * panels;

    stet_pool_for(pool, (all + job.each - 1) / job.each, panel_task, &job);
}

static void run_tile(const struct stet_step *s, void *const *bufs, struct stet_pool *pool)
{
    struct tile_job job = {s, bufs, 0};

    if (s->tile.prog->cols) {
        run_panels(s, bufs, pool);
        return;
    }
    stet_pool_for(pool, (s->tile.elements + s->tile.grain - 1) / s->tile.grain, tile_task, &job);
}

static uint32_t branch_of(const struct stet_step *s, const void *index)
{
    int32_t i;

    if (s->select.pred)
        return *(const uint8_t *)index ? 0 : 1;
    memcpy(&i, index, sizeof i);
    return i < 0 || (uint32_t)i >= s->select.count ? s->select.count - 1 : (uint32_t)i;
}

struct run {
    void *const *table;
    const char *scratch;
    struct stet_pool *pool;
    const struct stet_host *host;
    struct stet_err *err;
    uint64_t turns_left, most_turns;
};

static enum stet_rc run_steps(const struct stet_plan_steps *steps, struct run *r);

static enum stet_rc run_while(const struct stet_step *s, struct run *r)
{
    const uint8_t *go_on = r->table[s->first];

    for (;;) {
        TRY(run_steps(&s->blocks[0], r));
        if (!*go_on)
            return STET_OK;
        if (r->turns_left-- == 0)
            return stet_fail(r->err, STET_LIMIT, "loops ran more than %llu iterations",
                             (unsigned long long)r->most_turns);
        TRY(run_steps(&s->blocks[1], r));
    }
}

static enum stet_rc run_transfer(const struct stet_transfer *t, void *const *bufs, struct run *r)
{
    void *data = bufs[t->buffer];

    if (!r->host)
        return stet_fail(r->err, STET_UNSUPPORTED,
                         "the program sends to the host, but this caller has no host callbacks");
    return t->send
               ? r->host->send(r->host->context, t->lane, t->channel, data, t->bytes, r->err)
               : r->host->receive(r->host->context, t->lane, t->channel, data, t->bytes, r->err);
}

static enum stet_rc run_steps(const struct stet_plan_steps *steps, struct run *r)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct stet_step *s = &steps->v[i];
        void *const *bufs = r->table + s->first;

        switch (s->kind) {
        case STET_STEP_TILE:
            run_tile(s, bufs, r->pool);
            break;
        case STET_STEP_TINY:
            stet_tiny_run(s->tiny, r->scratch);
            break;
        case STET_STEP_KERNEL:
            s->kernel.run(s->kernel.params, bufs, r->pool);
            break;
        case STET_STEP_COPY:
            if (bufs[0] != bufs[1])
                memcpy(bufs[1], bufs[0], s->bytes);
            break;
        case STET_STEP_WHILE:
            TRY(run_while(s, r));
            break;
        case STET_STEP_CASE:
            TRY(run_steps(&s->select.branches[branch_of(s, bufs[0])], r));
            break;
        case STET_STEP_HOST:
            TRY(run_transfer(s->transfer, bufs, r));
            break;
        case STET_STEP_FFI:
            TRY(stet_ffi_run(s->site, bufs, r->pool, r->host, r->err));
            break;
        }
    }
    return STET_OK;
}

static void *address(const struct stet_plan *plan, const struct stet_step_ref *r,
                     const void *const *inputs, void *const *outputs, char *scratch)
{
    uint32_t i = r->base - 2;

    if (r->base == 0)
        return scratch + r->offset;
    if (r->base == 1)
        return (void *)(uintptr_t)r->offset;
    if (i < plan->info.input_count)
        return (void *)(uintptr_t)inputs[i];
    return outputs[i - plan->info.input_count];
}

enum stet_rc stet_plan_run_with(const struct stet_plan *plan, const void *const *inputs,
                                void *const *outputs, void *scratch, struct stet_pool *pool,
                                const struct stet_host *host, struct stet_err *err)
{
    void **table = (void **)(void *)((char *)scratch + plan->table_offset);
    uint64_t turns = plan->most_turns ? plan->most_turns : UINT64_MAX;
    struct run r = {table, scratch, pool, host, err, turns, turns};

    for (uint32_t i = 0; i < plan->ref_count; i++)
        table[i] = address(plan, &plan->refs[i], inputs, outputs, scratch);
    for (const struct stet_tiny *s = plan->tiny; s; s = s->next)
        stet_tiny_prepare(s, scratch, (char *)scratch + plan->registers, table + s->first);
    return run_steps(&plan->steps, &r);
}

enum stet_rc stet_plan_run(const struct stet_plan *plan, const void *const *inputs,
                           void *const *outputs, void *scratch, struct stet_pool *pool,
                           struct stet_err *err)
{
    return stet_plan_run_with(plan, inputs, outputs, scratch, pool, NULL, err);
}
