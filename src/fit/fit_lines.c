/* The temporaries of a program by the line that made them. */
#include "fit/fit_internal.h"

#include "base/vec.h"

#include <stdlib.h>

static bool is_same(const struct stet_fit_line *l, const struct stet_footprint_instruction *i)
{
    return l->line == i->line && stet_view_eq(l->file, i->file) &&
           (l->line || stet_view_eq(l->opcode, i->opcode));
}

static void add(struct stet_fit_line *l, const struct stet_footprint_buffer *b)
{
    l->bytes += b->size;
    l->count++;
    if (b->size <= l->largest)
        return;
    l->largest = b->size;
    l->shape = b->shape;
    l->op_name = b->made_by->op_name;
    l->opcode = b->made_by->opcode;
    l->function = b->made_by->function;
}

static int larger_first(const void *a, const void *b)
{
    const struct stet_fit_line *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->line < y->line ? -1 : x->line > y->line;
}

enum stet_rc stet_fit_lines_make(struct stet_fit *fit, struct stet_fit_program *p,
                                 struct stet_err *err)
{
    STET_VEC(struct stet_fit_line) lines = {0};

    for (size_t i = 0; i < p->footprint.buffer_count; i++) {
        const struct stet_footprint_buffer *b = &p->footprint.buffers[i];
        struct stet_fit_line *at = NULL;

        for (size_t k = 0; b->made_by && k < lines.count && !at; k++) {
            if (is_same(&lines.items[k], b->made_by))
                at = &lines.items[k];
        }
        if (!at && b->made_by) {
            at = STET_VEC_ADD(&lines);
            if (!at)
                break;
            at->file = b->made_by->file;
            at->line = b->made_by->line;
            at->opcode = b->made_by->opcode;
        }
        if (at)
            add(at, b);
    }
    if (lines.count)
        qsort(lines.items, lines.count, sizeof *lines.items, larger_first);
    p->line_count = lines.count;
    p->lines = stet_arena_adopt(&fit->arena, lines.items, lines.count, sizeof *lines.items);
    if (lines.failed || (lines.count && !p->lines)) {
        p->line_count = 0;
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the lines of a program");
    }
    return STET_OK;
}
