/* Comments of a file that suppress findings: "stet: ignore", "stet: ignore[code]", "stet:
 * ignore-file". */
#include "lint/candidates.h"

#include "base/mem.h"
#include "lint/rules.h"

/* "[a, b]" after "stet: ignore", or everything without brackets. */
static bool comment_names(struct stet_view spec, const struct lint_rule *rule)
{
    const char *end;

    if (!spec.len || spec.ptr[0] != '[')
        return true;
    end = memchr(spec.ptr, ']', spec.len);
    if (!end)
        return true;
    for (const char *p = spec.ptr + 1; p < end;) {
        const char *stop = p;

        while (stop < end && *stop != ',')
            stop++;
        while (p < stop && *p == ' ')
            p++;
        while (stop > p && stop[-1] == ' ')
            stop--;
        if (stet_view_is(stet_view_of(p, (size_t)(stop - p)), rule->code) ||
            stet_view_is(stet_view_of(p, (size_t)(stop - p)), rule->trap))
            return true;
        p = memchr(stop, ',', (size_t)(end - stop));
        p = p ? p + 1 : end;
    }
    return false;
}

/* One "stet: ignore" of the file: its row, and what follows it there. */
struct aside {
    uint32_t row;
    bool whole; /* of the file */
    struct stet_view rest;
};

/* The rows whose comments suppress findings of the rule. True if one does so for the file. */
static bool rows_naming(const struct lint_rule *rule, const struct aside *asides, size_t count,
                        uint32_t *rows, size_t *row_count)
{
    *row_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!comment_names(asides[i].rest, rule))
            continue;
        if (asides[i].whole)
            return true;
        rows[(*row_count)++] = asides[i].row;
    }
    return false;
}

static bool is_put_aside(const struct lint_candidate *c, const uint32_t *rows, size_t count)
{
    size_t low = 0, high = count;

    while (low < high) { /* the first one on its lines */
        size_t middle = low + (high - low) / 2;

        if (rows[middle] + 1 < c->line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && rows[low] < c->end_line;
}

static struct aside *find_asides(const struct stet_python_ast *a, size_t *count)
{
    static const char word[] = "stet: ignore";
    const char *p = a->text.ptr, *end = p + a->text.len;
    struct aside *found = NULL;
    size_t room = 0;

    *count = 0;
    while (p < end && (p = memmem(p, (size_t)(end - p), word, sizeof word - 1))) {
        const char *stop = memchr(p, '\n', (size_t)(end - p)), *spec = p + sizeof word - 1;
        bool whole = (size_t)(end - spec) >= 5 && !memcmp(spec, "-file", 5);

        stop = stop ? stop : end;
        if (!stet_vec_room(&found, &room, *count, sizeof *found)) {
            stet_mem_free(found);
            *count = 1; /* there are some */
            return NULL;
        }
        spec += whole ? 5 : 0;
        found[(*count)++] = (struct aside){stet_python_row(a, (uint32_t)(p - a->text.ptr)), whole,
                                           stet_view_of(spec, (size_t)(stop - spec))};
        p = stop;
    }
    return found;
}

/* Drops candidates that a comment of their lines, or of the file, suppresses: rule by rule, so that
 * neither long lines nor many comments take more time than the length of the text. */
static void drop_asides(struct lint_summary *s, const struct aside *asides, size_t count,
                        uint32_t *rows)
{
    bool found[LINT_RULES] = {false};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->candidate_count; i++)
        found[s->candidates[i].rule] = true;
    for (unsigned r = 0; r < LINT_RULES; r++) {
        size_t n;
        bool whole;

        if (!found[r])
            continue;
        whole = rows_naming(&lint_rule_table[r], asides, count, rows, &n);
        for (uint32_t i = 0; i < s->candidate_count; i++) {
            struct lint_candidate *c = &s->candidates[i];

            if (c->rule == r && (whole || is_put_aside(c, rows, n)))
                c->rule = LINT_RULES;
        }
    }
    for (uint32_t i = 0; i < s->candidate_count; i++)
        if (s->candidates[i].rule != LINT_RULES)
            s->candidates[kept++] = s->candidates[i];
    s->ignored += s->candidate_count - kept;
    s->candidate_count = kept;
}

bool lint_ignores_apply(struct lint_summary *s, const struct stet_python_ast *a)
{
    size_t count;
    struct aside *asides = find_asides(a, &count);
    uint32_t *rows = asides ? stet_mem_calloc(count, sizeof *rows) : NULL;

    if (rows)
        drop_asides(s, asides, count, rows);
    stet_mem_free(asides);
    stet_mem_free(rows);
    return rows || !count;
}
