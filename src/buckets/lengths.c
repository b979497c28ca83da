/* Reads sizes line by line. */
#include "buckets/lengths.h"

#include "base/mem.h"
#include "base/vec.h"

#include <inttypes.h>

enum { SHOWN = 40, MOST_DIGITS = 15 };

struct reading {
    struct stet_buckets_lengths *out;
    const char *file;
    uint64_t line;
    struct stet_view text; /* of the line */
    struct stet_err *err;
};

static bool fail(const struct reading *r, const char *what)
{
    struct stet_view shown = stet_view_of(r->text.ptr, r->text.len < SHOWN ? r->text.len : SHOWN);

    stet_fail(r->err, STET_BAD_INPUT, "%s:%" PRIu64 ": %s; this is \"%.*s\"", r->file, r->line,
              what, STET_FMT(shown));
    return false;
}

/* Takes the digits at the beginning of `v`; -1 if there are none, INT64_MAX if too many. */
static int64_t take_number(struct stet_view *v)
{
    int64_t n = 0;
    size_t i = 0;

    for (; i < v->len && v->ptr[i] >= '0' && v->ptr[i] <= '9'; i++) {
        if (i >= MOST_DIGITS)
            return INT64_MAX;
        n = n * 10 + (v->ptr[i] - '0');
    }
    *v = stet_view_of(v->ptr + i, v->len - i);
    return i ? n : -1;
}

static bool take_dims(const struct reading *r, struct stet_view *v, struct stet_buckets_shape *s,
                      unsigned *rank)
{
    bool digit = v->len && *v->ptr >= '0' && *v->ptr <= '9';

    for (*rank = 0;;) {
        if (*rank == STET_BUCKETS_RANK) {
            stet_fail(r->err, STET_BAD_INPUT, "%s:%" PRIu64 ": more than %d dimensions", r->file,
                      r->line, STET_BUCKETS_RANK);
            return false;
        }
        s->dims[*rank] = take_number(v);
        if (s->dims[*rank] == INT64_MAX)
            return fail(r, "a size has at most 15 digits");
        if (s->dims[(*rank)++] < 1)
            return fail(r, digit ? "a size is a number of 1 or more"
                                 : "a line is a size, or a size and its count");
        if (!v->len || *v->ptr != 'x')
            return true;
        *v = stet_view_of(v->ptr + 1, v->len - 1);
    }
}

static bool take_line(struct reading *r)
{
    struct stet_buckets_lengths *l = r->out;
    struct stet_view rest = r->text;
    struct stet_buckets_shape s = {.runs = 1};
    int64_t count;
    unsigned rank;

    if (!take_dims(r, &rest, &s, &rank))
        return false;
    if (rest.len && (*rest.ptr == ' ' || *rest.ptr == '\t')) {
        rest = stet_view_trim(rest);
        if (rest.len && *rest.ptr >= '0' && *rest.ptr <= '9') {
            count = take_number(&rest);
            if (count < 1 || count == INT64_MAX)
                return fail(r, count < 1 ? "a count is a number of 1 or more"
                                         : "a count has at most 15 digits");
            s.runs = (double)count;
        }
    }
    if (rest.len)
        return fail(r, "a line is a size, or a size and its count");
    if (l->rank && l->rank != rank) {
        stet_fail(r->err, STET_BAD_INPUT, "%s:%" PRIu64 ": %u dimension%s here and %u before",
                  r->file, r->line, rank, rank == 1 ? "" : "s", l->rank);
        return false;
    }
    l->rank = rank;
    if (!stet_vec_room(&l->shapes, &l->room, l->count, sizeof *l->shapes)) {
        stet_fail(r->err, STET_NO_MEMORY, "%s: out of memory", r->file);
        return false;
    }
    l->shapes[l->count++] = s;
    return true;
}

static struct stet_view without_comment(struct stet_view line)
{
    const char *comment = memchr(line.ptr, '#', line.len);

    return stet_view_trim(
        stet_view_of(line.ptr, comment ? (size_t)(comment - line.ptr) : line.len));
}

static enum stet_rc parse(struct stet_buckets_lengths *out, struct stet_view text, char end,
                          const char *file, struct stet_err *err)
{
    struct stet_err own = STET_ERR_INIT;
    struct reading r = {out, file, 0, {0}, &own};
    bool fine = true;

    *out = (struct stet_buckets_lengths){0};
    if (stet_view_starts(text, "\xef\xbb\xbf")) /* a byte order mark, as editors write it */
        text = stet_view_of(text.ptr + 3, text.len - 3);
    while (text.len && fine) {
        const char *stop = memchr(text.ptr, end, text.len);
        size_t n = stop ? (size_t)(stop - text.ptr) : text.len;

        r.line++;
        r.text = stet_view_of(text.ptr, n);
        r.text = end == ',' ? stet_view_trim(r.text) : without_comment(r.text);
        n += stop != NULL;
        text = stet_view_of(text.ptr + n, text.len - n);
        if (r.text.len || end == ',')
            fine = take_line(&r);
    }
    if (fine && !out->count)
        stet_fail(&own, STET_BAD_INPUT, "%s: it has no sizes", file);
    if (own.rc == STET_OK)
        return STET_OK;
    stet_buckets_lengths_release(out);
    return stet_fail(err, own.rc, "%s", own.text);
}

enum stet_rc stet_buckets_lengths_parse(struct stet_buckets_lengths *out, struct stet_view text,
                                        const char *file, struct stet_err *err)
{
    return parse(out, text, '\n', file, err);
}

enum stet_rc stet_buckets_lengths_list(struct stet_buckets_lengths *out, struct stet_view text,
                                       const char *what, struct stet_err *err)
{
    return parse(out, text, ',', what, err);
}

void stet_buckets_lengths_release(struct stet_buckets_lengths *l)
{
    stet_mem_free(l->shapes);
    *l = (struct stet_buckets_lengths){0};
}
