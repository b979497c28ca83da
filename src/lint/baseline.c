/* One line per finding: its id, its rule, and its place when it was written. The place is only for
 * readers; only the id counts, and it does not depend on the line number. */
#include "lint/baseline.h"

#include "base/fs.h"
#include "base/mem.h"

static const char head[] =
    "# stet lint baseline 1: findings accepted here; an id does not depend on "
    "the line number\n";

enum stet_rc stet_lint_baseline_write(const struct stet_lint_result *r, const char *path,
                                      struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    enum stet_rc rc;

    stet_buf_str(&out, head);
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct stet_lint_finding *f = &r->findings[i];

        stet_buf_printf(&out, "%s %s %s:%u\n", f->id, stet_lint_rule_at(f->rule).code, f->path,
                        f->line);
    }
    rc = out.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory")
                    : stet_fs_write(path, stet_buf_as_view(&out), err);
    stet_buf_release(&out);
    return rc;
}

/* The n-th line's id, or an empty view. */
static struct stet_view id_of(struct stet_view line)
{
    return line.len >= 33 && line.ptr[0] != '#' && line.ptr[32] == ' ' ? stet_view_of(line.ptr, 32)
                                                                       : (struct stet_view){0};
}

static bool listed(struct stet_view text, const char *id, bool *used)
{
    size_t n = 0;

    for (const char *p = text.ptr, *end = p + text.len; p < end; n++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct stet_view line = stet_view_of(p, (size_t)((stop ? stop : end) - p));

        if (!used[n] && stet_view_is(id_of(line), id)) {
            used[n] = true;
            return true;
        }
        p = stop ? stop + 1 : end;
    }
    return false;
}

enum stet_rc stet_lint_baseline_apply(struct stet_lint_result *r, const char *path, size_t *known,
                                      size_t *gone, struct stet_err *err)
{
    struct stet_file f;
    enum stet_rc rc = stet_file_open(&f, path, err);
    size_t lines = 1, kept = 0, entries = 0;
    bool *used;

    *known = *gone = 0;
    if (rc != STET_OK)
        return rc;
    for (size_t i = 0; i < f.bytes.len; i++)
        lines += f.bytes.ptr[i] == '\n';
    used = stet_mem_calloc(lines + 1, sizeof *used);
    if (!used || !stet_view_starts(f.bytes, "# stet lint baseline 1")) {
        stet_mem_free(used);
        stet_file_close(&f);
        return used ? stet_fail(err, STET_BAD_INPUT, "%s is not a lint baseline", path)
                    : stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    for (const char *p = f.bytes.ptr, *end = p + f.bytes.len; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));

        entries += id_of(stet_view_of(p, (size_t)((stop ? stop : end) - p))).len != 0;
        p = stop ? stop + 1 : end;
    }
    for (size_t i = 0; i < r->finding_count; i++) {
        if (listed(f.bytes, r->findings[i].id, used))
            (*known)++;
        else
            r->findings[kept++] = r->findings[i];
    }
    r->finding_count = kept;
    *gone = entries - *known;
    stet_mem_free(used);
    stet_file_close(&f);
    return STET_OK;
}
