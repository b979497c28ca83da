/* Copies to the journal: with a compile, and at the end those that no compile followed. */
#include "base/mem.h"
#include "intercept/copysites.h"
#include "intercept/layer.h"
#include "intercept/writer.h"

struct last_copies {
    size_t count;
    struct stet_copysite copies[STET_COPIES_MOST];
};

void stet_intercept_copysite_write(struct stet_journal *j, uint64_t index, bool load,
                                   const struct stet_copysite *c)
{
    struct stet_frame frames[STET_PYLINES_MOST];
    uint64_t dims[STET_COPY_RANK];
    bool known = c->rank <= STET_COPY_RANK;
    struct stet_rec_compile_copy record = {
        .index = index,
        .load = load,
        .to_host = c->to_host,
        .copied_ns = c->ns,
        .count = c->count,
        .bytes = c->bytes,
        .dtype = stet_view_str(stet_intercept_copysites_dtype(c->type)),
        .rank = known ? c->rank + 1 : 0,
        .dims = {dims, known ? c->rank : 0},
        .value = stet_view_of(c->value, c->value_size),
    };

    for (uint32_t i = 0; i < c->line_count; i++)
        frames[i] = (struct stet_frame){.file = stet_view_str(c->lines[i].file),
                                        .function = stet_view_str(c->lines[i].function),
                                        .line = c->lines[i].line};
    for (size_t i = 0; i < record.dims.count; i++)
        dims[i] = (uint64_t)c->dims[i];
    record.stack = stet_journal_write_stack(j, (struct stet_frames){frames, c->line_count});
    stet_journal_write(j, STET_REC_compile_copy, &record);
}

static bool write_last(struct stet_event *e, struct stet_journal *j)
{
    const struct last_copies *last = e->extra;

    for (size_t i = 0; i < last->count; i++)
        stet_intercept_copysite_write(j, atomic_load(&stet_layer.compiles), false,
                                      &last->copies[i]);
    return false;
}

void stet_intercept_copysites_end(unsigned long thread)
{
    struct last_copies *last = stet_mem_alloc(sizeof *last);
    struct stet_event *e = NULL;

    if (!last)
        return;
    last->count = stet_intercept_copysites_take(thread, last->copies);
    if (last->count)
        e = stet_event_new(STET_REC_compile_copy);
    if (!e) {
        stet_mem_free(last);
        return;
    }
    e->extra = last;
    e->drop = stet_mem_free;
    e->prepare = write_last;
    stet_event_send(e);
}
