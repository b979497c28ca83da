/* Compile options after reading: ordered, canonical, compared and printed. */
#include "decode/options/options_read.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>

#define TEXT_OF(number)      #number
#define VERSION_LINE(number) "stet.options/" TEXT_OF(number) "\n"

static const char version[] = VERSION_LINE(STET_OPTIONS_VERSION);

/* ---- canonical ---- */

static int by_path(const void *a, const void *b)
{
    const struct stet_options_item *x = a, *y = b;
    int order = stet_view_cmp(x->path, y->path);

    return order ? order : x->order < y->order ? -1 : 1;
}

/* If a field is given twice, protobuf's rule is that the last one counts. The elements of a
 * repeated field that this build does not know also have an order. Lines of one code therefore keep
 * their order. */
static int by_code(const void *a, const void *b)
{
    const struct stet_options_line *x = a, *y = b;
    int order;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    order = stet_view_cmp(stet_view_of(x->text, x->code), stet_view_of(y->text, y->code));
    return order ? order : x->order < y->order ? -1 : 1;
}

static void canonical(struct stet_options_reader *r, struct stet_buf *out)
{
    if (r->line_count)
        qsort(r->lines, r->line_count, sizeof *r->lines, by_code);
    stet_buf_str(out, version);
    for (size_t i = 0; i < r->line_count; i++)
        stet_buf_add(out, r->lines[i].text, r->lines[i].len);
}

static bool finish(struct stet_options_reader *r, struct stet_options *out)
{
    struct stet_buf text = STET_BUF_INIT;

    canonical(r, &text);
    out->hash = stet_hash_bytes(stet_buf_as_view(&text));
    if (!r->brief) {
        out->items = STET_NEW_ARRAY(r->hlo.b.a, struct stet_options_item, r->count);
        out->canonical = stet_arena_copy(r->hlo.b.a, stet_buf_as_view(&text));
    }
    if (out->items && r->count) {
        qsort(r->items, r->count, sizeof *r->items, by_path);
        memcpy(out->items, r->items, r->count * sizeof *r->items);
        out->count = r->count;
    }
    r->hlo.b.a->failed |= text.failed || (r->files && r->files->failed);
    stet_buf_release(&text);
    return !r->hlo.b.a->failed;
}

static enum stet_rc decode(struct stet_options *out, struct stet_view bytes, bool brief,
                           struct stet_buf *files, struct stet_err *err)
{
    struct stet_options_reader *r = stet_mem_calloc(1, sizeof *r);
    struct stet_err own = STET_ERR_INIT;
    struct stet_hlo_room room;
    enum stet_rc rc;

    memset(out, 0, sizeof *out);
    if (!r)
        return stet_fail(err, STET_NO_MEMORY, "out of memory while reading compile options");
    r->brief = brief;
    r->files = files;
    stet_decode_hlo_build_init(&r->hlo.b, &room, &r->holder, bytes.len, &own);
    stet_options_read(r, bytes);
    rc = stet_proto_finish(&r->hlo.fault, "compile options", err);
    if (rc == STET_OK && (r->hlo.b.a->failed || !finish(r, out)))
        rc = stet_fail(err, STET_LIMIT, "compile options take too much memory");
    stet_mem_free(r->items);
    stet_mem_free(r->lines);
    stet_buf_release(&r->hlo.scratch);
    if (rc == STET_OK)
        out->arena = r->holder.arena;
    stet_decode_hlo_build_release(&r->hlo.b, rc == STET_OK);
    if (rc != STET_OK)
        memset(out, 0, sizeof *out);
    stet_mem_free(r);
    return rc;
}

enum stet_rc stet_options_decode(struct stet_options *out, struct stet_view bytes,
                                 struct stet_err *err)
{
    return decode(out, bytes, false, NULL, err);
}

enum stet_rc stet_options_hash(struct stet_view bytes, struct stet_hash *out,
                               struct stet_buf *files, struct stet_err *err)
{
    struct stet_options options;
    enum stet_rc rc = decode(&options, bytes, true, files, err);

    *out = options.hash;
    stet_options_release(&options);
    return rc;
}

void stet_options_release(struct stet_options *o)
{
    stet_arena_release(&o->arena);
    memset(o, 0, sizeof *o);
}

/* ---- accessors ---- */

static size_t next_counting(const struct stet_options *o, size_t i)
{
    while (i < o->count && o->items[i].dropped)
        i++;
    return i;
}

void stet_options_diff(const struct stet_options *a, const struct stet_options *b,
                       void (*visit)(void *context, struct stet_view path, struct stet_view from,
                                     struct stet_view to),
                       void *context)
{
    const struct stet_view none = {0};
    size_t i = next_counting(a, 0), k = next_counting(b, 0);

    while (i < a->count || k < b->count) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : stet_view_cmp(a->items[i].path, b->items[k].path);

        if (order < 0)
            visit(context, a->items[i].path, a->items[i].value, none);
        else if (order > 0)
            visit(context, b->items[k].path, none, b->items[k].value);
        else if (!stet_view_eq(a->items[i].value, b->items[k].value))
            visit(context, a->items[i].path, a->items[i].value, b->items[k].value);
        if (order <= 0)
            i = next_counting(a, i + 1);
        if (order >= 0)
            k = next_counting(b, k + 1);
    }
}
