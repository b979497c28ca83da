/* Edits change the number of lines only inside themselves, so the diff walks both texts line by
 * line and needs no search. */
#include "lint/fix.h"

#include "base/mem.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct stet_lint_finding *x = *(const struct stet_lint_finding *const *)a;
    const struct stet_lint_finding *y = *(const struct stet_lint_finding *const *)b;

    return x->edit_start < y->edit_start ? -1 : x->edit_start > y->edit_start;
}

void stet_lint_fix_text(const struct stet_lint_result *r, const char *path, struct stet_view old,
                        struct stet_buf *out, size_t *count)
{
    const struct stet_lint_finding **edits = stet_mem_calloc(r->finding_count + 1, sizeof *edits);
    size_t found = 0, at = 0;

    *count = 0;
    for (size_t i = 0; edits && i < r->finding_count; i++) {
        const struct stet_lint_finding *f = &r->findings[i];

        if (f->edit.ptr && !strcmp(f->path, path) && f->edit_start <= f->edit_end &&
            f->edit_end <= old.len)
            edits[found++] = f;
    }
    if (!edits) {
        out->failed = true;
        return;
    }
    qsort(edits, found, sizeof *edits, by_start);
    for (size_t i = 0; i < found; i++) {
        if (edits[i]->edit_start < at)
            continue;
        stet_buf_add(out, old.ptr + at, edits[i]->edit_start - at);
        stet_buf_view(out, edits[i]->edit);
        at = edits[i]->edit_end;
        (*count)++;
    }
    stet_buf_add(out, old.ptr + at, old.len - at);
    stet_mem_free(edits);
}

struct lines {
    struct stet_view *at;
    size_t count;
    bool open; /* the last one does not end */
};

static bool split(struct stet_view text, struct lines *out)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    out->count = 0;
    out->open = text.len && text.ptr[text.len - 1] != '\n';
    out->at = stet_mem_calloc(count, sizeof *out->at);
    if (!out->at)
        return false;
    for (size_t start = 0; start < text.len;) {
        const char *stop = memchr(text.ptr + start, '\n', text.len - start);
        size_t end = stop ? (size_t)(stop - text.ptr) : text.len;

        out->at[out->count++] = stet_view_of(text.ptr + start, end - start);
        start = end + 1;
    }
    return true;
}

static void put_line(struct stet_buf *out, char sign, const struct lines *of, size_t line)
{
    stet_buf_char(out, sign);
    stet_buf_view(out, of->at[line]);
    stet_buf_str(out,
                 of->open && line + 1 == of->count ? "\n\\ No newline at end of file\n" : "\n");
}

/* Both sides from lines i and j: how long they differ. Lines match again if two in a row do, or at
 * the ends. */
static void differing(const struct lines *a, const struct lines *b, size_t i, size_t j, size_t *da,
                      size_t *db)
{
    for (size_t sum = 1; sum < 200; sum++) {
        for (size_t x = 0; x <= sum; x++) {
            size_t y = sum - x, same = 0;

            if (i + x > a->count || j + y > b->count)
                continue;
            while (same < 2 && i + x + same < a->count && j + y + same < b->count &&
                   stet_view_eq(a->at[i + x + same], b->at[j + y + same]))
                same++;
            if (same == 2 || (i + x + same == a->count && j + y + same == b->count)) {
                *da = x;
                *db = y;
                return;
            }
        }
    }
    *da = a->count - i;
    *db = b->count - j;
}

enum { CONTEXT = 3 };

/* One hunk from line i of the old text and j of the new one, which differ there. Changes whose
 * context would meet are one hunk. Moves both past it. */
static void put_hunk(const struct lines *a, const struct lines *b, size_t *i, size_t *j,
                     struct stet_buf *out)
{
    size_t before = *i < CONTEXT ? *i : CONTEXT, start = *i - before, other = *j - before, same;
    struct stet_buf body = STET_BUF_INIT;

    for (size_t k = start; k < *i; k++)
        put_line(&body, ' ', a, k);
    for (;;) {
        size_t da, db;

        differing(a, b, *i, *j, &da, &db);
        for (size_t k = 0; k < da; k++)
            put_line(&body, '-', a, (*i)++);
        for (size_t k = 0; k < db; k++)
            put_line(&body, '+', b, (*j)++);
        for (same = 0; same <= 2 * CONTEXT && *i + same < a->count && *j + same < b->count &&
                       stet_view_eq(a->at[*i + same], b->at[*j + same]);)
            same++;
        if (same > 2 * CONTEXT || (*i + same == a->count && *j + same == b->count))
            break;
        for (; same; same--, (*i)++, (*j)++)
            put_line(&body, ' ', a, *i);
    }
    for (same = same > CONTEXT ? CONTEXT : same; same; same--, (*i)++, (*j)++)
        put_line(&body, ' ', a, *i);
    stet_buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", start + 1, *i - start, other + 1, *j - other);
    stet_buf_view(out, stet_buf_as_view(&body));
    out->failed |= body.failed;
    stet_buf_release(&body);
}

void stet_lint_fix_diff(const char *path, struct stet_view old, struct stet_view fixed,
                        struct stet_buf *out)
{
    struct lines a = {0}, b = {0};
    size_t i = 0, j = 0;

    if (stet_view_eq(old, fixed))
        return;
    if (!split(old, &a) || !split(fixed, &b)) {
        out->failed = true;
        stet_mem_free(a.at);
        stet_mem_free(b.at);
        return;
    }
    stet_buf_printf(out, "--- a/%s\n+++ b/%s\n", path, path);
    while (i < a.count || j < b.count) {
        if (i < a.count && j < b.count && stet_view_eq(a.at[i], b.at[j])) {
            i++;
            j++;
        } else {
            put_hunk(&a, &b, &i, &j, out);
        }
    }
    stet_mem_free(a.at);
    stet_mem_free(b.at);
}
