/* See build.h. */
#include "program/build.h"

#include "base/mem.h"

#include <stdlib.h>

void stet_list_add(struct stet_list *l, const void *item)
{
    if (l->count == l->room && !l->failed) {
        size_t room = l->room ? l->room * 2 : 16;
        void **items = stet_mem_resize(l->items, room, sizeof *items);

        if (items) {
            l->items = items;
            l->room = room;
        } else {
            l->failed = true;
        }
    }
    if (!l->failed)
        memcpy(&l->items[l->count++], &item, sizeof item);
}

void *stet_list_keep(struct stet_list *l, struct stet_arena *a)
{
    void **kept = l->failed ? NULL : STET_NEW_ARRAY(a, void *, l->count);

    if (kept && l->count)
        memcpy(kept, l->items, l->count * sizeof *kept);
    l->count = 0;
    return kept;
}

void stet_list_release(struct stet_list *l)
{
    stet_mem_free(l->items);
    *l = (struct stet_list){0};
}

static int by_name(const void *a, const void *b)
{
    const struct stet_named_attr *x = a, *y = b;

    return stet_view_cmp(x->name, y->name);
}

/* Bytecode comes sorted already, so look before calling qsort. */
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

static void number(struct stet_program *p, struct stet_op *op)
{
    op->id = p->op_count++;
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i].id = p->value_count++;
    for (unsigned r = 0; r < op->region_count; r++)
        for (uint32_t b = 0; b < op->regions[r].block_count; b++) {
            struct stet_block *block = op->regions[r].blocks[b];

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
