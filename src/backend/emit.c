/* Builds steps from groups and buffers. */
#include "backend/codegen.h"
#include "backend/lower.h"
#include "backend/params.h"
#include "backend/plan_steps.h"

#include "program/build.h"

struct emitter {
    struct stet_placement *p;
    struct stet_lower *l;
    struct stet_build_list refs; /* struct stet_buffer *, in table order */
    struct stet_codegen *g;
    uint32_t loops; /* around the block */
    struct stet_tiny *tiny;
};

/* Steps of one block while they are made. */
struct stepper {
    struct stet_build_list steps;
};

static void ref(struct emitter *e, struct stet_buffer *b)
{
    stet_build_list_add(&e->refs, b);
}

static void ref_value(struct emitter *e, struct stet_gval *v)
{
    ref(e, stet_backend_buffer_of(v));
}

static struct stet_step *new_step(struct emitter *e, struct stepper *s, enum stet_step_kind kind)
{
    struct stet_step *t = STET_NEW(e->l->arena, struct stet_step);

    if (!t)
        return NULL;
    t->kind = kind;
    t->first = (uint32_t)e->refs.count;
    stet_build_list_add(&s->steps, t);
    return t;
}

static enum stet_rc copy_step(struct emitter *e, struct stepper *s, struct stet_buffer *from,
                              struct stet_buffer *to)
{
    struct stet_step *t = new_step(e, s, STET_STEP_COPY);

    if (!t)
        return stet_lower_memory(e->l);
    t->bytes = stet_backend_buffer_find(to)->size;
    ref(e, stet_backend_buffer_find(from));
    ref(e, stet_backend_buffer_find(to));
    return STET_OK;
}

/* ---- tile programs ---- */

/* The elementwise nodes of the group, in order, and stores of what other groups read. */
static void group_code(struct emitter *e, struct stet_graph_group *g)
{
    for (uint32_t i = g->node_count; i-- > 0;)
        if (g->nodes[i]->kind == STET_G_EW)
            stet_backend_cg_node(e->g, g->nodes[i]);
    for (uint32_t i = g->node_count; i-- > 0;)
        if (g->nodes[i]->kind == STET_G_EW && g->nodes[i]->out[0]->in_memory)
            stet_backend_cg_store(e->g, g->nodes[i]->out[0]);
}

static enum stet_rc too_large(struct emitter *e)
{
    return e->l->arena->failed ? stet_lower_memory(e->l)
                               : stet_lower_fail(e->l, STET_LIMIT, "a fused loop is too large");
}

/* A tiny program in a loop is prepared before the loop. */
static enum stet_rc make_tiny(struct emitter *e, struct stet_step *t,
                              const struct stet_tile_prog *prog, uint64_t elements,
                              const struct stet_reduce *reduce)
{
    struct stet_tiny *s = STET_NEW(e->l->arena, struct stet_tiny);

    if (!s)
        return stet_lower_memory(e->l);
    *s = (struct stet_tiny){.prog = prog,
                            .elements = (uint32_t)elements,
                            .first = t->first,
                            .reduce = reduce,
                            .next = e->tiny};
    e->tiny = s;
    t->kind = STET_STEP_TINY;
    t->tiny = s;
    return STET_OK;
}

static enum stet_rc tile_step(struct emitter *e, struct stepper *s, struct stet_graph_group *g)
{
    struct stet_tile_prog *prog = STET_NEW(e->l->arena, struct stet_tile_prog);
    struct stet_step *t;

    if (!prog)
        return stet_lower_memory(e->l);
    stet_backend_cg_begin(e->g, e->l->arena, ++e->l->marks);
    group_code(e, g);
    if (g->nodes[0]->kind == STET_G_SPLAT || g->nodes[0]->kind == STET_G_IOTA) {
        stet_backend_cg_value(e->g, g->nodes[0]->out[0]);
        stet_backend_cg_store(e->g, g->nodes[0]->out[0]);
    }
    if (!stet_backend_cg_finish(e->g, prog, NULL, 0))
        return too_large(e);
    if (!(t = new_step(e, s, STET_STEP_TILE)))
        return stet_lower_memory(e->l);
    t->tile.prog = prog;
    t->tile.elements = g->elements;
    t->tile.grain = (uint64_t)prog->tile * ((16384 + prog->tile - 1) / prog->tile);
    for (uint32_t i = 0; i < e->g->slot_count; i++)
        ref_value(e, e->g->slots[i]);
    if (e->loops && stet_tiny_fits(prog, g->elements))
        return make_tiny(e, t, prog, g->elements, NULL);
    return STET_OK;
}

enum { CHUNK = 16384, CHUNKS = 16 };

/* If few elements are kept and many folded, the fold is split into parts. Their size depends on the
 * shape alone: elements of one row, or rows of columns. */
static uint64_t reduce_chunk(const struct stet_reduce *r)
{
    uint64_t kept = (uint64_t)r->kept, folded = (uint64_t)r->folded, rows;

    if (r->rank == 1 && r->reduced[0])
        return folded < 2 * CHUNK ? 0 : CHUNK;
    if (r->rank < 2 || r->reduced[r->rank - 1] || kept == 0 || kept > 4 * CHUNK)
        return 0;
    rows = (folded + CHUNKS - 1) / CHUNKS;
    if (rows * kept < CHUNK)
        rows = CHUNK / kept + 1;
    return rows < folded ? rows : 0;
}

static uint64_t reduce_temporary(const struct stet_reduce *r)
{
    uint64_t chunks = ((uint64_t)r->folded + r->chunk - 1) / r->chunk;

    return chunks * r->count * 16 * (uint64_t)r->kept;
}

static enum stet_rc reduce_step(struct emitter *e, struct stepper *s, struct stet_graph_group *g)
{
    struct stet_gnode *n = g->nodes[0];
    struct stet_reduce *r = n->params;
    struct stet_step *t;

    r->prog = STET_NEW(e->l->arena, struct stet_tile_prog);
    r->regs = STET_NEW_ARRAY(e->l->arena, uint16_t, r->count);
    if (!r->prog || !r->regs)
        return stet_lower_memory(e->l);
    stet_backend_cg_begin(e->g, e->l->arena, ++e->l->marks);
    group_code(e, g);
    for (uint32_t i = 0; i < r->count; i++) {
        r->regs[i] = stet_backend_cg_value(e->g, n->in[i]);
        stet_backend_cg_keep(e->g, r->regs[i]);
    }
    if (!stet_backend_cg_finish(e->g, r->prog, r->regs, r->count))
        return too_large(e);
    if (!(t = new_step(e, s, STET_STEP_KERNEL)))
        return stet_lower_memory(e->l);
    t->kernel.run = stet_kernel_reduce.run;
    t->kernel.params = r;
    for (uint32_t i = 0; i < e->g->slot_count; i++)
        ref_value(e, e->g->slots[i]);
    r->first_init = e->g->slot_count;
    r->init = stet_graph_splat_value(n->in[r->count]);
    for (uint32_t i = 0; i < r->count; i++)
        ref_value(e, n->in[r->count + i]);
    r->first_out = r->first_init + r->count;
    for (uint32_t i = 0; i < r->count; i++)
        ref_value(e, n->out[i]);
    r->temp = r->first_out + r->count;
    if ((r->chunk = reduce_chunk(r))) {
        struct stet_buffer *b;

        b = stet_backend_placement_temporary(e->p, reduce_temporary(r), g->time, g->time);
        if (!b)
            return STET_NO_MEMORY;
        ref(e, b);
    }
    if (e->loops && stet_tiny_reduces(r))
        return make_tiny(e, t, r->prog, (uint64_t)(r->kept * r->folded), r);
    return STET_OK;
}

/* ---- calls ---- */

static void ready_moves(struct stet_copy *c)
{
    for (uint32_t i = 0; i < c->move_count; i++)
        stet_backend_move_ready(&c->moves[i]);
}

static enum stet_rc call_step(struct emitter *e, struct stepper *s, struct stet_graph_group *g)
{
    struct stet_gnode *n = g->nodes[0];
    struct stet_step *t = new_step(e, s, STET_STEP_KERNEL);

    if (!t)
        return stet_lower_memory(e->l);
    if (n->kernel == &stet_kernel_copy)
        ready_moves(n->params);
    t->kernel.run = n->kernel->run;
    t->kernel.params = n->params;
    for (uint32_t i = 0; i < n->in_count; i++)
        ref_value(e, n->in[i]);
    for (uint32_t i = 0; i < n->out_count; i++)
        ref_value(e, n->out[i]);
    if (n->scratch) {
        struct stet_buffer *b =
            stet_backend_placement_temporary(e->p, n->scratch, g->time, g->time);

        if (!b)
            return STET_NO_MEMORY;
        ref(e, b);
    }
    return STET_OK;
}

static enum stet_rc ffi_step(struct emitter *e, struct stepper *s, struct stet_graph_group *g)
{
    struct stet_gnode *n = g->nodes[0];
    struct stet_step *t = new_step(e, s, STET_STEP_FFI);
    struct stet_buffer *b = stet_backend_placement_temporary(e->p, n->scratch, g->time, g->time);

    if (!t || !b)
        return stet_lower_memory(e->l);
    t->site = n->params;
    for (uint32_t i = 0; i < n->in_count; i++)
        ref_value(e, n->in[i]);
    for (uint32_t i = 0; i < n->out_count; i++)
        ref_value(e, n->out[i]);
    ref(e, b);
    return STET_OK;
}

static enum stet_rc host_step(struct emitter *e, struct stepper *s, struct stet_gnode *n)
{
    struct stet_step *t = new_step(e, s, STET_STEP_HOST);

    if (!t)
        return stet_lower_memory(e->l);
    t->transfer = n->params;
    for (uint32_t i = 0; i < n->in_count; i++)
        ref_value(e, n->in[i]);
    for (uint32_t i = 0; i < n->out_count; i++)
        ref_value(e, n->out[i]);
    return STET_OK;
}

/* A view that must be dense in memory. */
static enum stet_rc view_step(struct emitter *e, struct stepper *s, struct stet_graph_group *g)
{
    struct stet_gnode *n = g->nodes[0];
    struct stet_copy *c = STET_NEW(e->l->arena, struct stet_copy);
    struct stet_step *t = new_step(e, s, STET_STEP_KERNEL);

    if (!c || !t || !(c->moves = STET_NEW(e->l->arena, struct stet_move)))
        return stet_lower_memory(e->l);
    c->bytes = stet_dtype_bytes(n->out[0]->shape.dtype);
    c->out = 1;
    c->out_elements = n->out[0]->shape.elements;
    c->fill = c->base = -1;
    c->move_count = 1;
    c->moves->rank = n->map.rank;
    c->moves->from_offset = n->map.offset;
    memcpy(c->moves->dims, n->map.dims, sizeof c->moves->dims);
    memcpy(c->moves->from_strides, n->map.strides, sizeof c->moves->from_strides);
    stet_graph_dense_strides(&n->out[0]->shape, c->moves->to_strides);
    ready_moves(c);
    t->kernel.run = stet_kernel_copy.run;
    t->kernel.params = c;
    ref_value(e, n->in[0]);
    ref_value(e, n->out[0]);
    return STET_OK;
}

/* ---- blocks ---- */

static enum stet_rc block_steps(struct emitter *e, struct stet_gblock *b, struct stet_carry *end,
                                uint32_t end_count, struct stet_plan_steps *out);

static enum stet_rc while_step(struct emitter *e, struct stepper *s, struct stet_gnode *n)
{
    struct stet_border *x = n->params;
    struct stet_step *t;

    for (uint32_t i = 0; i < x->entry_count; i++)
        TRY(copy_step(e, s, x->entry[i].from, x->entry[i].to));
    if (!(t = new_step(e, s, STET_STEP_WHILE)))
        return stet_lower_memory(e->l);
    ref_value(e, n->blocks[0]->results[0]);
    e->loops++;
    TRY(block_steps(e, n->blocks[0], NULL, 0, &t->blocks[0]));
    TRY(block_steps(e, n->blocks[1], x->exit, x->exit_count, &t->blocks[1]));
    e->loops--;
    return STET_OK;
}

static enum stet_rc case_step(struct emitter *e, struct stepper *s, struct stet_gnode *n)
{
    struct stet_border *x = n->params;
    struct stet_step *t = new_step(e, s, STET_STEP_CASE);

    if (!t ||
        !(t->select.branches = STET_NEW_ARRAY(e->l->arena, struct stet_plan_steps, n->block_count)))
        return stet_lower_memory(e->l);
    t->select.count = n->block_count;
    t->select.pred = n->in[0]->shape.dtype == STET_DT_PRED;
    ref_value(e, n->in[0]);
    for (uint32_t i = 0; i < n->block_count; i++)
        TRY(block_steps(e, n->blocks[i], x->branch[i], x->branch_counts[i],
                        &t->select.branches[i]));
    return STET_OK;
}

static enum stet_rc group_step(struct emitter *e, struct stepper *s, struct stet_graph_group *g)
{
    struct stet_gnode *n = g->nodes[0];

    e->l->op = n->op;
    switch (n->kind) {
    case STET_G_SPLAT: /* a constant by now? */
        if (stet_backend_buffer_of(n->out[0])->space == STET_SPACE_CONST)
            return STET_OK;
        return tile_step(e, s, g);
    case STET_G_IOTA:
    case STET_G_EW:
        return tile_step(e, s, g);
    case STET_G_VIEW:
        return view_step(e, s, g);
    case STET_G_REDUCE:
        return reduce_step(e, s, g);
    case STET_G_CALL:
        return call_step(e, s, g);
    case STET_G_WHILE:
        return while_step(e, s, n);
    case STET_G_CASE:
        return case_step(e, s, n);
    case STET_G_HOST:
        return host_step(e, s, n);
    case STET_G_FFI:
        return ffi_step(e, s, g);
    default:
        return stet_lower_fail(e->l, STET_UNSUPPORTED, "a step of this kind");
    }
}

static enum stet_rc keep_steps(struct emitter *e, struct stepper *s, struct stet_plan_steps *out)
{
    out->v = STET_NEW_ARRAY(e->l->arena, struct stet_step, s->steps.count + 1);
    if (!out->v || s->steps.failed)
        return stet_lower_memory(e->l);
    for (size_t i = 0; i < s->steps.count; i++)
        out->v[i] = *(struct stet_step *)s->steps.items[i];
    out->count = (uint32_t)s->steps.count;
    return STET_OK;
}

static enum stet_rc block_steps(struct emitter *e, struct stet_gblock *b, struct stet_carry *end,
                                uint32_t end_count, struct stet_plan_steps *out)
{
    struct stepper s = {{0}};
    enum stet_rc rc = STET_OK;

    for (struct stet_graph_group *g = b->groups; g && rc == STET_OK; g = g->next)
        rc = group_step(e, &s, g);
    for (uint32_t i = 0; i < end_count && rc == STET_OK; i++)
        rc = copy_step(e, &s, end[i].from, end[i].to);
    if (rc == STET_OK)
        rc = keep_steps(e, &s, out);
    stet_build_list_release(&s.steps);
    return rc;
}

static enum stet_rc resolve(struct emitter *e, struct stet_plan *plan)
{
    plan->ref_count = (uint32_t)e->refs.count;
    plan->refs = STET_NEW_ARRAY(e->l->arena, struct stet_step_ref, e->refs.count + 1);
    if (!plan->refs || e->refs.failed)
        return stet_lower_memory(e->l);
    for (uint32_t i = 0; i < plan->ref_count; i++) {
        struct stet_buffer *b = e->refs.items[i];
        struct stet_step_ref *r = &plan->refs[i];

        if (!b) /* a token, an empty tensor */
            continue;
        b = stet_backend_buffer_find(b);
        plan->info.cost.bytes += (double)b->size;
        switch (b->space) {
        case STET_SPACE_SCRATCH:
            *r = (struct stet_step_ref){0, b->offset};
            break;
        case STET_SPACE_CONST:
            *r = (struct stet_step_ref){1, (uint64_t)(uintptr_t)b->bytes};
            break;
        case STET_SPACE_INPUT:
            *r = (struct stet_step_ref){2 + b->index, 0};
            break;
        case STET_SPACE_OUTPUT:
            *r = (struct stet_step_ref){2 + plan->info.input_count + b->index, 0};
            break;
        }
    }
    return STET_OK;
}

enum stet_rc stet_backend_emit(struct stet_placement *p, struct stet_gblock *entry,
                               struct stet_plan *plan)
{
    struct emitter e = {.p = p, .l = p->l, .g = stet_lower_codegen(p->l)};
    enum stet_rc rc;

    if (!e.g)
        return stet_lower_memory(p->l);
    rc = block_steps(&e, entry, p->finals, p->final_count, &plan->steps);
    if (rc == STET_OK)
        rc = stet_backend_placement_offsets(p);
    if (rc == STET_OK)
        rc = resolve(&e, plan);
    plan->tiny = e.tiny;
    stet_build_list_release(&e.refs);
    return rc;
}
