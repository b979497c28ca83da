/* Fits the cost of a step. With three parts that must not be negative, trying every choice of parts
 * finds the least error. */
#include "buckets/step_cost.h"

#include <math.h>
#include <string.h>

enum { PARTS = 3 };

struct stet_buckets_cost stet_buckets_cost_model(bool square)
{
    return (struct stet_buckets_cost){.linear = !square, .square = square};
}

/* Solves the n × n equations a × x = b by elimination with pivots. */
static bool solve(double a[PARTS][PARTS + 1], unsigned n, double *x)
{
    for (unsigned c = 0; c < n; c++) {
        unsigned pivot = c;

        for (unsigned r = c + 1; r < n; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (fabs(a[pivot][c]) < 1e-12)
            return false;
        for (unsigned k = c; k <= n; k++) {
            double swap = a[c][k];

            a[c][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        for (unsigned r = 0; r < n; r++) {
            double factor = r == c ? 0 : a[r][c] / a[c][c];

            for (unsigned k = c; k <= n; k++)
                a[r][k] -= factor * a[c][k];
        }
    }
    for (unsigned c = 0; c < n; c++)
        x[c] = a[c][n] / a[c][c];
    return true;
}

/* `scale` keeps the numbers near 1. */
static double part_of(unsigned part, double elements, double scale)
{
    double e = elements / scale;

    return part == 0 ? 1 : part == 1 ? e : e * e;
}

/* The parts of `choice` alone; false if there is no solution, or a negative one. */
static bool fit_parts(const struct stet_buckets_time *times, uint32_t count, double scale,
                      unsigned choice, double out[PARTS])
{
    double a[PARTS][PARTS + 1] = {{0}}, x[PARTS];
    unsigned parts[PARTS], n = 0;

    for (unsigned p = 0; p < PARTS; p++)
        if (choice & 1u << p)
            parts[n++] = p;
    for (uint32_t i = 0; i < count; i++) {
        double weight = times[i].weight / (times[i].seconds * times[i].seconds);

        for (unsigned r = 0; r < n; r++) {
            double own = part_of(parts[r], times[i].elements, scale);

            for (unsigned c = 0; c < n; c++)
                a[r][c] += weight * own * part_of(parts[c], times[i].elements, scale) *
                           times[0].seconds * times[0].seconds;
            a[r][n] += weight * own * times[i].seconds * times[0].seconds * times[0].seconds;
        }
    }
    memset(out, 0, PARTS * sizeof *out);
    if (!solve(a, n, x))
        return false;
    for (unsigned r = 0; r < n; r++) {
        if (!(x[r] >= 0))
            return false;
        out[parts[r]] = x[r] / pow(scale, parts[r]);
    }
    return true;
}

static double error_of(const struct stet_buckets_cost *c, const struct stet_buckets_time *times,
                       uint32_t count)
{
    double sum = 0, weight = 0;

    for (uint32_t i = 0; i < count; i++) {
        double off = stet_buckets_step_cost(c, times[i].elements) / times[i].seconds - 1;

        sum += times[i].weight * off * off;
        weight += times[i].weight;
    }
    return sqrt(sum / weight);
}

bool stet_buckets_cost_fit(struct stet_buckets_cost *c, const struct stet_buckets_time *times,
                           uint32_t count)
{
    double scale = 0;
    uint32_t different = 0;
    bool found = false;

    for (uint32_t i = 0; i < count; i++) {
        bool seen = false;

        for (uint32_t k = 0; k < i; k++)
            seen |= times[k].elements == times[i].elements;
        different += !seen;
        scale = fmax(scale, times[i].elements);
        if (!(times[i].seconds > 0) || !(times[i].weight > 0) || !(times[i].elements >= 1))
            return false;
    }
    for (unsigned choice = 1; different >= 2 && choice < 1u << PARTS; choice++) {
        struct stet_buckets_cost tried = {.program = c->program, .seconds = true};
        double parts[PARTS];

        if ((choice & 4 && different < 4) || !fit_parts(times, count, scale, choice, parts))
            continue;
        tried.fixed = parts[0];
        tried.linear = parts[1];
        tried.square = parts[2];
        tried.error = error_of(&tried, times, count);
        if (!found || tried.error < c->error * (1 - 1e-9))
            *c = tried;
        found = true;
    }
    return found;
}
