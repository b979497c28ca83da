/* The choice of buckets, against a search through every set. */
#include "test.h"

#include "base/mem.h"
#include "buckets/buckets.h"
#include "buckets/lengths.h"

#include <math.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % n;
}

static double price(const struct stet_buckets_cost *c, const int64_t *dims, unsigned rank)
{
    double e = 1;

    for (unsigned d = 0; d < rank; d++)
        e *= (double)dims[d];
    return stet_buckets_step_cost(c, e);
}

/* All steps when the buckets of `chosen` (bits) are used; infinite if they do not hold a shape. */
static double steps_of(const struct stet_buckets_curve *c, int64_t places[][STET_BUCKETS_RANK],
                       unsigned place_count, uint64_t chosen)
{
    double sum = 0;

    for (uint32_t i = 0; i < c->shape_count; i++) {
        double least = INFINITY;

        for (unsigned k = 0; k < place_count; k++) {
            bool holds = chosen >> k & 1;

            for (unsigned d = 0; d < c->rank && holds; d++)
                holds = places[k][d] >= c->shapes[i].dims[d];
            if (holds)
                least = fmin(least, price(&c->cost, places[k], c->rank));
        }
        sum += least * c->shapes[i].runs;
    }
    return sum;
}

/* The least steps of every set of exactly k places, by trying all. */
static void search(const struct stet_buckets_curve *c, double *best)
{
    int64_t places[40][STET_BUCKETS_RANK];
    unsigned n = 0;

    for (uint32_t i = 0; i < c->shape_count; i++) {
        for (uint32_t k = 0; k < (c->rank > 1 ? c->shape_count : 1); k++) {
            bool there = false;
            int64_t x = c->shapes[i].dims[0], y = c->rank > 1 ? c->shapes[k].dims[1] : 1;

            for (unsigned q = 0; q < n; q++)
                there |= places[q][0] == x && places[q][1] == y;
            if (there)
                continue;
            places[n][0] = x;
            places[n++][1] = y;
        }
    }
    for (uint32_t k = 0; k <= c->count; k++)
        best[k] = INFINITY;
    for (uint64_t set = 1; set < (uint64_t)1 << n; set++) {
        unsigned k = (unsigned)__builtin_popcountll(set);

        if (k <= c->count)
            best[k] = fmin(best[k], steps_of(c, places, n, set));
    }
}

static struct stet_buckets_wish random_wish(uint32_t most)
{
    struct stet_buckets_wish w = {.most = most};

    w.cost = (struct stet_buckets_cost){.fixed = random_below(100),
                                        .linear = random_below(5),
                                        .square = random_below(3) ? 0 : random_below(4),
                                        .program = random_below(100000),
                                        .seconds = true};
    return w;
}

TEST(one_dimension_is_the_best_of_every_set)
{
    for (int round = 0; round < 4000; round++) {
        uint32_t n = 1 + random_below(11);
        struct stet_buckets_wish wish = random_wish(12);
        struct stet_buckets_shape shapes[16] = {0};
        struct stet_buckets_curve c;
        double best[16], least = INFINITY;

        for (uint32_t i = 0; i < n; i++)
            shapes[i] = (struct stet_buckets_shape){{1 + random_below(300)}, 1 + random_below(50)};
        if (stet_buckets_make(&c, shapes, n, 1, &wish, NULL) != STET_OK) {
            EXPECT(false);
            return;
        }
        search(&c, best);
        for (uint32_t k = 1; k <= c.count; k++) {
            EXPECT(c.sets[k - 1].steps == best[k]);
            EXPECT(c.sets[k - 1].bound == best[k]);
            EXPECT(stet_buckets_price(&c, c.sets[k - 1].dims, k).steps == best[k]);
            EXPECT(fabs(stet_buckets_price(&c, c.sets[k - 1].dims, k).padding -
                        c.sets[k - 1].padding) < 1e-12);
            least = fmin(least, best[k] + k * wish.cost.program);
        }
        EXPECT(c.sets[c.best].total == least);
        stet_buckets_release(&c);
    }
}

TEST(two_dimensions_stay_between_the_bound_and_the_best)
{
    double worst = 0, sum = 0;
    unsigned cases = 0;

    for (int round = 0; round < 300; round++) {
        uint32_t n = 2 + random_below(3);
        struct stet_buckets_wish wish = random_wish(6);
        struct stet_buckets_shape shapes[8] = {0};
        struct stet_buckets_curve c;
        double best[16];

        for (uint32_t i = 0; i < n; i++)
            shapes[i] = (struct stet_buckets_shape){{1 + random_below(6), 1 + random_below(200)},
                                                    1 + random_below(50)};
        if (stet_buckets_make(&c, shapes, n, 2, &wish, NULL) != STET_OK) {
            EXPECT(false);
            return;
        }
        search(&c, best);
        for (uint32_t k = 1; k <= c.count; k++) {
            const struct stet_buckets_set *s = &c.sets[k - 1];

            EXPECT(s->bound <= best[k] * (1 + 1e-9));
            EXPECT(s->steps >= best[k] * (1 - 1e-9));
            worst = fmax(worst, s->steps / fmax(best[k], 1e-9));
            sum += (s->steps - s->bound) / fmax(s->steps, 1e-9);
            cases++;
        }
        stet_buckets_release(&c);
    }
    EXPECT(sum / cases < 0.03);
    EXPECT(worst < 1.5);
}

TEST(larger_sets_of_two_dimensions_keep_their_bound)
{
    enum { SHAPES = 150 };
    struct stet_buckets_wish wish = {.cost = stet_buckets_cost_model(false), .most = 12};
    static struct stet_buckets_shape shapes[SHAPES];
    struct stet_buckets_curve c;

    for (uint32_t i = 0; i < SHAPES; i++)
        shapes[i] = (struct stet_buckets_shape){{1 + random_below(64), 1 + random_below(2000), 1},
                                                1 + random_below(9)};
    EXPECT_INT(STET_OK, stet_buckets_make(&c, shapes, SHAPES, 2, &wish, NULL));
    for (uint32_t k = 1; k < c.count; k++) {
        EXPECT(c.sets[k].bound <= c.sets[k].steps);
        EXPECT(c.sets[k].bound >= c.unpadded);
    }
    stet_buckets_release(&c);
}

TEST(a_fit_finds_the_parts_and_none_is_negative)
{
    struct stet_buckets_time times[6];
    struct stet_buckets_cost c = {.program = 2};

    for (int i = 0; i < 6; i++) {
        double e = 100 * (i + 1);

        times[i] = (struct stet_buckets_time){e, 0.001 + 2e-6 * e + 3e-9 * e * e, 5};
    }
    EXPECT(stet_buckets_cost_fit(&c, times, 6));
    EXPECT(fabs(c.fixed / 0.001 - 1) < 1e-6 && fabs(c.linear / 2e-6 - 1) < 1e-6);
    EXPECT(fabs(c.square / 3e-9 - 1) < 1e-6 && c.error < 1e-6 && c.seconds && c.program == 2);
    EXPECT(stet_buckets_cost_fit(&c, times, 2) && c.square == 0 && c.linear > 0);
    EXPECT(!stet_buckets_cost_fit(&c, times, 1));
    times[0].seconds = 0.9; /* falls with the size: only the fixed part is left */
    EXPECT(stet_buckets_cost_fit(&c, times, 2) && c.linear == 0 && c.fixed > 0);
}

TEST(forms_and_multiples_are_recognised)
{
    struct stet_buckets_shape powers[] = {{{16}, 3}, {{64}, 2}, {{32}, 9}};
    struct stet_buckets_shape steps[] = {{{96}, 3}, {{64}, 2}, {{160}, 9}};
    struct stet_buckets_wish wish = {.cost = stet_buckets_cost_model(false)};
    struct stet_buckets_curve c;
    int64_t step;

    EXPECT_INT(STET_OK, stet_buckets_make(&c, powers, 3, 1, &wish, NULL));
    EXPECT_INT(STET_BUCKETS_POWERS, stet_buckets_form(&c, &step));
    EXPECT(stet_buckets_powers(&c).padding == 0);
    EXPECT_INT(3, stet_buckets_powers(&c).count);
    stet_buckets_release(&c);
    EXPECT_INT(STET_OK, stet_buckets_make(&c, steps, 3, 1, &wish, NULL));
    EXPECT_INT(STET_BUCKETS_MULTIPLES, stet_buckets_form(&c, &step));
    EXPECT_INT(32, step);
    stet_buckets_release(&c);
    wish.multiple = 128;
    EXPECT_INT(STET_OK, stet_buckets_make(&c, steps, 3, 1, &wish, NULL));
    EXPECT_INT(2, c.count); /* 128 and 256 */
    EXPECT_INT(256, c.sets[0].dims[0]);
    stet_buckets_release(&c);
}

TEST(steps_that_cost_the_same_at_every_size_are_padded_least)
{
    static const struct stet_buckets_shape shapes[] = {
        {{24}, 16}, {{31}, 8}, {{40}, 4}, {{64}, 8}, {{100}, 4}};
    static const struct stet_buckets_shape wide[] = {
        {{8, 24}, 16}, {{8, 31}, 8}, {{8, 40}, 4}, {{8, 64}, 8}, {{4, 100}, 4}};
    struct stet_buckets_wish wish = {{.fixed = 2, .program = 3, .seconds = true}, 0, 0, 0};
    struct stet_buckets_wish elements = {stet_buckets_cost_model(false), 0, 0, 0};
    struct stet_buckets_curve c, least;

    for (unsigned rank = 1; rank <= 2; rank++) {
        EXPECT_INT(STET_OK, stet_buckets_make(&c, rank == 1 ? shapes : wide, 5, rank, &wish, NULL));
        EXPECT_INT(STET_OK,
                   stet_buckets_make(&least, rank == 1 ? shapes : wide, 5, rank, &elements, NULL));
        EXPECT_INT(5, c.count);
        EXPECT_INT(0, c.best);
        for (uint32_t i = 0; i < c.count; i++) {
            EXPECT(c.sets[i].padding == least.sets[i].padding);
            EXPECT(c.sets[i].steps == 2 * 40 && c.sets[i].bound == 2 * 40);
            EXPECT(c.sets[i].total == 2 * 40 + 3 * (i + 1.0));
        }
        stet_buckets_release(&c);
        stet_buckets_release(&least);
    }
}

TEST(shapes_beyond_a_set_are_programs_of_their_own)
{
    struct stet_buckets_shape sizes[] = {{{100}, 1}, {{200}, 1}, {{300}, 1}};
    struct stet_buckets_wish wish = {.cost = {.linear = 1, .program = 10, .seconds = true}};
    struct stet_buckets_curve c;
    struct stet_buckets_set s;

    EXPECT_INT(STET_OK, stet_buckets_make(&c, sizes, 3, 1, &wish, NULL));
    s = stet_buckets_price(&c, (int64_t[]){150}, 1);
    EXPECT_INT(2, s.beyond);
    EXPECT(s.steps == 650 && s.total == 680);
    stet_buckets_release(&c);
}

static enum stet_rc read_lengths(const char *text, struct stet_buckets_lengths *l,
                                 struct stet_err *err)
{
    *err = (struct stet_err)STET_ERR_INIT;
    return stet_buckets_lengths_parse(l, stet_view_str(text), "f", err);
}

TEST(running_out_of_memory_is_an_answer)
{
    struct stet_buckets_shape shapes[] = {{{4, 20}, 3}, {{8, 30}, 2}, {{2, 90}, 9}};
    struct stet_buckets_wish wish = {.cost = stet_buckets_cost_model(false)};

    for (unsigned rank = 1; rank <= 2; rank++) {
        enum stet_rc rc = STET_NO_MEMORY;

        for (long n = 0; rc == STET_NO_MEMORY && n < 100; n++) {
            struct stet_buckets_curve c;

            stet_mem_fail_after(n, true);
            rc = stet_buckets_make(&c, shapes, 3, rank, &wish, NULL);
            stet_mem_fail_after(-1, false);
            if (rc == STET_OK)
                stet_buckets_release(&c);
        }
        EXPECT_INT(STET_OK, rc);
    }
}

TEST(lengths_are_read_and_bad_lines_are_named)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"12\nabc\n", "f:2: a line is a size, or a size and its count; this is \"abc\""},
        {"12 3 4\n", "f:1: a line is a size, or a size and its count; this is \"12 3 4\""},
        {"0\n", "f:1: a size is a number of 1 or more; this is \"0\""},
        {"5 0\n", "f:1: a count is a number of 1 or more; this is \"5 0\""},
        {"8x16\n\n7\n", "f:3: 1 dimension here and 2 before"},
        {"99999999999999999999\n",
         "f:1: a size has at most 15 digits; this is \"99999999999999999999\""},
        {"5 1000000000000000\n",
         "f:1: a count has at most 15 digits; this is \"5 1000000000000000\""},
        {"8x-2\n", "f:1: a size is a number of 1 or more; this is \"8x-2\""},
        {"\xff\xfe"
         "5",
         "f:1: a line is a size, or a size and its count; this is \"\xff\xfe"
         "5\""},
        {"1x2x3x4x5\n", "f:1: more than 4 dimensions"},
        {"# nothing\n\n", "f: it has no sizes"},
    };
    struct stet_buckets_lengths l;
    struct stet_err err;

    EXPECT_INT(STET_OK, read_lengths("# comment\n12\n 7 5\r\n\n12\n", &l, &err));
    EXPECT(l.count == 3 && l.rank == 1 && l.shapes[1].runs == 5 && l.shapes[1].dims[0] == 7);
    stet_buckets_lengths_release(&l);
    EXPECT_INT(STET_OK, read_lengths("\xef\xbb\xbf"
                                     "12 # first\n7 5# second",
                                     &l, &err));
    EXPECT(l.count == 2 && l.shapes[0].dims[0] == 12 && l.shapes[1].runs == 5);
    stet_buckets_lengths_release(&l);
    EXPECT_INT(STET_OK, read_lengths("8x512 3\n4x100", &l, &err));
    EXPECT(l.count == 2 && l.rank == 2 && l.shapes[1].dims[1] == 100);
    stet_buckets_lengths_release(&l);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_INT(STET_BAD_INPUT, read_lengths(bad[i].text, &l, &err));
        EXPECT_STR(bad[i].error, err.text);
    }
}
