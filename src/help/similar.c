/* Compares words by how many letters must be typed differently. */
#include "help/similar.h"

#include <stdio.h>
#include <string.h>

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

/* The edits between two words: a letter more, a letter less, another one, or two exchanged. */
static size_t edits(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][STET_SIMILAR_WORD + 1];

    for (size_t k = 0; k <= m; k++)
        rows[1][k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[(i + 1) % 3], *last = rows[i % 3], *before = rows[(i + 2) % 3];

        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            row[k] = least(last[k] + 1, row[k - 1] + 1, last[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                before[k - 2] + 1 < row[k])
                row[k] = before[k - 2] + 1;
        }
    }
    return rows[(n + 1) % 3][m];
}

void stet_help_similar_try(struct stet_help_similar *s, const char *known)
{
    size_t n = strlen(s->word), m = strlen(known), d;

    if (n > STET_SIMILAR_WORD || m >= STET_SIMILAR_WORD || n < 2)
        return;
    d = edits(s->word, n, known, m);
    if (d > 2 || d * 3 > (n > m ? n : m) || (s->best[0] && d >= s->distance))
        return;
    s->distance = d;
    snprintf(s->best, sizeof s->best, "%s", known);
}
