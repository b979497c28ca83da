/* Facts about the alignment of sequences. */
#include "test.h"

#include "explain/lcs.h"

#include <stdlib.h>

static uint32_t random_state = 1;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* Length of the alignment, or -1 when a pair is not equal or pairs cross. */
static int checked(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    uint32_t *pair = malloc((n + 1) * sizeof *pair);
    int64_t last = -1;
    int length = 0;

    if (!stet_lcs(a, n, b, m, pair))
        length = -1;
    for (uint32_t i = 0; i < n && length >= 0; i++) {
        if (pair[i] == STET_LCS_NONE)
            continue;
        if (pair[i] >= m || a[i] != b[pair[i]] || (int64_t)pair[i] <= last)
            length = -1;
        else
            length++;
        last = pair[i];
    }
    free(pair);
    return length;
}

static int by_table(const uint64_t *a, int n, const uint64_t *b, int m)
{
    static int t[65][65];

    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j)
                t[i][j] = 0;
            else if (a[i - 1] == b[j - 1])
                t[i][j] = t[i - 1][j - 1] + 1;
            else
                t[i][j] = t[i - 1][j] > t[i][j - 1] ? t[i - 1][j] : t[i][j - 1];
        }
    return t[n][m];
}

TEST(short_alignments_are_longest)
{
    for (int round = 0; round < 5000; round++) {
        uint64_t a[64], b[64];
        uint32_t n = next_random(64), m = next_random(64), alphabet = 1 + next_random(12);

        for (uint32_t i = 0; i < n; i++)
            a[i] = next_random(alphabet);
        for (uint32_t i = 0; i < m; i++)
            b[i] = next_random(alphabet);
        EXPECT_INT(by_table(a, (int)n, b, (int)m), checked(a, n, b, m));
    }
}

TEST(one_more_repetition_leaves_exactly_that_one_unpaired)
{
    enum { BLOCK = 37, TIMES = 20 };
    uint64_t a[BLOCK * TIMES], b[BLOCK * (TIMES + 1)];

    for (int i = 0; i < BLOCK * (TIMES + 1); i++)
        b[i] = (uint64_t)(i % BLOCK);
    memcpy(a, b, sizeof a);
    EXPECT_INT(BLOCK * TIMES, checked(a, BLOCK * TIMES, b, BLOCK * (TIMES + 1)));
}

TEST(long_and_very_different_sequences_still_align_in_order)
{
    enum { LENGTH = 200000 };
    uint64_t *a = malloc(LENGTH * sizeof *a), *b = malloc(LENGTH * sizeof *b);
    int length;

    for (int i = 0; i < LENGTH; i++) {
        a[i] = (uint64_t)i;
        b[i] = i % 3 ? (uint64_t)i : (uint64_t)i + LENGTH;
    }
    length = checked(a, LENGTH, b, LENGTH);
    EXPECT(length > LENGTH / 2);
    for (int i = 0; i < LENGTH; i++)
        b[i] = next_random(1000000);
    EXPECT(checked(a, LENGTH, b, LENGTH) >= 0);
    free(a);
    free(b);
}
