/* See readbacks.h. */
#include "session/readbacks.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/vec.h"
#include "python/queries.h"

#include <inttypes.h>

static bool is_zero(struct stet_view value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i])
            return false;
    }
    return true;
}

static struct stet_readback *at_line(struct stet_readbacks *r, const struct stet_frame *f)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].line == f->line && stet_view_eq(r->items[i].file, f->file))
            return &r->items[i];
    }
    if (!stet_vec_room(&r->items, &r->room, r->count, sizeof *r->items))
        return NULL;
    r->items[r->count] = (struct stet_readback){.file = f->file, .line = (uint32_t)f->line};
    return &r->items[r->count++];
}

/* The condition may be in the function that reads, or in one that called it. */
static void judge(struct stet_python_sources *s, const struct stet_journal_copied *c,
                  struct stet_readback *b)
{
    for (size_t i = 0; i < c->lines.count && !b->decides; i++) {
        const struct stet_frame *f = &c->lines.items[i];

        b->decides = stet_python_decided_line(s, f->file, (uint32_t)f->line);
        b->decides_file = b->decides ? f->file : (struct stet_view){0};
    }
}

/* A process writes how often a place copied so far, so the last record of a place has the sum. */
static enum stet_rc gather(struct stet_readbacks *r, struct stet_python_sources *s,
                           const struct stet_process_digest *p, struct stet_err *err)
{
    for (size_t i = 0; i < p->copy_count; i++) {
        const struct stet_journal_copied *c = &p->copies[i];
        struct stet_readback *b;
        bool last = true;

        if (!c->to_host || !is_zero(c->value))
            continue;
        if (!c->lines.count) {
            r->unplaced += c->count;
            continue;
        }
        for (size_t k = i + 1; k < p->copy_count && last; k++)
            last = !p->copies[k].to_host || p->copies[k].lines.items != c->lines.items;
        if (!(b = at_line(r, &c->lines.items[0])))
            return stet_fail(err, STET_NO_MEMORY, "out of memory for the copies to the host");
        if (last)
            b->count += c->count;
        judge(s, c, b);
    }
    return STET_OK;
}

enum stet_rc stet_session_readbacks(struct stet_readbacks *r, const struct stet_run_digest *d,
                                    struct stet_err *err)
{
    struct stet_python_sources sources = {0};
    enum stet_rc rc = STET_OK;

    *r = (struct stet_readbacks){0};
    for (size_t p = 0; p < d->process_count && rc == STET_OK; p++)
        rc = gather(r, &sources, &d->processes[p], err);
    stet_python_sources_release(&sources);
    return rc;
}

void stet_session_readbacks_release(struct stet_readbacks *r)
{
    stet_mem_free(r->items);
    *r = (struct stet_readbacks){0};
}

static void put_line(struct stet_buf *out, const struct stet_readback *b, const char *prefix)
{
    stet_buf_printf(out, "%s%.*s:%u", prefix, STET_FMT(stet_path_base(b->file)), b->line);
    if (b->count > 1)
        stet_buf_printf(out, " (%" PRIu64 " times)", b->count);
    if (!b->decides)
        stet_buf_str(out, ": its value decides nothing in that function");
    else if (b->decides == b->line && stet_view_eq(b->file, b->decides_file))
        stet_buf_str(out, ": this line uses it to decide what runs");
    else
        stet_buf_printf(out, ": %.*s:%u uses it to decide what runs",
                        STET_FMT(stet_path_base(b->decides_file)), b->decides);
    stet_buf_char(out, '\n');
}

void stet_session_readbacks_text(struct stet_buf *out, const struct stet_readbacks *r,
                                 const char *prefix, size_t most)
{
    size_t listed = 0;

    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].decides)
            put_line(out, &r->items[i], prefix);
    }
    for (size_t i = 0; i < r->count; i++) {
        if (!r->items[i].decides && listed++ < most)
            put_line(out, &r->items[i], prefix);
    }
    if (listed > most)
        stet_buf_printf(out, "%sand %zu more that decide nothing\n", prefix, listed - most);
}
