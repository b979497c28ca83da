/* Draws numbers and writes the constants of random programs. */
#ifndef TESTS_LIFT_RANDOM_VALUES_H
#define TESTS_LIFT_RANDOM_VALUES_H

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 6, CONSTANTS = 64 };

/* The structure comes from one stream of random numbers and the values from another, so two
 * programs of one structure differ in nothing but values. */
struct writer {
    struct stet_buf *out;
    uint64_t structure, values;
    int next; /* name of a value */
    struct {
        char text[96];
        int name;
    } constants[CONSTANTS]; /* of this block: equal ones are merged, as JAX merges them */
    int constant_count;
    bool nested; /* what a block defines is not seen outside: nothing is merged */
    bool wild;
};

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static int choose(struct writer *w, int n)
{
    return (int)(draw(&w->structure) % (unsigned)n);
}

/* Ordinary numbers, and in a quarter of the programs also the ends of the type: both zeros,
 * infinities, NaNs of two payloads (one signals), subnormals. */
static const char *number(struct writer *w)
{
    static const char *const numbers[] = {
        "0.0",        "1.0",        "1.0e-3",     "9.99e-4",    "0.5",    "-2.25",   "3.0e-5",
        "7.5",        "-1.0",       "1.0e4",      "0.3333",     "2.0",    "-0.0",    "1.0e-40",
        "0x7F800000", "0xFF800000", "0x7FC00123", "0x7F800001", "3.0e38", "-1.0e-45"};
    size_t n = sizeof numbers / sizeof *numbers;

    return numbers[draw(&w->values) % (w->wild ? n : 12)];
}

/* With overflow and division by zero. */
static const char *whole(struct writer *w)
{
    static const char *const numbers[] = {"0",  "1",   "2",          "3",           "-1",    "7",
                                          "-5", "100", "2147483647", "-2147483648", "65536", "31"};

    return numbers[draw(&w->values) % (w->wild ? sizeof numbers / sizeof *numbers : 8)];
}

/* The name of a constant; a new one if this block has none that is equal. */
static int constant(struct writer *w, const char *text)
{
    int name = w->next++;

    for (int i = 0; i < w->constant_count && !w->nested; i++) {
        if (!strcmp(w->constants[i].text, text))
            return w->constants[i].name;
    }
    stet_buf_printf(w->out, "%%v%d = stablehlo.constant %s\n", name, text);
    if (!w->nested && w->constant_count < CONSTANTS && strlen(text) < sizeof w->constants[0].text) {
        snprintf(w->constants[w->constant_count].text, sizeof w->constants[0].text, "%s", text);
        w->constants[w->constant_count++].name = name;
    }
    return name;
}

static int scalar(struct writer *w)
{
    char text[96];

    snprintf(text, sizeof text, "dense<%s> : tensor<f32>", number(w));
    return constant(w, text);
}

#define FULL "tensor<4x6xf32>"

static int spread(struct writer *w)
{
    int from = scalar(w);

    stet_buf_printf(
        w->out, "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [] : (tensor<f32>) -> " FULL "\n",
        w->next, from);
    return w->next++;
}

static int splat(struct writer *w)
{
    char text[96];

    snprintf(text, sizeof text, "dense<%s> : " FULL, number(w));
    return constant(w, text);
}

static int row(struct writer *w)
{
    struct stet_buf text = STET_BUF_INIT;
    int from;

    stet_buf_str(&text, "dense<[");
    for (int i = 0; i < COLUMNS; i++)
        stet_buf_printf(&text, "%s%s", i ? ", " : "", number(w));
    stet_buf_str(&text, "]> : tensor<6xf32>");
    from = constant(w, text.ptr);
    stet_buf_release(&text);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [1] : (tensor<6xf32>) -> " FULL "\n",
        w->next, from);
    return w->next++;
}

/* A list of numbers, as `dense<[a, b, ...]>`. */
static void list(struct writer *w, struct stet_buf *out, int n,
                 const char *(*draw_one)(struct writer *))
{
    stet_buf_str(out, "dense<[");
    for (int i = 0; i < n; i++)
        stet_buf_printf(out, "%s%s", i ? ", " : "", draw_one(w));
    stet_buf_str(out, "]>");
}

#endif
