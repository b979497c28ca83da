/* Builds tile programs: loads, instructions, stores, and registers for all of them. */
#include "backend/codegen.h"

#include "backend/placement.h"

void stet_backend_cg_begin(struct stet_codegen *g, struct stet_arena *arena, uint32_t mark)
{
    g->arena = arena;
    g->mark = mark;
    g->full = false;
    g->reg_count = g->load_count = g->ins_count = g->store_count = g->slot_count = 0;
}

static uint16_t new_reg(struct stet_codegen *g, size_t bytes, bool homeless)
{
    if (g->reg_count >= STET_TILE_REGS) {
        g->full = true;
        return 0;
    }
    g->regs[g->reg_count] =
        (struct stet_cg_reg){.bytes = (uint8_t)bytes, .homeless = homeless, .def = -1, .last = -1};
    return (uint16_t)g->reg_count++;
}

static uint32_t slot_of(struct stet_codegen *g, struct stet_gval *root)
{
    for (uint32_t i = 0; i < g->slot_count; i++)
        if (g->slots[i] == root)
            return i;
    if (g->slot_count >= STET_CG_SLOTS) {
        g->full = true;
        return 0;
    }
    g->slots[g->slot_count] = root;
    return g->slot_count++;
}

static void emit(struct stet_codegen *g, stet_tile_fn fn, uint16_t d, uint16_t a, uint16_t b,
                 uint16_t c)
{
    int at = (int)g->ins_count;

    if (g->ins_count >= STET_CG_INS) {
        g->full = true;
        return;
    }
    g->ins[g->ins_count++] = (struct stet_tile_ins){fn, d, a, b, c};
    if (g->regs[d].def < 0)
        g->regs[d].def = at;
    g->regs[d].last = at;
    g->regs[a].last = g->regs[b].last = g->regs[c].last = at;
}

/* See stet_tile_set; NULL if there is nothing to do. */
static stet_tile_fn widen(enum stet_dtype t)
{
    return stet_tile_kernels()->load[t];
}

static stet_tile_fn narrow(enum stet_dtype t)
{
    return stet_tile_kernels()->store[t];
}

static stet_tile_fn rounding(enum stet_dtype t)
{
    return stet_tile_kernels()->round[t];
}

uint16_t stet_backend_cg_arg(struct stet_codegen *g, struct stet_gval *v)
{
    enum stet_dtype c = stet_tile_ctype(v->shape.dtype);
    uint16_t r = new_reg(g, stet_dtype_bytes(c), true);

    g->regs[r].pinned = true;
    v->mark = g->mark;
    v->reg = r;
    return r;
}

static bool all_zero(const struct stet_tile_view *m)
{
    for (uint32_t i = 0; i < m->rank; i++)
        if (m->strides[i] && m->dims[i] != 1)
            return false;
    return true;
}

static void load_kind(struct stet_codegen *g, struct stet_gval *root, struct stet_tile_load *l)
{
    const struct stet_gnode *n = root->def;
    struct stet_tile_view *map;

    l->kind = root->shape.elements == 1 ? STET_LOAD_SPLAT : STET_LOAD_LINE;
    if (n && n->kind == STET_G_SPLAT) {
        l->kind = STET_LOAD_CONST;
        memcpy(l->value, n->value, sizeof l->value);
    } else if (n && n->kind == STET_G_IOTA) {
        l->kind = STET_LOAD_IOTA;
        l->divide = 1;
        for (uint32_t d = n->dim + 1; d < root->shape.rank; d++)
            l->divide *= root->shape.dims[d];
        l->modulus = root->shape.dims[n->dim];
        if (l->divide < 1 || l->modulus < 1)
            l->divide = l->modulus = 1; /* an empty tensor */
    } else if (n && n->kind == STET_G_VIEW && !root->in_memory) {
        l->slot = slot_of(g, stet_graph_root(n->in[0]));
        map = STET_NEW(g->arena, struct stet_tile_view);
        if (!map) {
            g->full = true;
            return;
        }
        *map = n->map;
        stet_tile_view_simplify(map);
        l->map = map;
        l->kind = all_zero(map) ? STET_LOAD_SPLAT : STET_LOAD_VIEW;
    } else {
        l->slot = slot_of(g, root);
    }
}

uint16_t stet_backend_cg_value(struct stet_codegen *g, struct stet_gval *v)
{
    struct stet_gval *root = stet_graph_root(v);
    enum stet_dtype t = root->shape.dtype, c = stet_tile_ctype(t);
    struct stet_tile_load *l;

    if (root->mark == g->mark)
        return root->reg;
    if (g->load_count >= STET_TILE_REGS) {
        g->full = true;
        return 0;
    }
    l = &g->loads[g->load_count++];
    *l = (struct stet_tile_load){.dtype = t};
    load_kind(g, root, l);
    l->widen = widen(t);
    if (l->kind == STET_LOAD_IOTA) {
        l->raw = l->reg = new_reg(g, stet_dtype_bytes(c), false);
        l->widen = NULL;
    } else if (l->widen) {
        l->raw = new_reg(g, stet_dtype_bytes(t), l->kind == STET_LOAD_LINE);
        l->reg = new_reg(g, stet_dtype_bytes(c), false);
    } else {
        l->raw = l->reg = new_reg(g, stet_dtype_bytes(c), l->kind == STET_LOAD_LINE);
    }
    g->regs[l->reg].pinned = l->kind == STET_LOAD_SPLAT || l->kind == STET_LOAD_CONST;
    root->mark = g->mark;
    root->reg = l->reg;
    if (l->kind == STET_LOAD_IOTA && rounding(t)) {
        g->regs[l->reg].pinned = true; /* written before the first instruction, too */
        emit(g, rounding(t), l->reg, l->reg, l->reg, l->reg);
    }
    return l->reg;
}

static void convert(struct stet_codegen *g, enum stet_dtype from, enum stet_dtype to, uint16_t d,
                    uint16_t a)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    stet_tile_fn fn = k->convert[stet_tile_ctype(from)][stet_tile_ctype(to)];

    if (from == STET_DT_F64 && stet_dtype_is_small_float(to))
        fn = k->f64_to_odd_f32;
    emit(g, fn, d, a, a, a);
    if (rounding(to))
        emit(g, rounding(to), d, d, d, d);
}

/* Results of these are operands' values, already rounded. */
static bool exact(int op, enum stet_dtype t)
{
    return op == STET_TILE_COPY || op == STET_TILE_MAX || op == STET_TILE_MIN ||
           op == STET_TILE_SELECT || op == STET_TILE_CLAMP ||
           (op == STET_TILE_ABS && !stet_dtype_is_small_int(t)); /* whose least one has none */
}

void stet_backend_cg_node(struct stet_codegen *g, const struct stet_gnode *n)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    struct stet_gval *out = n->out[0];
    enum stet_dtype to = out->shape.dtype, row = n->in[0]->shape.dtype;
    uint16_t r[3], d;

    r[0] = stet_backend_cg_value(g, n->in[0]);
    for (uint32_t i = 1; i < 3; i++)
        r[i] = i < n->in_count ? stet_backend_cg_value(g, n->in[i]) : r[0];
    d = new_reg(g, stet_dtype_bytes(stet_tile_ctype(to)), false);
    out->mark = g->mark;
    out->reg = d;
    if (g->full)
        return;
    switch (n->ew) {
    case STET_EW_CONVERT:
        convert(g, row, to, d, r[0]);
        return;
    case STET_EW_ROUND_BF16:
        emit(g, k->round[STET_DT_BF16], d, r[0], r[0], r[0]);
        return;
    case STET_EW_ROUND_F16:
        emit(g, k->round[STET_DT_F16], d, r[0], r[0], r[0]);
        return;
    case STET_TILE_SELECT:
    case STET_TILE_COMPLEX:
        row = to;
        break;
    default:
        break;
    }
    emit(g, k->ops[stet_tile_ctype(row)][n->ew], d, r[0], r[1], r[2]);
    if (rounding(to) && !exact(n->ew, to))
        emit(g, rounding(to), d, d, d, d);
}

void stet_backend_cg_keep(struct stet_codegen *g, uint16_t reg)
{
    g->regs[reg].last = STET_CG_INS;
}

/* Can `a` and `b` be the same memory when the program runs? */
static bool same_memory(struct stet_gval *a, struct stet_gval *b)
{
    return a->buffer && b->buffer && stet_backend_buffer_overlap(a->buffer, b->buffer);
}

/* The register itself may be the output's memory, unless an input there is read later. */
static bool can_be_direct(struct stet_codegen *g, struct stet_gval *root, uint16_t reg)
{
    const struct stet_cg_reg *r = &g->regs[reg];

    if (r->homeless || narrow(root->shape.dtype))
        return false;
    if (r->def < 0) { /* a load */
        for (uint32_t i = 0; i < g->load_count; i++)
            if (g->loads[i].reg == reg && g->loads[i].kind != STET_LOAD_VIEW &&
                g->loads[i].kind != STET_LOAD_IOTA)
                return false;
    }
    for (uint32_t i = 0; i < g->load_count; i++) {
        const struct stet_tile_load *l = &g->loads[i];

        if ((l->kind != STET_LOAD_LINE && l->kind != STET_LOAD_VIEW) ||
            !same_memory(g->slots[l->slot], root))
            continue;
        if (l->kind == STET_LOAD_LINE && !l->widen && g->regs[l->reg].last <= r->def)
            continue;
        return false;
    }
    /* an earlier output written in place over what another load reads was checked when it was made;
     * two outputs are never the same memory */
    return true;
}

void stet_backend_cg_store(struct stet_codegen *g, struct stet_gval *v)
{
    struct stet_gval *root = stet_graph_root(v);
    uint16_t reg = stet_backend_cg_value(g, root);
    struct stet_tile_store *t;

    if (g->store_count >= STET_CG_SLOTS) {
        g->full = true;
        return;
    }
    t = &g->stores[g->store_count++];
    *t = (struct stet_tile_store){.reg = reg,
                                  .slot = slot_of(g, root),
                                  .dtype = root->shape.dtype,
                                  .narrow = narrow(root->shape.dtype)};
    stet_backend_cg_keep(g, reg);
}

/* Memory of dead registers is reused for new ones: one list per element size. */
static bool allocate(struct stet_codegen *g, struct stet_tile_prog *out)
{
    uint16_t free_list[STET_TILE_REGS];
    uint32_t free_count = 0, bytes = 0;
    bool given[STET_TILE_REGS] = {false};

    out->regs = 0;
    for (uint32_t i = 0; i < g->reg_count; i++) {
        struct stet_cg_reg *r = &g->regs[i];

        if (r->def >= 0 && !r->homeless && !r->pinned)
            continue;
        r->physical = (uint16_t)out->regs;
        out->reg_bytes[out->regs++] = r->homeless ? 0 : r->bytes;
    }
    for (uint32_t i = 0; i < g->ins_count; i++) {
        struct stet_cg_reg *d = &g->regs[g->ins[i].d];
        const uint16_t used[3] = {g->ins[i].a, g->ins[i].b, g->ins[i].c};

        for (int j = 0; j < 3; j++) { /* operands that end here, first: in place */
            struct stet_cg_reg *r = &g->regs[used[j]];

            if (r->last == (int)i && !r->homeless && !r->pinned && !given[used[j]] &&
                used[j] != g->ins[i].d) {
                given[used[j]] = true;
                free_list[free_count++] = r->physical;
            }
        }
        if (d->def != (int)i || d->homeless || d->pinned)
            continue;
        d->physical = UINT16_MAX;
        for (uint32_t j = free_count; j-- > 0;)
            if (out->reg_bytes[free_list[j]] == d->bytes) {
                d->physical = free_list[j];
                free_list[j] = free_list[--free_count];
                break;
            }
        if (d->physical == UINT16_MAX) {
            if (out->regs >= STET_TILE_REGS)
                return false;
            d->physical = (uint16_t)out->regs;
            out->reg_bytes[out->regs++] = d->bytes;
        }
    }
    for (uint32_t i = 0; i < out->regs; i++)
        bytes += out->reg_bytes[i];
    out->tile = bytes ? (STET_TILE_BYTES - 64 * out->regs) / bytes / 16 * 16 : STET_TILE_MOST;
    if (out->tile > STET_TILE_MOST)
        out->tile = STET_TILE_MOST;
    bytes = 0;
    for (uint32_t i = 0; i < out->regs; i++) {
        out->reg_offset[i] = bytes;
        bytes += (out->reg_bytes[i] * out->tile + 63) / 64 * 64;
    }
    return out->tile >= 16 && bytes <= STET_TILE_BYTES;
}

bool stet_backend_cg_finish(struct stet_codegen *g, struct stet_tile_prog *out, uint16_t *keeps,
                            uint32_t keep_count)
{
    if (g->full)
        return false;
    for (uint32_t i = 0; i < g->store_count; i++) {
        struct stet_tile_store *t = &g->stores[i];

        t->direct = can_be_direct(g, g->slots[t->slot], t->reg);
        if (t->direct)
            g->regs[t->reg].homeless = true;
    }
    if (!allocate(g, out))
        return false;
    out->loads = STET_NEW_ARRAY(g->arena, struct stet_tile_load, g->load_count + 1);
    out->ins = STET_NEW_ARRAY(g->arena, struct stet_tile_ins, g->ins_count + 1);
    out->stores = STET_NEW_ARRAY(g->arena, struct stet_tile_store, g->store_count + 1);
    if (!out->loads || !out->ins || !out->stores)
        return false;
    out->load_count = g->load_count;
    out->ins_count = g->ins_count;
    out->store_count = g->store_count;
#define RENAME(r) ((r) = g->regs[r].physical)
    for (uint32_t i = 0; i < g->load_count; i++) {
        out->loads[i] = g->loads[i];
        RENAME(out->loads[i].reg);
        RENAME(out->loads[i].raw);
    }
    for (uint32_t i = 0; i < g->ins_count; i++) {
        out->ins[i] = g->ins[i];
        RENAME(out->ins[i].d);
        RENAME(out->ins[i].a);
        RENAME(out->ins[i].b);
        RENAME(out->ins[i].c);
    }
    for (uint32_t i = 0; i < g->store_count; i++) {
        out->stores[i] = g->stores[i];
        RENAME(out->stores[i].reg);
    }
    for (uint32_t i = 0; i < keep_count; i++)
        RENAME(keeps[i]);
#undef RENAME
    return true;
}
