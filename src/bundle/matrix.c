/* Rows: [id], then `field = text`; a line that begins with a space continues the one before. */
#include "bundle/matrix.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "bundle/detector.h"
#include "bundle_matrix.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_MAX = 4096, ID_MAX = 64 };

static const char *const field_names[] = {"area",     "kind", "symptom", "versions",
                                          "evidence", "do",   "detect"};
static const char *const areas[] = {"version", "plugin", "cache",   "flags",
                                    "debug",   "launch", "feature", NULL};
static const char *const kinds[] = {"upstream defect", "launch policy", "version gate",
                                    "structural gate", NULL};

const char *stet_bundle_row_field_name(enum stet_row_field f)
{
    return field_names[f];
}

struct reader {
    struct stet_matrix *m;
    struct stet_view text;
    const char *source;
    struct stet_err *err;
};

static enum stet_rc fail(struct reader *r, const char *at, const char *fmt, const char *detail)
{
    unsigned line = 1, column = 1;
    char what[160];

    for (const char *p = r->text.ptr; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    snprintf(what, sizeof what, fmt, detail);
    return stet_fail(r->err, STET_BAD_INPUT, "%s:%u:%u: %s", *r->source ? r->source : "matrix",
                     line, column, what);
}

void stet_bundle_matrix_init(struct stet_matrix *m)
{
    *m = (struct stet_matrix){0};
    stet_arena_init(&m->arena, 16 << 20);
}

void stet_bundle_matrix_release(struct stet_matrix *m)
{
    stet_arena_release(&m->arena);
    stet_mem_free(m->rows);
    *m = (struct stet_matrix){0};
}

/* The row of this id, emptied, or a new one; NULL when out of memory. */
static struct stet_row *row_for(struct reader *r, struct stet_view id)
{
    struct stet_matrix *m = r->m;
    struct stet_row *row = NULL;

    for (size_t i = 0; i < m->count; i++)
        if (stet_view_eq(m->rows[i].id, id))
            row = &m->rows[i];
    if (!row) {
        if (!stet_vec_grow(&m->rows, &m->room, m->count, 1, sizeof *m->rows, ROWS_MAX))
            return NULL;
        row = &m->rows[m->count++];
    }
    *row = (struct stet_row){.id = stet_arena_copy(&m->arena, id), .source = r->source};
    return row->id.ptr ? row : NULL;
}

/* The text of a field: trimmed, with lines joined by one space. */
static struct stet_view join(struct reader *r, struct stet_view raw)
{
    struct stet_view copy = stet_arena_copy(&r->m->arena, raw);
    char *to = (char *)(uintptr_t)copy.ptr;
    size_t n = 0;

    for (size_t i = 0; to && i < copy.len; i++) {
        bool blank = isspace((unsigned char)copy.ptr[i]);

        if (blank && (!n || to[n - 1] == ' '))
            continue;
        to[n++] = blank ? ' ' : copy.ptr[i];
    }
    while (n && to[n - 1] == ' ')
        n--;
    if (to)
        to[n] = 0;
    return stet_view_of(copy.ptr, n);
}

static enum stet_rc take_field(struct reader *r, struct stet_row *row, struct stet_view name,
                               struct stet_view raw)
{
    enum stet_row_field f = 0;
    const char *at = NULL, *what = NULL;

    while (f < STET_ROW_FIELDS && !stet_view_is(name, field_names[f]))
        f++;
    if (f == STET_ROW_FIELDS)
        return fail(r, name.ptr,
                    "no such field; there are area, kind, symptom, versions, "
                    "evidence, do, detect%s",
                    "");
    if (row->field[f].ptr)
        return fail(r, name.ptr, "%s: a second time", field_names[f]);
    row->field[f] = join(r, raw);
    if (!row->field[f].len)
        return fail(r, name.ptr, "%s: the field has no text", field_names[f]);
    if (f == STET_ROW_AREA && !stet_view_in(row->field[f], areas))
        return fail(r, raw.ptr,
                    "no such area; there are version, plugin, cache, flags, debug, "
                    "launch, feature%s",
                    "");
    if (f == STET_ROW_KIND && !stet_view_in(row->field[f], kinds))
        return fail(r, raw.ptr,
                    "no such kind; there are upstream defect, launch policy, version "
                    "gate, structural gate%s",
                    "");
    if (f != STET_ROW_DETECT)
        return STET_OK;
    row->detector = stet_bundle_detector_parse(&r->m->arena, raw, &at, &what);
    return row->detector ? STET_OK : fail(r, at ? at : raw.ptr, "%s", what);
}

static enum stet_rc row_over(struct reader *r, const struct stet_row *row, const char *at)
{
    for (int f = 0; row && f < STET_ROW_FIELDS; f++)
        if (!row->field[f].ptr)
            return fail(r, at, "the row above has no field %s", field_names[f]);
    return r->m->arena.failed ? stet_fail(r->err, STET_LIMIT, "%s: too large", r->source) : STET_OK;
}

/* [id] */
static enum stet_rc take_head(struct reader *r, struct stet_view line, struct stet_row **row)
{
    const char *close = memchr(line.ptr, ']', line.len);
    struct stet_view id = stet_view_of(line.ptr + 1, close ? (size_t)(close - line.ptr) - 1 : 0);

    if (!id.len || id.len > ID_MAX)
        return fail(r, line.ptr, "expected [name-of-the-row]%s", "");
    for (size_t i = 0; i < id.len; i++)
        if (!islower((unsigned char)id.ptr[i]) && !isdigit((unsigned char)id.ptr[i]) &&
            id.ptr[i] != '-')
            return fail(r, id.ptr + i, "a row's name has small letters, digits and -%s", "");
    for (const char *p = close + 1; p < line.ptr + line.len; p++)
        if (!isspace((unsigned char)*p))
            return fail(r, p, "nothing may follow ]%s", "");
    *row = row_for(r, id);
    return *row ? STET_OK : stet_fail(r->err, STET_LIMIT, "%s: too many rows", r->source);
}

/* The line at `p` with its continuation lines. */
static struct stet_view whole_line(const struct reader *r, const char *p)
{
    const char *end = r->text.ptr + r->text.len, *e = p;

    do {
        const char *newline = memchr(e, '\n', (size_t)(end - e));

        e = newline ? newline + 1 : end;
    } while (e < end && (*e == ' ' || *e == '\t'));
    return stet_view_of(p, (size_t)(e - p));
}

enum stet_rc stet_bundle_matrix_add(struct stet_matrix *m, struct stet_view text,
                                    const char *source, struct stet_err *err)
{
    struct reader r = {m, text, source, err};
    struct stet_row *row = NULL;
    enum stet_rc rc = STET_OK;
    const char *p = text.ptr, *end = text.len ? text.ptr + text.len : text.ptr;
    unsigned line = 1;
    const char *counted = p;

    if (text.len && memchr(text.ptr, 0, text.len))
        return fail(&r, memchr(text.ptr, 0, text.len), "a NUL byte%s", "");
    while (rc == STET_OK && p < end) {
        struct stet_view whole = whole_line(&r, p);
        const char *stop;

        if (*p == '[') {
            rc = row_over(&r, row, p);
            for (; counted < p; counted++)
                line += *counted == '\n';
            stop = memchr(p, '\n', whole.len);
            if (rc == STET_OK)
                rc = take_head(&r, stet_view_of(p, stop ? (size_t)(stop - p) : whole.len), &row);
            if (rc == STET_OK && row)
                row->line = line;
        } else if (*p != '#' && !isspace((unsigned char)*p)) {
            struct stet_view name;

            stop = memchr(p, '=', whole.len);
            name = stet_view_of(p, stop ? (size_t)(stop - p) : 0);
            while (name.len && isspace((unsigned char)name.ptr[name.len - 1]))
                name.len--;
            if (!row)
                rc = fail(&r, p, "expected [name-of-a-row]%s", "");
            else if (!name.len)
                rc = fail(&r, p, "expected field = text%s", "");
            else
                rc = take_field(&r, row, name,
                                stet_view_of(stop + 1, whole.len - (size_t)(stop - p) - 1));
        }
        p += whole.len;
    }
    if (rc == STET_OK)
        rc = row_over(&r, row, end);
    return rc;
}

enum stet_rc stet_bundle_matrix_built_in(struct stet_matrix *m, struct stet_err *err)
{
    return stet_bundle_matrix_add(
        m, stet_view_of(stet_bundle_matrix, sizeof stet_bundle_matrix - 1), "", err);
}

bool stet_bundle_row_fits(const struct stet_row *row, const struct stet_inventory *v,
                          struct stet_buf *why)
{
    return row->detector && stet_bundle_detector_fits(row->detector, v, why);
}

static uint64_t number(struct stet_view *v)
{
    uint64_t n = 0;

    while (v->len && isdigit((unsigned char)*v->ptr)) {
        n = n < UINT64_MAX / 20 ? n * 10 + (uint64_t)(*v->ptr - '0') : n;
        *v = stet_view_of(v->ptr + 1, v->len - 1);
    }
    return n;
}

/* After the numbers: nothing and +local are the release itself; letters come before it. */
static int suffix(struct stet_view v)
{
    if (v.len && *v.ptr == '.')
        v = stet_view_of(v.ptr + 1, v.len - 1);
    if (stet_view_starts(v, "post"))
        return 1;
    return v.len && isalpha((unsigned char)*v.ptr) ? -1 : 0;
}

int stet_bundle_version_cmp(struct stet_view a, struct stet_view b)
{
    for (;;) {
        uint64_t x = number(&a), y = number(&b);
        bool more_a = a.len > 1 && *a.ptr == '.' && isdigit((unsigned char)a.ptr[1]);
        bool more_b = b.len > 1 && *b.ptr == '.' && isdigit((unsigned char)b.ptr[1]);

        if (x != y)
            return x < y ? -1 : 1;
        if (!more_a && !more_b)
            break;
        if (more_a)
            a = stet_view_of(a.ptr + 1, a.len - 1);
        else
            a.len = 0;
        if (more_b)
            b = stet_view_of(b.ptr + 1, b.len - 1);
        else
            b.len = 0;
    }
    return suffix(a) - suffix(b);
}
