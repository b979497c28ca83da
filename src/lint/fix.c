/* Edits never change the number of lines but inside themselves, so the diff walks both texts line
 * by line and needs no search. */
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
};

static bool split(struct stet_view text, struct lines *out)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    out->count = 0;
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

static void put_line(struct stet_buf *out, char sign, struct stet_view line)
{
    stet_buf_char(out, sign);
    stet_buf_view(out, line);
    stet_buf_char(out, '\n');
}

/* Both sides from line `first`: how long they differ. Lines match again when three in a row do, or
 * the ends are reached. */
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
        size_t da, db, before, after;

        if (i < a.count && j < b.count && stet_view_eq(a.at[i], b.at[j])) {
            i++;
            j++;
            continue;
        }
        differing(&a, &b, i, j, &da, &db);
        before = i < 3 ? i : 3;
        for (after = 0; after < 3 && i + da + after < a.count && j + db + after < b.count &&
                        stet_view_eq(a.at[i + da + after], b.at[j + db + after]);)
            after++; /* context ends where the next change begins */
        stet_buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", i - before + 1, before + da + after,
                        j - before + 1, before + db + after);
        for (size_t k = i - before; k < i; k++)
            put_line(out, ' ', a.at[k]);
        for (size_t k = 0; k < da; k++)
            put_line(out, '-', a.at[i + k]);
        for (size_t k = 0; k < db; k++)
            put_line(out, '+', b.at[j + k]);
        i += da;
        j += db;
        for (size_t k = 0; k < after; k++)
            put_line(out, ' ', a.at[i + k]);
        i += after;
        j += after;
    }
    stet_mem_free(a.at);
    stet_mem_free(b.at);
}
