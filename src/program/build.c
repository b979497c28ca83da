/* See build.h. */
#include "program/build.h"

#include "base/vec.h"
#include "program/ops.h"

#include <stdlib.h>

void stet_build_list_add(struct stet_build_list *l, const void *item)
{
    l->failed = l->failed || !stet_vec_room(&l->items, &l->room, l->count, sizeof *l->items);
    if (!l->failed)
        memcpy(&l->items[l->count++], &item, sizeof item);
}

void *stet_build_list_keep(struct stet_build_list *l, struct stet_arena *a)
{
    void **kept = l->failed ? NULL : STET_NEW_ARRAY(a, void *, l->count);

    if (kept && l->count)
        memcpy(kept, l->items, l->count * sizeof *kept);
    l->count = 0;
    return kept;
}

void stet_build_list_release(struct stet_build_list *l)
{
    stet_mem_free(l->items);
    *l = (struct stet_build_list){0};
}

static int by_name(const void *a, const void *b)
{
    const struct stet_named_attr *x = a, *y = b;

    return stet_view_cmp(x->name, y->name);
}

/* Bytecode is usually sorted already, so this checks before it calls qsort. */
bool stet_build_sort(struct stet_named_attr *attrs, size_t count)
{
    bool sorted = true;

    for (size_t i = 1; i < count && sorted; i++)
        sorted = stet_view_cmp(attrs[i - 1].name, attrs[i].name) < 0;
    if (sorted)
        return true;
    qsort(attrs, count, sizeof *attrs, by_name);
    for (size_t i = 1; i < count; i++)
        if (stet_view_eq(attrs[i - 1].name, attrs[i].name))
            return false;
    return true;
}

struct stet_attr *stet_build_attr(struct stet_arena *a, enum stet_attr_kind kind)
{
    struct stet_attr *made = stet_arena_alloc(a, 1, stet_attr_size(kind));

    if (made)
        made->kind = (uint8_t)kind;
    return made;
}

struct stet_loc *stet_build_loc(struct stet_arena *a, enum stet_loc_kind kind, bool ends)
{
    struct stet_loc *made = stet_arena_alloc(a, 1, stet_loc_size(kind, ends));

    if (made) {
        made->kind = kind;
        made->ends = ends;
    }
    return made;
}

const struct stet_attr_name *stet_build_name(struct stet_arena *a, struct stet_view dialect,
                                             struct stet_view mnemonic)
{
    struct stet_attr_name *name = STET_NEW(a, struct stet_attr_name);

    if (name)
        *name = (struct stet_attr_name){dialect, mnemonic};
    return name;
}

/* ---- operations ---- */

/* The optional part after the regions of an operation: first the name, then the branches. */
struct branches {
    uint32_t count;
    struct stet_block *to[];
};

static size_t after_regions(const struct stet_op *op)
{
    return (size_t)(uintptr_t)(stet_op_regions(op) + op->region_count);
}

struct stet_view stet_op_name(const struct stet_op *op)
{
    if (op->known)
        return stet_known_op_view(op->known);
    return *(const struct stet_view *)after_regions(op);
}

static const struct branches *branches_of(const struct stet_op *op)
{
    static const struct branches none = {0};

    if (!op->branches)
        return &none;
    return (const struct branches *)(after_regions(op) +
                                     (op->known ? 0 : sizeof(struct stet_view)));
}

uint32_t stet_op_successor_count(const struct stet_op *op)
{
    return branches_of(op)->count;
}

struct stet_block **stet_op_successors(const struct stet_op *op)
{
    return (struct stet_block **)(uintptr_t)branches_of(op)->to;
}

uint32_t stet_op_successor_place(const struct stet_op *op, uint32_t i)
{
    const struct stet_op *around = op->parent ? op->parent->parent : NULL;

    for (unsigned r = 0; around && r < around->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(around, r)->block_count; b++)
            if (stet_op_region(around, r)->blocks[b] == stet_op_successors(op)[i])
                return b + 1;
    return 0;
}

size_t stet_build_op_size(const struct stet_op_parts *parts)
{
    if (parts->attr_count > STET_MAX_ATTRS || parts->region_count > STET_MAX_REGIONS)
        return 0;
    return sizeof(struct stet_op) + parts->result_count * sizeof(struct stet_value) +
           (size_t)parts->operand_count * sizeof(struct stet_value *) +
           parts->region_count * sizeof(struct stet_region) +
           (parts->known ? 0 : sizeof(struct stet_view)) +
           (parts->successor_count
                ? sizeof(struct branches) + parts->successor_count * sizeof(struct stet_block *)
                : 0);
}

static void put_regions(struct stet_op *op, struct stet_region *regions)
{
    for (unsigned r = 0; regions && r < op->region_count; r++) {
        *stet_op_region(op, r) = regions[r];
        for (uint32_t b = 0; b < regions[r].block_count; b++)
            regions[r].blocks[b]->parent = op;
    }
}

static void put_successors(struct stet_op *op, struct stet_block *const *to, uint32_t count)
{
    struct branches *b = (struct branches *)(uintptr_t)branches_of(op);

    if (!count)
        return;
    b->count = count;
    for (uint32_t i = 0; to && i < count; i++)
        b->to[i] = to[i];
}

struct stet_op *stet_build_op(struct stet_arena *a, const struct stet_op_parts *parts)
{
    size_t size = stet_build_op_size(parts);
    struct stet_op *op = size ? stet_arena_alloc(a, 1, size) : NULL;

    if (!op) {
        a->failed = true;
        return NULL;
    }
    op->loc = parts->loc;
    op->attrs = parts->attrs;
    op->known = parts->known & 1023;
    op->attr_count = parts->attr_count & STET_MAX_ATTRS;
    op->result_count = parts->result_count;
    op->operand_count = parts->operand_count;
    op->region_count = parts->region_count & STET_MAX_REGIONS;
    op->branches = parts->successor_count > 0;
    for (uint32_t i = 0; i < parts->result_count; i++) {
        op->results[i].type = parts->results ? parts->results[i] : NULL;
        op->results[i].index = i & INT32_MAX;
    }
    if (parts->operand_count && parts->operands)
        memcpy(stet_op_operands(op), parts->operands,
               parts->operand_count * sizeof parts->operands[0]);
    put_regions(op, parts->regions);
    if (!parts->known)
        *(struct stet_view *)after_regions(op) = parts->name;
    put_successors(op, parts->successors, parts->successor_count);
    return op;
}

_Static_assert(STET_KNOWN_OPS <= 1024, "known has ten bits");

bool stet_build_args(struct stet_arena *a, struct stet_block *b, uint32_t count)
{
    size_t each = sizeof(struct stet_value) + sizeof(struct stet_loc *);
    struct stet_block_args *args = stet_arena_alloc(a, 1, sizeof *args + count * each);

    if (!args)
        return false;
    args->block = b;
    b->args = args->values;
    b->arg_count = count;
    for (uint32_t i = 0; i < count; i++) {
        b->args[i].index = i & INT32_MAX;
        b->args[i].argument = 1;
    }
    return true;
}

static void number(struct stet_program *p, struct stet_op *op)
{
    op->id = p->op_count++;
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i].id = p->value_count++;
    for (unsigned r = 0; r < op->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++) {
            struct stet_block *block = stet_op_region(op, r)->blocks[b];

            for (uint32_t i = 0; i < block->arg_count; i++)
                block->args[i].id = p->value_count++;
            for (uint32_t i = 0; i < block->op_count; i++)
                number(p, block->ops[i]);
        }
}

void stet_build_number(struct stet_program *p)
{
    p->op_count = p->value_count = 0;
    if (p->module)
        number(p, p->module);
}

enum stet_rc stet_build_finish(struct stet_program *p, enum stet_rc rc, struct stet_err *err)
{
    if (rc == STET_OK) {
        stet_build_number(p);
        rc = stet_program_index(p, err);
    }
    if (rc != STET_OK)
        stet_program_release(p);
    return rc;
}
