/* Decides which nodes run together: elementwise nodes join the first group that reads them.
 *
 * Blocks are walked backwards, so all readers of a node have their groups before the node is
 * visited, and a group's position in the order is that of its last node. A node may join the
 * earliest group that reads it if no other reader runs before that group: every value is then still
 * computed before it is read, whatever else joins. Constants, iotas and views never join a group:
 * every group loads them itself, and they get memory only if something other than a tile program
 * reads them.
 *
 * The same walk drops unused nodes: a node is alive if one of its results is used by a node that
 * was visited before. */
#include "backend/codegen.h"
#include "backend/lower.h"

#define NEVER UINT32_MAX

static bool is_leaf(const struct stet_gval *root)
{
    return root->def && (root->def->kind == STET_G_SPLAT || root->def->kind == STET_G_IOTA ||
                         root->def->kind == STET_G_VIEW);
}

/* The position, in the block of `v`, of the reader at `position` of `b`. */
static uint32_t position_above(const struct stet_gblock *b, uint32_t position,
                               const struct stet_gval *v)
{
    for (; b != v->block; b = b->parent) {
        if (!b->owner)
            return 0;
        position = b->owner->order;
    }
    return position;
}

/* `v` must be in memory before `position` of block `b`. */
static void read_memory(struct stet_gval *v, const struct stet_gblock *b, uint32_t position)
{
    struct stet_gval *root;

    for (struct stet_gval *a = v; a->def && a->def->kind == STET_G_ALIAS; a = a->def->in[0])
        a->def->live = true;
    root = stet_graph_root(v);
    root->in_memory = true;
    if (root->def) {
        uint32_t at = position_above(b, position, root);

        root->def->live = true;
        if (at < root->def->memory_at)
            root->def->memory_at = at;
    }
}

/* A tile program of `group` reads `v`. */
static void read_tile(struct stet_gval *v, struct stet_gblock *b, struct stet_graph_group *group)
{
    struct stet_gval *root;

    for (struct stet_gval *a = v; a->def && a->def->kind == STET_G_ALIAS; a = a->def->in[0])
        a->def->live = true;
    root = stet_graph_root(v);
    if (is_leaf(root)) {
        root->def->live = true;
        if (root->def->kind == STET_G_VIEW && !root->in_memory)
            read_memory(root->def->in[0], b, group->position);
        return;
    }
    if (!root->def || root->def->kind != STET_G_EW || root->block != b) {
        read_memory(v, b, group->position);
        return;
    }
    root->def->live = true;
    if (root->def->fuse_at != NEVER && root->def->fuse_at != group->position)
        root->in_memory = true; /* it can be in the registers of one group only */
    if (group->position < root->def->fuse_at)
        root->def->fuse_at = group->position;
}

static struct stet_graph_group *new_group(struct stet_lower *l, struct stet_gnode *n)
{
    struct stet_graph_group *g = STET_NEW(l->arena, struct stet_graph_group);

    if (!g) {
        stet_lower_memory(l);
        return NULL;
    }
    g->position = n->order;
    n->group = g;
    g->nodes[g->node_count++] = n;
    g->elements = n->kind == STET_G_REDUCE ? n->in[0]->shape.elements
                  : n->out_count           ? n->out[0]->shape.elements
                                           : 0;
    /* walked backwards: groups are added in reverse order of execution */
    g->next = n->block->groups;
    n->block->groups = g;
    return g;
}

static enum stet_rc fuse_block(struct stet_lower *l, struct stet_gblock *b);

/* An elementwise node joins a group or begins one. Groups are found by position. */
static enum stet_rc visit_ew(struct stet_lower *l, struct stet_gnode *n,
                             struct stet_graph_group **at)
{
    struct stet_graph_group *g = n->fuse_at == NEVER ? NULL : at[n->fuse_at];

    if (g && n->fuse_at < n->memory_at && g->elements == n->out[0]->shape.elements &&
        g->node_count < STET_GROUP_NODES && n->out[0]->shape.elements > 0) {
        n->group = g;
        g->nodes[g->node_count++] = n;
    } else {
        if (n->fuse_at != NEVER)
            n->out[0]->in_memory = true;
        if (!(g = new_group(l, n)))
            return STET_NO_MEMORY;
        at[n->order] = g;
    }
    for (uint32_t i = 0; i < n->in_count; i++)
        read_tile(n->in[i], n->block, g);
    return STET_OK;
}

static enum stet_rc visit(struct stet_lower *l, struct stet_gnode *n, struct stet_graph_group **at)
{
    struct stet_graph_group *g;

    switch (n->kind) {
    case STET_G_ALIAS:
    case STET_G_CONST:
        return STET_OK;
    case STET_G_SPLAT:
    case STET_G_IOTA:
    case STET_G_VIEW:
        if (!n->out[0]->in_memory)
            return STET_OK;
        if (!new_group(l, n))
            return STET_NO_MEMORY;
        if (n->kind == STET_G_VIEW)
            read_memory(n->in[0], n->block, n->order);
        return STET_OK;
    case STET_G_EW:
        return visit_ew(l, n, at);
    case STET_G_REDUCE:
        if (!(g = new_group(l, n)))
            return STET_NO_MEMORY;
        at[n->order] = g;
        for (uint32_t i = 0; i < n->in_count / 2; i++)
            read_tile(n->in[i], n->block, g);
        for (uint32_t i = n->in_count / 2; i < n->in_count; i++)
            read_memory(n->in[i], n->block, n->order);
        break;
    default:
        if (!new_group(l, n))
            return STET_NO_MEMORY;
        for (uint32_t i = 0; i < n->in_count; i++)
            read_memory(n->in[i], n->block, n->order);
        break;
    }
    for (uint32_t i = 0; i < n->out_count; i++)
        n->out[i]->in_memory = true;
    for (uint32_t i = 0; i < n->block_count; i++)
        TRY(fuse_block(l, n->blocks[i]));
    return STET_OK;
}

static enum stet_rc fuse_block(struct stet_lower *l, struct stet_gblock *b)
{
    struct stet_gnode **order = STET_NEW_ARRAY(l->arena, struct stet_gnode *, b->node_count + 1);
    struct stet_graph_group **at =
        STET_NEW_ARRAY(l->arena, struct stet_graph_group *, b->node_count + 1);
    uint32_t count = 0;

    if (!order || !at)
        return stet_lower_memory(l);
    for (struct stet_gnode *n = b->first; n; n = n->next) {
        n->fuse_at = n->memory_at = NEVER;
        order[count++] = n;
    }
    for (uint32_t i = 0; i < b->arg_count; i++)
        b->args[i]->in_memory = true;
    for (uint32_t i = 0; i < b->result_count; i++)
        read_memory(b->results[i], b, NEVER);
    while (count-- > 0)
        if (order[count]->live)
            TRY(visit(l, order[count], at));
    return STET_OK;
}

enum stet_rc stet_backend_graph_fuse(struct stet_lower *l, struct stet_gblock *entry)
{
    return fuse_block(l, entry);
}
