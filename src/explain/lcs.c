/* Common ends first, then Myers' greedy algorithm while the differences are few, then anchors that
 * are rare in both sequences and Myers again between them. */
#include "explain/lcs.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Differences Myers may look for: bounded in all, and less for long sequences so that the work
 * stays near-linear. */
enum { MOST_EDITS = 2048, WORK = 1 << 25 };

struct span {
    const uint64_t *a, *b;
    uint32_t a_start, a_end, b_start, b_end;
    uint32_t *pair;
};

static void trim(struct span *s)
{
    while (s->a_start < s->a_end && s->b_start < s->b_end && s->a[s->a_start] == s->b[s->b_start])
        s->pair[s->a_start++] = s->b_start++;
    while (s->a_start < s->a_end && s->b_start < s->b_end &&
           s->a[s->a_end - 1] == s->b[s->b_end - 1])
        s->pair[--s->a_end] = --s->b_end;
}

/* Walk back through the stored frontiers; row d has entries for diagonals -d..d. */
static void trace_back(const struct span *s, const uint32_t *rows, uint32_t edits)
{
    int64_t x = s->a_end - s->a_start, y = s->b_end - s->b_start;

    for (uint32_t d = edits; d > 0; d--) {
        const uint32_t *before = rows + (size_t)(d - 1) * (d - 1);
        int64_t k = x - y, from, from_x, snake;
        bool down = k == -(int64_t)d ||
                    (k != (int64_t)d && before[k - 1 + (d - 1)] < before[k + 1 + (d - 1)]);

        from = down ? k + 1 : k - 1;
        from_x = before[from + (d - 1)];
        snake = down ? from_x : from_x + 1;
        for (; x > snake; x--, y--)
            s->pair[s->a_start + (uint32_t)x - 1] = s->b_start + (uint32_t)y - 1;
        x = from_x;
        y = from_x - from;
    }
    for (; x > 0; x--, y--)
        s->pair[s->a_start + (uint32_t)x - 1] = s->b_start + (uint32_t)y - 1;
}

/* One frontier of Myers' search: how far each diagonal gets with d edits. True at the far corner.
 */
static bool advance(const struct span *s, const uint32_t *before, uint32_t *row, uint32_t d)
{
    int64_t n = s->a_end - s->a_start, m = s->b_end - s->b_start;

    for (int64_t k = -(int64_t)d; k <= (int64_t)d; k += 2) {
        int64_t x, y;

        if (d == 0)
            x = 0;
        else if (k == -(int64_t)d ||
                 (k != (int64_t)d && before[k - 1 + (d - 1)] < before[k + 1 + (d - 1)]))
            x = before[k + 1 + (d - 1)];
        else
            x = (int64_t)before[k - 1 + (d - 1)] + 1;
        y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && s->a[s->a_start + x] == s->b[s->b_start + y])
            x++, y++;
        row[k + d] = (uint32_t)x;
        if (x >= n && y >= m)
            return true;
    }
    return false;
}

/* 1 aligned, 0 too many differences, -1 out of memory. */
static int myers(const struct span *s)
{
    uint64_t size = (uint64_t)(s->a_end - s->a_start) + (s->b_end - s->b_start);
    uint32_t most = size > WORK / MOST_EDITS ? (uint32_t)(WORK / size) : MOST_EDITS;
    uint32_t *rows = NULL;
    size_t room = 0;
    int answer = 0;

    if (most < 64)
        most = 64;
    for (uint32_t d = 0; d <= most && d <= size; d++) {
        size_t need = (size_t)(d + 1) * (d + 1);

        if (need > room) {
            uint32_t *bigger = stet_mem_resize(rows, room = need * 2 + 64, sizeof *rows);

            if (!bigger) {
                answer = -1;
                break;
            }
            rows = bigger;
        }
        memset(rows + (size_t)d * d, 0, (2 * (size_t)d + 1) * sizeof *rows);
        if (advance(s, d ? rows + (size_t)(d - 1) * (d - 1) : NULL, rows + (size_t)d * d, d)) {
            trace_back(s, rows, d);
            answer = 1;
            break;
        }
    }
    stet_mem_free(rows);
    return answer;
}

/* ---- many differences: anchors ---- */

struct spot {
    uint64_t token;
    uint32_t index;
    bool in_b;
};

static int by_token(const void *left, const void *right)
{
    const struct spot *l = left, *r = right;

    if (l->token != r->token)
        return l->token < r->token ? -1 : 1;
    if (l->in_b != r->in_b)
        return l->in_b - r->in_b;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* The longest increasing run of b-indices over the candidates in order of a: patience sorting. */
static uint32_t increasing(const uint32_t *b_of, uint32_t count, uint32_t *tails, uint32_t *before)
{
    uint32_t length = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = 0, high = length;

        before[i] = STET_LCS_NONE;
        if (b_of[i] == STET_LCS_NONE)
            continue;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (b_of[tails[middle]] < b_of[i])
                low = middle + 1;
            else
                high = middle;
        }
        before[i] = low ? tails[low - 1] : STET_LCS_NONE;
        tails[low] = i;
        if (low == length)
            length++;
    }
    return length;
}

/* Tokens with the same count on both sides pair up in order: candidates for anchors. */
static void candidates(struct spot *spots, uint32_t total, uint32_t *b_of)
{
    for (uint32_t i = 0; i < total;) {
        uint32_t end = i, split;

        while (end < total && spots[end].token == spots[i].token)
            end++;
        for (split = i; split < end && !spots[split].in_b; split++)
            ;
        if (split - i == end - split)
            for (uint32_t j = i; j < split; j++)
                b_of[spots[j].index] = spots[split + (j - i)].index;
        i = end;
    }
}

static bool align(struct span s, unsigned depth);

/* Aligns what is between the anchors that tails/before lead to. */
static bool align_gaps(const struct span *s, const uint32_t *b_of, const uint32_t *before,
                       uint32_t last, unsigned depth)
{
    struct span gap = *s;

    while (last != STET_LCS_NONE) {
        struct span right = gap;

        right.a_start = s->a_start + last + 1;
        right.b_start = s->b_start + b_of[last] + 1;
        s->pair[s->a_start + last] = s->b_start + b_of[last];
        if (!align(right, depth + 1))
            return false;
        gap.a_end = s->a_start + last;
        gap.b_end = s->b_start + b_of[last];
        last = before[last];
    }
    return align(gap, depth + 1);
}

static bool by_anchors(const struct span *s, unsigned depth)
{
    uint32_t n = s->a_end - s->a_start, m = s->b_end - s->b_start, total = n + m, length;
    struct spot *spots = stet_mem_calloc(total, sizeof *spots);
    uint32_t *tables = stet_mem_calloc((size_t)n * 3 + 1, sizeof *tables);
    uint32_t *b_of = tables, *tails, *before;
    bool fine = spots && tables;

    if (fine) {
        tails = b_of + n;
        before = tails + n;
        for (uint32_t i = 0; i < total; i++)
            spots[i] = i < n ? (struct spot){s->a[s->a_start + i], i, false}
                             : (struct spot){s->b[s->b_start + i - n], i - n, true};
        qsort(spots, total, sizeof *spots, by_token);
        memset(b_of, 0xff, n * sizeof *b_of);
        candidates(spots, total, b_of);
        length = increasing(b_of, n, tails, before);
        stet_mem_free(spots);
        spots = NULL;
        if (length)
            fine = align_gaps(s, b_of, before, tails[length - 1], depth);
    }
    stet_mem_free(spots);
    stet_mem_free(tables);
    return fine;
}

static bool align(struct span s, unsigned depth)
{
    int aligned;

    trim(&s);
    if (s.a_start == s.a_end || s.b_start == s.b_end)
        return true;
    aligned = myers(&s);
    if (aligned)
        return aligned > 0;
    return depth > 4 || by_anchors(&s, depth);
}

bool stet_lcs(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
              uint32_t *pair)
{
    struct span whole = {a, b, 0, a_count, 0, b_count, pair};

    memset(pair, 0xff, a_count * sizeof *pair);
    return align(whole, 0);
}
