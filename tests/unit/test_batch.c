/* Copies into canonical arrays, against an index by index copy. tests/batch has the Python side. */
#include "test.h"

#include "batch/batch.h"

#include <stdint.h>
#include <stdlib.h>

enum { RANK = 3 };

static uint64_t state = 88172645463325252u;

static int64_t random_below(int64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state >> 33) % n;
}

/* The element that belongs at place `at` of an array of these dims. */
static int32_t expected(const int64_t *dims, const struct stet_batch_array *in, int64_t at,
                        int32_t fill)
{
    const char *from = in->data;
    int32_t value;

    for (int d = RANK - 1; d >= 0; d--) {
        int64_t i = at % dims[d];

        at /= dims[d];
        if (i >= in->dims[d])
            return fill;
        from += i * in->strides[d];
    }
    memcpy(&value, from, sizeof value);
    return value;
}

TEST(arrays_are_copied_to_the_beginning_and_the_rest_is_filled)
{
    for (int round = 0; round < 20000; round++) {
        int64_t dims[RANK], inner[RANK], strides[RANK], count = 1, bytes = sizeof(int32_t);
        struct stet_batch_array in = {NULL, inner, strides};
        int32_t fill = round % 2 ? 7 : 0, *out, *data;
        bool same = true;

        for (int d = RANK - 1; d >= 0; d--) {
            inner[d] = random_below(5);
            dims[d] = inner[d] + random_below(3);
            strides[d] = bytes;
            bytes *= inner[d] + random_below(2); /* some arrays have gaps */
            count *= dims[d];
        }
        data = malloc((size_t)bytes + sizeof *data);
        out = malloc((size_t)count * sizeof *out + 1);
        for (int64_t i = 0; i <= bytes / (int64_t)sizeof *data; i++)
            data[i] = (int32_t)random_below(1 << 30);
        in.data = data;
        EXPECT_INT(STET_BATCH_FINE, stet_batch_pad(out, dims, RANK, STET_BATCH_I32, &in,
                                                   STET_BATCH_I32, fill ? &fill : NULL));
        for (int64_t i = 0; i < count; i++)
            same &= out[i] == expected(dims, &in, i, fill);
        EXPECT(same);
        free(data);
        free(out);
    }
}

static enum stet_batch_answer narrow(int64_t value, enum stet_batch_type type, void *out)
{
    int64_t one = 1, stride = sizeof value;
    struct stet_batch_array in = {&value, &one, &stride};

    return stet_batch_pad(out, &one, 1, type, &in, STET_BATCH_I64, NULL);
}

TEST(integers_that_do_not_fit_are_refused)
{
    int64_t out = 0;
    float number;

    EXPECT_INT(STET_BATCH_FINE, narrow(INT32_MIN, STET_BATCH_I32, &out));
    EXPECT_INT(STET_BATCH_RANGE, narrow((int64_t)INT32_MAX + 1, STET_BATCH_I32, &out));
    EXPECT_INT(STET_BATCH_RANGE, narrow(-1, STET_BATCH_U8, &out));
    EXPECT_INT(STET_BATCH_FINE, narrow(255, STET_BATCH_U8, &out));
    EXPECT_INT(STET_BATCH_RANGE, narrow(256, STET_BATCH_U8, &out));
    EXPECT_INT(STET_BATCH_TYPE, narrow(1, STET_BATCH_BOOL, &out));
    EXPECT_INT(STET_BATCH_TYPE, narrow(1, STET_BATCH_RAW8, &out));
    EXPECT_INT(STET_BATCH_FINE, narrow(3, STET_BATCH_F32, &number));
    EXPECT(number == 3);
}

TEST(what_is_larger_than_its_place_is_refused)
{
    int64_t dims[] = {2, 2}, inner[] = {2, 3}, strides[] = {12, 4}, length = 5;
    int32_t data[6] = {0}, out[4];
    struct stet_batch_array in = {data, inner, strides};
    const void *row = data;

    EXPECT_INT(STET_BATCH_SHAPE,
               stet_batch_pad(out, dims, 2, STET_BATCH_I32, &in, STET_BATCH_I32, NULL));
    EXPECT_INT(STET_BATCH_SHAPE,
               stet_batch_pad(out, dims, 9, STET_BATCH_I32, &in, STET_BATCH_I32, NULL));
    EXPECT_INT(STET_BATCH_SHAPE, stet_batch_rows(out, 1, 4, 1, STET_BATCH_I32, &row, &length, 1,
                                                 STET_BATCH_I32, NULL));
    EXPECT_INT(STET_BATCH_SHAPE, stet_batch_mask(out, 1, 4, STET_BATCH_I32, &length, 1));
}

TEST(rows_and_masks_end_where_the_row_does)
{
    static const int32_t first[] = {1, 2, 3}, second[] = {4};
    const void *rows[] = {first, second};
    int64_t lengths[] = {3, 1};
    int32_t out[12], mask[12], fill = 9;
    static const int32_t wanted[] = {1, 2, 3, 9, 4, 9, 9, 9, 9, 9, 9, 9};
    static const int32_t real[] = {1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0};

    EXPECT_INT(STET_BATCH_FINE, stet_batch_rows(out, 3, 4, 1, STET_BATCH_I32, rows, lengths, 2,
                                                STET_BATCH_I32, &fill));
    EXPECT(!memcmp(out, wanted, sizeof out));
    EXPECT_INT(STET_BATCH_FINE, stet_batch_mask(mask, 3, 4, STET_BATCH_I32, lengths, 2));
    EXPECT(!memcmp(mask, real, sizeof mask));
}
