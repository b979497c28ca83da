/* Operations of random programs: each takes the name of an array of FULL, and returns that of
 * another one. */
#ifndef TESTS_LIFT_RANDOM_OPS_H
#define TESTS_LIFT_RANDOM_OPS_H

#include "lift_random_values.h"

static int operand(struct writer *w, int x)
{
    switch (choose(w, 4)) {
    case 0:
        return spread(w);
    case 1:
        return splat(w);
    case 2:
        return row(w);
    default:
        return x;
    }
}

static int binary(struct writer *w, int x)
{
    static const char *const names[] = {"add",     "multiply", "subtract",
                                        "maximum", "minimum",  "divide"};
    const char *name = names[choose(w, 6)];
    int y = operand(w, x);
    bool swapped = choose(w, 2);

    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d, %%v%d : " FULL "\n", w->next, name,
                    swapped ? y : x, swapped ? x : y);
    return w->next++;
}

static int unary(struct writer *w, int x)
{
    static const char *const names[] = {"tanh", "negate", "abs", "sine"};

    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d : " FULL "\n", w->next, names[choose(w, 4)],
                    x);
    return w->next++;
}

static int cut(struct writer *w, int x)
{
    int from = (int)(draw(&w->values) % 3), zero = scalar(w), part = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.slice %%v%d [%d:%d, 0:6] : (" FULL ") -> tensor<2x6xf32>\n",
                    part, x, from, from + 2);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.pad %%v%d, %%v%d, low = [%d, 0], high = [%d, 0], interior = "
                    "[0, 0] : (tensor<2x6xf32>, tensor<f32>) -> " FULL "\n",
                    w->next, part, zero, from, 2 - from);
    return w->next++;
}

static int pick_by_value(struct writer *w, int x)
{
    int limit = operand(w, x), other = operand(w, x), mask = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.compare GT, %%v%d, %%v%d, FLOAT : (" FULL ", " FULL
                    ") -> tensor<4x6xi1>\n",
                    mask, x, limit);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : tensor<4x6xi1>, " FULL "\n",
                    w->next, mask, x, other);
    return w->next++;
}

static int sum(struct writer *w, int x)
{
    int init = constant(w, "dense<0.0> : tensor<f32>"), part = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.reduce(%%v%d init: %%v%d) applies stablehlo.add across "
                    "dimensions = [1] : (" FULL ", tensor<f32>) -> tensor<4xf32>\n",
                    part, x, init);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [0] : (tensor<4xf32>) -> " FULL "\n",
        w->next, part);
    return w->next++;
}

static int call(struct writer *w, int x)
{
    stet_buf_printf(w->out, "%%v%d = func.call @f%d(%%v%d) : (" FULL ") -> " FULL "\n", w->next,
                    choose(w, 2), x);
    return w->next++;
}

/* ---- more than elementwise arithmetic ---- */

#define WHOLES "tensor<4x6xi32>"

/* Integers from the signs of x, arithmetic with whole numbers, and back. */
static int integers(struct writer *w, int x)
{
    static const char *const names[] = {
        "add", "multiply", "subtract", "divide",     "remainder",          "and",
        "or",  "xor",      "maximum",  "shift_left", "shift_right_logical"};
    int sign = w->next++, ints = w->next++, y, z;
    char text[96];

    stet_buf_printf(w->out, "%%v%d = stablehlo.sign %%v%d : " FULL "\n", sign, x);
    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.compare EQ, %%v%d, %%v%d, FLOAT : (" FULL ", " FULL
        ") -> tensor<4x6xi1>\n%%v%d = stablehlo.convert %%v%d : (tensor<4x6xi1>) -> " WHOLES "\n",
        w->next, sign, x, ints, w->next);
    w->next++;
    snprintf(text, sizeof text, "dense<%s> : " WHOLES, whole(w));
    y = constant(w, text);
    snprintf(text, sizeof text, "dense<%s> : " WHOLES, whole(w));
    z = constant(w, text);
    stet_buf_printf(w->out, "%%v%d = stablehlo.add %%v%d, %%v%d : " WHOLES "\n", w->next, ints, y);
    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d, %%v%d : " WHOLES "\n", w->next + 1,
                    names[choose(w, 11)], w->next, z);
    stet_buf_printf(w->out, "%%v%d = stablehlo.convert %%v%d : (" WHOLES ") -> " FULL "\n",
                    w->next + 2, w->next + 1);
    w->next += 3;
    return w->next - 1;
}

/* A constant of `n` numbers in the shape of `type`. */
static int shaped(struct writer *w, int n, const char *type)
{
    struct stet_buf text = STET_BUF_INIT;
    int flat;

    list(w, &text, n, number);
    stet_buf_printf(&text, " : tensor<%dxf32>", n);
    flat = constant(w, text.ptr);
    stet_buf_release(&text);
    stet_buf_printf(w->out, "%%v%d = stablehlo.reshape %%v%d : (tensor<%dxf32>) -> %s\n", w->next,
                    flat, n, type);
    return w->next++;
}

/* x times a matrix of constants. */
static int product(struct writer *w, int x)
{
    int matrix = shaped(w, COLUMNS * COLUMNS, "tensor<6x6xf32>");

    stet_buf_printf(
        w->out,
        "%%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [1] x [0] : (" FULL
        ", tensor<6x6xf32>) -> " FULL "\n",
        w->next, x, matrix);
    return w->next++;
}

/* A window of x whose start is a constant, also one that is out of range, put back at another. */
static int window(struct writer *w, int x)
{
    char text[64];
    int from, to, zero = constant(w, "dense<0> : tensor<i32>"), part;

    snprintf(text, sizeof text, "dense<%d> : tensor<i32>", (int)(draw(&w->values) % 6));
    from = constant(w, text);
    snprintf(text, sizeof text, "dense<%d> : tensor<i32>", (int)(draw(&w->values) % 6) - 1);
    to = constant(w, text);
    part = w->next++;
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.dynamic_slice %%v%d, %%v%d, %%v%d, sizes = [2, 6] : (" FULL
                    ", tensor<i32>, tensor<i32>) -> tensor<2x6xf32>\n",
                    part, x, from, zero);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.dynamic_update_slice %%v%d, %%v%d, %%v%d, %%v%d : (" FULL
                    ", tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> " FULL "\n",
                    w->next, x, part, to, zero);
    return w->next++;
}

/* A mask of constants chooses between x and a number. */
static int masked(struct writer *w, int x)
{
    struct stet_buf text = STET_BUF_INIT;
    int mask, row_mask, other = operand(w, x);

    stet_buf_str(&text, "dense<[");
    for (int i = 0; i < COLUMNS; i++)
        stet_buf_printf(&text, "%s%s", i ? ", " : "", draw(&w->values) % 2 ? "true" : "false");
    stet_buf_str(&text, "]> : tensor<6xi1>");
    mask = constant(w, text.ptr);
    stet_buf_release(&text);
    row_mask = w->next++;
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [1] : (tensor<6xi1>) -> "
                    "tensor<4x6xi1>\n",
                    row_mask, mask);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : tensor<4x6xi1>, " FULL "\n",
                    w->next, row_mask, x, other);
    return w->next++;
}

/* Through a narrower or a wider type, with a constant of that type. */
static int through(struct writer *w, int x)
{
    static const char *const types[] = {"bf16", "f16", "f64"};
    const char *type = types[choose(w, 3)];
    char text[96];
    int narrow = w->next++, c;

    stet_buf_printf(w->out, "%%v%d = stablehlo.convert %%v%d : (" FULL ") -> tensor<4x6x%s>\n",
                    narrow, x, type);
    snprintf(text, sizeof text, "dense<%d.%d> : tensor<4x6x%s>", (int)(draw(&w->values) % 5),
             (int)(draw(&w->values) % 2) * 5, type);
    c = constant(w, text);
    stet_buf_printf(w->out, "%%v%d = stablehlo.%s %%v%d, %%v%d : tensor<4x6x%s>\n", w->next,
                    choose(w, 2) ? "multiply" : "add", narrow, c, type);
    stet_buf_printf(w->out, "%%v%d = stablehlo.convert %%v%d : (tensor<4x6x%s>) -> " FULL "\n",
                    w->next + 1, w->next, type);
    w->next += 2;
    return w->next - 1;
}

/* A row of constants before part of x, in another order. */
static int joined(struct writer *w, int x)
{
    int top = shaped(w, COLUMNS, "tensor<1x6xf32>"), part = w->next++, all = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.slice %%v%d [1:4, 0:6] : (" FULL ") -> tensor<3x6xf32>\n"
                    "%%v%d = stablehlo.concatenate %%v%d, %%v%d, dim = 0 : (tensor<1x6xf32>, "
                    "tensor<3x6xf32>) -> " FULL "\n",
                    part, x, all, top, part);
    stet_buf_printf(w->out, "%%v%d = stablehlo.reverse %%v%d, dims = [%d] : " FULL "\n", w->next,
                    all, choose(w, 2));
    return w->next++;
}

/* A branch that a constant or a value of x chooses. */
static int branch(struct writer *w, int x)
{
    int condition, at, a, b;
    bool nested = w->nested;

    if (choose(w, 2)) {
        condition = constant(w, draw(&w->values) % 2 ? "dense<true> : tensor<i1>"
                                                     : "dense<false> : tensor<i1>");
    } else {
        int c = scalar(w), first = w->next++, one = w->next++;

        condition = w->next++;
        stet_buf_printf(w->out,
                        "%%v%d = stablehlo.slice %%v%d [0:1, 0:1] : (" FULL ") -> tensor<1x1xf32>\n"
                        "%%v%d = stablehlo.reshape %%v%d : (tensor<1x1xf32>) -> tensor<f32>\n"
                        "%%v%d = stablehlo.compare GT, %%v%d, %%v%d, FLOAT : (tensor<f32>, "
                        "tensor<f32>) -> tensor<i1>\n",
                        first, x, one, first, condition, one, c);
    }
    at = w->next++;
    stet_buf_printf(w->out, "%%v%d = \"stablehlo.if\"(%%v%d) ({\n", at, condition);
    w->nested = true;
    a = binary(w, x);
    stet_buf_printf(w->out, "stablehlo.return %%v%d : " FULL "\n}, {\n", a);
    b = choose(w, 3) ? binary(w, x) : splat(w);
    stet_buf_printf(w->out, "stablehlo.return %%v%d : " FULL "\n}) : (tensor<i1>) -> " FULL "\n",
                    b);
    w->nested = nested;
    return at;
}

static int power(struct writer *w, int x)
{
    int y = operand(w, x), positive = w->next++;

    stet_buf_printf(w->out, "%%v%d = stablehlo.abs %%v%d : " FULL "\n", positive, x);
    stet_buf_printf(w->out, "%%v%d = stablehlo.power %%v%d, %%v%d : " FULL "\n", w->next, positive,
                    y);
    return w->next++;
}

/* x as an image with a kernel of constants, or the other way round. */
static int convolved(struct writer *w, int x)
{
    bool kernel = choose(w, 2);
    int given = shaped(w, kernel ? 9 : ROWS * COLUMNS,
                       kernel ? "tensor<1x1x3x3xf32>" : "tensor<1x1x4x6xf32>");
    int part = w->next++, own = w->next++, all = w->next++;

    stet_buf_printf(w->out,
                    kernel ? "%%v%d = stablehlo.abs %%v%d : " FULL "\n"
                             "%%v%d = stablehlo.reshape %%v%d : (" FULL ") -> tensor<1x1x4x6xf32>\n"
                           : "%%v%d = stablehlo.slice %%v%d [1:4, 2:5] : (" FULL
                             ") -> tensor<3x3xf32>\n%%v%d = stablehlo.reshape %%v%d : "
                             "(tensor<3x3xf32>) -> tensor<1x1x3x3xf32>\n",
                    part, x, own, part);
    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.convolution(%%v%d, %%v%d) dim_numbers = [b, f, 0, 1]x[o, i, "
                    "0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 "
                    ": i64, feature_group_count = 1 : i64} : (tensor<1x1x4x6xf32>, "
                    "tensor<1x1x3x3xf32>) -> tensor<1x1x4x6xf32>\n"
                    "%%v%d = stablehlo.reshape %%v%d : (tensor<1x1x4x6xf32>) -> " FULL "\n",
                    all, kernel ? own : given, kernel ? given : own, w->next, all);
    return w->next++;
}

/* A constant and x pass a barrier together. */
static int barred(struct writer *w, int x)
{
    int c = choose(w, 2) ? splat(w) : row(w), both = w->next++;

    stet_buf_printf(w->out,
                    "%%v%d:2 = stablehlo.optimization_barrier %%v%d, %%v%d : " FULL ", " FULL "\n"
                    "%%v%d = stablehlo.%s %%v%d#%d, %%v%d#%d : " FULL "\n",
                    both, x, c, w->next, choose(w, 2) ? "multiply" : "subtract", both, 0, both, 1);
    return w->next++;
}

/* `n` numbers of rows, also some that do not exist. */
static int some_rows(struct writer *w, int n)
{
    struct stet_buf text = STET_BUF_INIT;
    int name;

    stet_buf_str(&text, "dense<[");
    for (int i = 0; i < n; i++)
        stet_buf_printf(&text, "%s%d", i ? ", " : "", (int)(draw(&w->values) % 6) - w->wild);
    stet_buf_printf(&text, "]> : tensor<%dxi32>", n);
    name = constant(w, text.ptr);
    stet_buf_release(&text);
    return name;
}

static int gathered(struct writer *w, int x)
{
    int rows = some_rows(w, ROWS);

    stet_buf_printf(
        w->out,
        "%%v%d = \"stablehlo.gather\"(%%v%d, %%v%d) <{dimension_numbers = #stablehlo.gather<"
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = "
        "1>, slice_sizes = array<i64: 1, 6>}> : (" FULL ", tensor<4xi32>) -> " FULL "\n",
        w->next, x, rows);
    return w->next++;
}

/* Rows of constants are added to some rows of x, two of which may be the same. */
static int scattered(struct writer *w, int x)
{
    int rows = some_rows(w, 3), more = shaped(w, 3 * COLUMNS, "tensor<3x6xf32>"), at = w->next++;

    stet_buf_printf(
        w->out,
        "%%v%d = \"stablehlo.scatter\"(%%v%d, %%v%d, %%v%d) <{scatter_dimension_numbers = "
        "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
        "^bb0(%%p%d: tensor<f32>, %%q%d: tensor<f32>):\n"
        "%%r%d = stablehlo.%s %%p%d, %%q%d : tensor<f32>\n"
        "stablehlo.return %%r%d : tensor<f32>\n}) : (" FULL
        ", tensor<3xi32>, tensor<3x6xf32>) -> " FULL "\n",
        at, x, rows, more, at, at, at, choose(w, 2) ? "add" : "maximum", at, at, at);
    return at;
}

/* x in the order of keys that are constants. */
static int ordered(struct writer *w, int x)
{
    int keys = choose(w, 2) ? row(w) : shaped(w, ROWS * COLUMNS, FULL), at = w->next++;

    stet_buf_printf(
        w->out,
        "%%v%d:2 = \"stablehlo.sort\"(%%v%d, %%v%d) <{dimension = %d : i64, is_stable = true}> ({\n"
        "^bb0(%%p%d: tensor<f32>, %%q%d: tensor<f32>, %%r%d: tensor<f32>, %%s%d: tensor<f32>):\n"
        "%%t%d = stablehlo.compare LT, %%p%d, %%q%d, TOTALORDER : (tensor<f32>, tensor<f32>) -> "
        "tensor<i1>\nstablehlo.return %%t%d : tensor<i1>\n}) : (" FULL ", " FULL ") -> (" FULL
        ", " FULL ")\n%%v%d = stablehlo.abs %%v%d#1 : " FULL "\n",
        at, keys, x, choose(w, 2), at, at, at, at, at, at, at, at, w->next, at);
    return w->next++;
}

/* Sums of constants, and constants in another order of dimensions. */
static int turned(struct writer *w, int x)
{
    int matrix = shaped(w, ROWS * COLUMNS, "tensor<6x4xf32>"), other = w->next++;

    if (choose(w, 2)) {
        stet_buf_printf(
            w->out,
            "%%v%d = stablehlo.transpose %%v%d, dims = [1, 0] : (tensor<6x4xf32>) -> " FULL "\n",
            other, matrix);
    } else {
        int zero = constant(w, "dense<0.0> : tensor<f32>"), part = w->next++;

        stet_buf_printf(
            w->out,
            "%%v%d = stablehlo.reduce(%%v%d init: %%v%d) applies stablehlo.add across "
            "dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>\n"
            "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [1] : (tensor<6xf32>) -> " FULL "\n",
            part, matrix, zero, other, part);
    }
    stet_buf_printf(w->out, "%%v%d = stablehlo.add %%v%d, %%v%d : " FULL "\n", w->next, x, other);
    return w->next++;
}

static int clamped(struct writer *w, int x)
{
    int low = scalar(w), high = scalar(w);

    stet_buf_printf(w->out,
                    "%%v%d = stablehlo.clamp %%v%d, %%v%d, %%v%d : (tensor<f32>, " FULL
                    ", tensor<f32>) -> " FULL "\n",
                    w->next, low, x, high);
    return w->next++;
}

/* One of three branches, also by a number that none has. */
static int one_of_three(struct writer *w, int x)
{
    char text[64];
    int number_of, at;
    bool nested = w->nested;

    snprintf(text, sizeof text, "dense<%d> : tensor<i32>", (int)(draw(&w->values) % 5) - 1);
    number_of = constant(w, text);
    at = w->next++;
    stet_buf_printf(w->out, "%%v%d = \"stablehlo.case\"(%%v%d) (", at, number_of);
    w->nested = true;
    for (int i = 0; i < 3; i++) {
        int y;

        stet_buf_str(w->out, i ? ", {\n" : "{\n");
        y = binary(w, x);
        stet_buf_printf(w->out, "stablehlo.return %%v%d : " FULL "\n}", y);
    }
    stet_buf_str(w->out, ") : (tensor<i32>) -> " FULL "\n");
    w->nested = nested;
    return at;
}

#endif
