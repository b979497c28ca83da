/* Times, lifetimes and sharing of memory. */
#include "backend/placement.h"

#include "backend/lower.h"

struct stet_buffer *stet_backend_buffer_find(struct stet_buffer *b)
{
    while (b->same)
        b = b->same;
    return b;
}

struct stet_buffer *stet_backend_buffer_of(struct stet_gval *v)
{
    v = stet_graph_root(v);
    return v->buffer ? stet_backend_buffer_find(v->buffer) : NULL;
}

bool stet_backend_buffer_overlap(struct stet_buffer *a, struct stet_buffer *b)
{
    a = stet_backend_buffer_find(a);
    b = stet_backend_buffer_find(b);
    if (a == b)
        return true;
    if (a->space == STET_SPACE_INPUT && b->space == STET_SPACE_OUTPUT)
        return b->alias == (int32_t)a->index;
    if (b->space == STET_SPACE_INPUT && a->space == STET_SPACE_OUTPUT)
        return a->alias == (int32_t)b->index;
    return false;
}

static struct stet_buffer *new_buffer(struct stet_placement *p, uint64_t size)
{
    struct stet_buffer *b = STET_NEW(p->l->arena, struct stet_buffer);

    if (!b) {
        stet_lower_memory(p->l);
        return NULL;
    }
    b->size = size;
    b->alias = -1;
    b->next = p->buffers;
    p->buffers = b;
    return b;
}

struct stet_buffer *stet_backend_placement_temporary(struct stet_placement *p, uint64_t size,
                                                     uint32_t start, uint32_t end)
{
    struct stet_buffer *b = new_buffer(p, size);

    if (b) {
        b->start = start;
        b->end = end;
    }
    return b;
}

/* ---- times ---- */

static void number(struct stet_placement *p, struct stet_gblock *b)
{
    for (struct stet_graph_group *g = b->groups; g; g = g->next) {
        struct stet_gnode *n = g->nodes[0];

        g->time = ++p->time;
        n->time = g->time;
        for (uint32_t i = 0; i < n->block_count; i++) {
            number(p, n->blocks[i]);
            p->time++; /* the block's own end, for its results */
        }
        n->end = n->block_count ? ++p->time : g->time;
    }
}

/* ---- buffers and their lifetimes ---- */

enum { SMALL_SPLAT = 64 * 1024 };

/* A splat small enough to be expanded when planned is a constant. */
static enum stet_rc constant_splat(struct stet_placement *p, struct stet_gval *v)
{
    const struct stet_gnode *n = v->def;
    char *bytes;

    v->buffer->space = STET_SPACE_CONST;
    v->buffer->bytes = n->value;
    if (v->shape.elements == 1)
        return STET_OK;
    if (!(bytes = stet_arena_raw(p->l->arena, v->shape.bytes + 1, 1)))
        return stet_lower_memory(p->l);
    stet_tile_fill(bytes, n->value, stet_dtype_bytes(v->shape.dtype), v->shape.elements);
    v->buffer->bytes = bytes;
    return STET_OK;
}

static enum stet_rc give_buffer(struct stet_placement *p, struct stet_gval *v, uint32_t time)
{
    if (!(v->buffer = new_buffer(p, v->shape.bytes)))
        return STET_NO_MEMORY;
    v->buffer->start = v->buffer->end = v->buffer->last = time;
    if (v->def && v->def->kind == STET_G_CONST) {
        v->buffer->space = STET_SPACE_CONST;
        v->buffer->bytes = v->def->bytes;
    }
    if (v->def && v->def->kind == STET_G_SPLAT && v->shape.bytes <= SMALL_SPLAT)
        return constant_splat(p, v);
    return STET_OK;
}

static enum stet_rc make_buffers(struct stet_placement *p, struct stet_gblock *b)
{
    for (struct stet_gnode *n = b->first; n; n = n->next)
        if (n->live && n->kind == STET_G_CONST)
            TRY(give_buffer(p, n->out[0], 0));
    for (struct stet_graph_group *g = b->groups; g; g = g->next)
        for (uint32_t i = 0; i < g->node_count; i++) {
            struct stet_gnode *n = g->nodes[i];

            for (uint32_t j = 0; j < n->out_count; j++)
                if (n->out[j]->in_memory)
                    TRY(give_buffer(p, n->out[j], g->time));
            for (uint32_t j = 0; j < n->block_count; j++) {
                for (uint32_t k = 0; k < n->blocks[j]->arg_count; k++)
                    TRY(give_buffer(p, n->blocks[j]->args[k], n->time));
                TRY(make_buffers(p, n->blocks[j]));
            }
        }
    return STET_OK;
}

/* Read at `time` in block `b`: a value from outside a loop is needed until the loop ends. */
static void touch(struct stet_gval *v, const struct stet_gblock *b, uint32_t time)
{
    v = stet_graph_root(v);
    for (; b != v->block && b; b = b->parent)
        if (b->owner && b->owner->kind == STET_G_WHILE && b->owner->end > time)
            time = b->owner->end;
    if (!v->buffer)
        return;
    if (v->buffer->end < time)
        v->buffer->end = time;
    if (v->buffer->last < time)
        v->buffer->last = time;
}

/* What a tile program reads of `v`: its memory, or that of the view's base. */
static void touch_tile(struct stet_gval *v, const struct stet_gblock *b, uint32_t time)
{
    v = stet_graph_root(v);
    if (v->def && v->def->kind == STET_G_VIEW && !v->in_memory)
        touch(v->def->in[0], b, time);
    else
        touch(v, b, time);
}

static void lifetimes(struct stet_gblock *b, uint32_t end)
{
    for (struct stet_graph_group *g = b->groups; g; g = g->next)
        for (uint32_t i = 0; i < g->node_count; i++) {
            struct stet_gnode *n = g->nodes[i];
            uint32_t tiles = n->kind == STET_G_EW       ? n->in_count
                             : n->kind == STET_G_REDUCE ? n->in_count / 2
                                                        : 0;

            for (uint32_t j = 0; j < n->in_count; j++)
                (j < tiles ? touch_tile : touch)(n->in[j], b, g->time);
            for (uint32_t j = 0; j < n->block_count; j++)
                lifetimes(n->blocks[j], n->end);
            for (uint32_t j = 0; j < n->out_count && n->block_count; j++)
                touch(n->out[j], b, n->end);
        }
    for (uint32_t i = 0; i < b->result_count; i++)
        touch(b->results[i], b, end);
}

/* ---- sharing ---- */

/* `b` becomes the same memory as `into`. */
static void merge(struct stet_buffer *into, struct stet_buffer *b)
{
    b->same = into;
    if (b->start < into->start)
        into->start = b->start;
    if (b->end > into->end)
        into->end = b->end;
    into->carry |= b->carry;
}

/* How many operands of `n` are (views of) this memory. */
static uint32_t operands_in(const struct stet_gnode *n, const struct stet_buffer *b)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n->in_count; i++) {
        struct stet_buffer *x = stet_backend_buffer_of(n->in[i]);

        count += x && x == b;
    }
    return count;
}

/* Does every tile load of `b` in the group read elements at the position of the result's? */
static bool only_lines(const struct stet_graph_group *g, struct stet_buffer *b)
{
    for (uint32_t i = 0; i < g->node_count; i++)
        for (uint32_t j = 0; j < g->nodes[i]->in_count; j++) {
            struct stet_gval *v = stet_graph_root(g->nodes[i]->in[j]);

            if (v->def && v->def->kind == STET_G_VIEW && !v->in_memory) {
                struct stet_buffer *base = stet_backend_buffer_of(v->def->in[0]);

                if (base && stet_backend_buffer_overlap(base, b))
                    return false;
            }
        }
    return true;
}

/* May the node that produces `v` write over `b`, which it reads for the last time? */
static bool may_write_over(struct stet_gval *v, struct stet_buffer *b)
{
    const struct stet_gnode *n = v->def;
    struct stet_buffer *x;

    if (!n || !n->group)
        return false;
    if (n->kind == STET_G_EW)
        return n->group->nodes[0]->kind == STET_G_EW && only_lines(n->group, b);
    if (n->kind == STET_G_CALL && n->in_place >= 0 && v->index == 0) {
        x = stet_backend_buffer_of(n->in[n->in_place]);
        return x && stet_backend_buffer_overlap(x, b) && operands_in(n, x) == 1;
    }
    return false;
}

/* Elementwise results and in-place calls reuse an operand that is last used by them. */
static void share_group(struct stet_graph_group *g, struct stet_gval *v)
{
    struct stet_buffer *own = stet_backend_buffer_of(v);
    const struct stet_gnode *def = v->def;

    if (!own || own->space != STET_SPACE_SCRATCH || own->carry || own->start != g->time)
        return;
    for (uint32_t i = 0; i < g->node_count; i++) {
        struct stet_gnode *n = g->nodes[i];

        for (uint32_t j = 0; j < n->in_count; j++) {
            struct stet_buffer *b = stet_backend_buffer_of(n->in[j]);

            if (def->kind == STET_G_CALL && (int32_t)j != def->in_place)
                continue;
            if (!b || b == own || b->space != STET_SPACE_SCRATCH || b->carry ||
                b->size != own->size || b->end != g->time || b->start == g->time ||
                !may_write_over(v, b))
                continue;
            merge(b, own);
            return;
        }
    }
}

static void share(struct stet_gblock *b)
{
    for (struct stet_graph_group *g = b->groups; g; g = g->next) {
        struct stet_gnode *n = g->nodes[0];

        if (n->kind == STET_G_EW || (n->kind == STET_G_CALL && n->in_place >= 0))
            for (uint32_t i = 0; i < g->node_count; i++)
                share_group(g, g->nodes[i]->out[0]);
        for (uint32_t i = 0; i < n->block_count; i++)
            share(n->blocks[i]);
    }
}

/* ---- loops and branches ---- */

/* A value produced by a step of block `b`, not an argument, a constant or a value from outside. */
static bool made_in(struct stet_gval *root, const struct stet_gblock *b)
{
    return root->def && root->block == b && root->buffer &&
           stet_backend_buffer_find(root->buffer)->space == STET_SPACE_SCRATCH;
}

static bool returned_before(struct stet_gval **results, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (stet_backend_buffer_of(results[j]) == stet_backend_buffer_of(results[i]))
            return true;
    return false;
}

/* Moves the results of a block into `to`: produced there if possible, otherwise copied at its end.
 * Values that are themselves arguments go through temporary memory, because all copies happen at
 * once. */
static enum stet_rc block_results(struct stet_placement *p, struct stet_gblock *b,
                                  struct stet_buffer **to, struct stet_buffer **args,
                                  struct stet_carry **out, uint32_t *count)
{
    uint32_t end = b->owner->end, n = 0, late = 0;
    struct stet_carry *c = STET_NEW_ARRAY(p->l->arena, struct stet_carry, 2 * b->result_count + 1);
    struct stet_carry *second;

    if (!c)
        return stet_lower_memory(p->l);
    second = c + b->result_count;
    for (uint32_t i = 0; i < b->result_count; i++) {
        struct stet_gval *root = stet_graph_root(b->results[i]);
        struct stet_buffer *from = stet_backend_buffer_of(root),
                           *dest = stet_backend_buffer_find(to[i]);
        bool clobbered = false;

        if (!from || from == dest || from->size == 0)
            continue;
        if (made_in(root, b) && !returned_before(b->results, i) && from->size == dest->size) {
            uint32_t read = args ? args[i]->last : 0;

            if (read < from->start ||
                (read == from->start && from->start == root->def->group->time &&
                 may_write_over(root, dest))) {
                merge(dest, from);
                continue;
            }
        }
        for (uint32_t j = 0; j < b->result_count; j++)
            clobbered |= j != i && stet_backend_buffer_find(to[j]) == from;
        if (clobbered) {
            struct stet_buffer *t = stet_backend_placement_temporary(p, from->size, end, end);

            if (!t)
                return STET_NO_MEMORY;
            c[n++] = (struct stet_carry){from, t};
            second[late++] = (struct stet_carry){t, dest};
        } else {
            second[late++] = (struct stet_carry){from, dest};
        }
    }
    memmove(c + n, second, late * sizeof *c);
    *out = c;
    *count = n + late;
    return STET_OK;
}

static enum stet_rc borders(struct stet_placement *p, struct stet_gblock *b);

static enum stet_rc loop_border(struct stet_placement *p, struct stet_gnode *n,
                                struct stet_border *x)
{
    struct stet_buffer **to = STET_NEW_ARRAY(p->l->arena, struct stet_buffer *, n->in_count + 1);
    struct stet_buffer **args = STET_NEW_ARRAY(p->l->arena, struct stet_buffer *, n->in_count + 1);

    x->entry = STET_NEW_ARRAY(p->l->arena, struct stet_carry, n->in_count + 1);
    if (!to || !args || !x->entry)
        return stet_lower_memory(p->l);
    for (uint32_t i = 0; i < n->in_count; i++) {
        struct stet_buffer *c = n->out[i]->buffer, *init = stet_backend_buffer_of(n->in[i]);

        c->start = n->time;
        if (c->end < n->end)
            c->end = n->end;
        c->carry = true;
        args[i] = n->blocks[1]->args[i]->buffer; /* keeps its own `last` */
        n->blocks[0]->args[i]->buffer->same = c;
        n->blocks[1]->args[i]->buffer->same = c;
        to[i] = c;
        if (!init || init->size == 0)
            continue;
        /* reuse the initial value if the loop is the last to read it */
        if (init->space == STET_SPACE_SCRATCH && !init->carry && init->end <= n->time &&
            init->size == c->size && operands_in(n, init) == 1) {
            merge(c, init);
            continue;
        }
        x->entry[x->entry_count++] = (struct stet_carry){init, c};
    }
    TRY(borders(p, n->blocks[0]));
    TRY(borders(p, n->blocks[1]));
    return block_results(p, n->blocks[1], to, args, &x->exit, &x->exit_count);
}

static enum stet_rc case_border(struct stet_placement *p, struct stet_gnode *n,
                                struct stet_border *x)
{
    struct stet_buffer **to = STET_NEW_ARRAY(p->l->arena, struct stet_buffer *, n->out_count + 1);

    x->branch = STET_NEW_ARRAY(p->l->arena, struct stet_carry *, n->block_count);
    x->branch_counts = STET_NEW_ARRAY(p->l->arena, uint32_t, n->block_count);
    if (!to || !x->branch || !x->branch_counts)
        return stet_lower_memory(p->l);
    for (uint32_t i = 0; i < n->out_count; i++) {
        to[i] = n->out[i]->buffer;
        to[i]->start = n->time; /* a branch may write it early */
        to[i]->carry = true;
    }
    for (uint32_t i = 0; i < n->block_count; i++) {
        TRY(borders(p, n->blocks[i]));
        TRY(block_results(p, n->blocks[i], to, NULL, &x->branch[i], &x->branch_counts[i]));
    }
    return STET_OK;
}

static enum stet_rc borders(struct stet_placement *p, struct stet_gblock *b)
{
    for (struct stet_graph_group *g = b->groups; g; g = g->next) {
        struct stet_gnode *n = g->nodes[0];
        struct stet_border *x;

        if (n->kind != STET_G_WHILE && n->kind != STET_G_CASE)
            continue;
        if (!(x = STET_NEW(p->l->arena, struct stet_border)))
            return stet_lower_memory(p->l);
        n->params = x;
        TRY((n->kind == STET_G_WHILE ? loop_border : case_border)(p, n, x));
    }
    return STET_OK;
}

/* ---- the program's results ---- */

/* May result i be produced in output memory from the start, although input `alias` may be there? */
static bool safe_over_input(struct stet_gblock *entry, struct stet_gval *root,
                            struct stet_buffer *b, int32_t alias)
{
    struct stet_buffer *in;

    if (alias < 0)
        return true;
    in = entry->args[alias]->buffer;
    if (in->last < b->start)
        return true;
    if (in->last > b->start)
        return false;
    /* the first step that writes `b` is the last to read the input */
    for (struct stet_graph_group *g = entry->groups; g; g = g->next) {
        struct stet_gnode *n = g->nodes[0];

        if (g->time != b->start)
            continue;
        if (n->kind == STET_G_WHILE) {
            for (uint32_t i = 0; i < n->in_count; i++)
                if (stet_backend_buffer_of(n->out[i]) == b)
                    return stet_backend_buffer_of(n->in[i]) == in;
            return false;
        }
        for (uint32_t i = 0; i < g->node_count; i++)
            for (uint32_t j = 0; j < g->nodes[i]->out_count; j++)
                if (g->nodes[i]->out[j]->buffer && stet_backend_buffer_of(g->nodes[i]->out[j]) == b)
                    return may_write_over(g->nodes[i]->out[j], in);
    }
    (void)root;
    return false;
}

static enum stet_rc results(struct stet_placement *p, struct stet_gblock *b)
{
    uint32_t n = b->result_count, first = 0, late = 0;
    struct stet_carry *second;

    p->finals = STET_NEW_ARRAY(p->l->arena, struct stet_carry, 2 * n + 1);
    if (!p->finals)
        return stet_lower_memory(p->l);
    second = p->finals + n;
    for (uint32_t i = 0; i < n; i++) {
        struct stet_gval *root = stet_graph_root(b->results[i]);
        struct stet_buffer *from = stet_backend_buffer_of(root), *out;
        int32_t alias = p->output_alias[i];

        if (!from || from->size == 0)
            continue;
        if (made_in(root, b) && from->space == STET_SPACE_SCRATCH) {
            from->alias = alias;
            if (safe_over_input(b, root, from, alias)) {
                from->space = STET_SPACE_OUTPUT;
                from->index = i;
                continue;
            }
            from->alias = -1;
        }
        if (!(out = new_buffer(p, from->size)))
            return STET_NO_MEMORY;
        out->space = STET_SPACE_OUTPUT;
        out->index = i;
        out->alias = alias;
        if (from->space == STET_SPACE_INPUT && (int32_t)from->index == alias) {
            second[late++] = (struct stet_carry){from, out}; /* may be a copy onto itself */
        } else if (from->space == STET_SPACE_INPUT && from->alias >= 0) {
            struct stet_buffer *t =
                stet_backend_placement_temporary(p, from->size, p->time + 1, p->time + 2);

            if (!t)
                return STET_NO_MEMORY;
            p->finals[first++] = (struct stet_carry){from, t};
            second[late++] = (struct stet_carry){t, out};
        } else {
            second[late++] = (struct stet_carry){from, out};
        }
    }
    memmove(p->finals + first, second, late * sizeof *second);
    p->final_count = first + late;
    return STET_OK;
}

enum stet_rc stet_backend_placement_make(struct stet_placement *p, struct stet_gblock *entry)
{
    for (uint32_t i = 0; i < entry->arg_count; i++) {
        TRY(give_buffer(p, entry->args[i], 0));
        entry->args[i]->buffer->space = STET_SPACE_INPUT;
        entry->args[i]->buffer->index = i;
    }
    for (uint32_t i = 0; i < entry->result_count; i++)
        if (p->output_alias[i] >= 0)
            entry->args[p->output_alias[i]]->buffer->alias = (int32_t)i;
    number(p, entry);
    TRY(make_buffers(p, entry));
    lifetimes(entry, p->time + 1);
    TRY(borders(p, entry));
    share(entry);
    return results(p, entry);
}
