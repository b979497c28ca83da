/* The parts of short forms that mlir_forms.def cannot express: slices, convolution windows, … */
#include "decode/mlir/mlir_form.h"

static const struct stet_type *i64(struct mlir *p)
{
    return stet_type_integer(p->arena, 64, STET_SIGNLESS);
}

/* [0:4, 1:9:2]: starts, limits and strides, each an attribute. */
static void slice(struct mlir *p, struct mlir_op *o)
{
    static const char *const names[] = {"start_indices", "limit_indices", "strides"};
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;
    const int64_t *triples;

    (void)o;
    stet_mlir_expect(p, "[");
    while (stet_mlir_more(p, "]", &first)) {
        int64_t t[3] = {stet_mlir_int(p), 0, 1};

        stet_mlir_expect(p, ":");
        t[1] = stet_mlir_int(p);
        if (stet_mlir_accept(p, ":"))
            t[2] = stet_mlir_int(p);
        MLIR_PUSH(p, &p->scratch, t);
    }
    triples = stet_mlir_pop(p, &p->scratch, mark, 3 * sizeof(*triples), &n);
    for (unsigned part = 0; part < 3 && mlir_ok(p); part++) {
        int64_t *list = STET_NEW_ARRAY(p->arena, int64_t, n);

        if (!list) {
            stet_mlir_no_memory(p);
            return;
        }
        for (uint32_t i = 0; i < n; i++)
            list[i] = triples[3 * i + part];
        stet_mlir_add_attr(p, names[part], stet_mlir_make_i64_array(p, list, n));
    }
}

static void conv(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    stet_mlir_add_attr(p, "dimension_numbers", stet_mlir_conv_dimensions(p));
}

/* [[0, 1], [2, 3]] as dense<…> : tensor<2x2xi64> */
static const struct stet_attr *padding(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;
    const int64_t *list;
    int64_t dims[2] = {0, 2};

    stet_mlir_expect(p, "[");
    while (stet_mlir_more(p, "]", &first)) {
        int64_t pair[2];

        stet_mlir_expect(p, "[");
        pair[0] = stet_mlir_int(p);
        stet_mlir_expect(p, ",");
        pair[1] = stet_mlir_int(p);
        stet_mlir_expect(p, "]");
        MLIR_PUSH(p, &p->scratch, pair);
    }
    list = stet_mlir_pop(p, &p->scratch, mark, sizeof(*list), &n);
    dims[0] = n / 2;
    const struct stet_type *t = stet_type_tensor(p->arena, i64(p), dims, 2);

    if (!t)
        stet_mlir_no_memory(p);
    return stet_mlir_make_dense_i64(p, t, list, n);
}

static void window(struct mlir *p, struct mlir_op *o)
{
    static const struct {
        const char *word, *name;
    } lists[] = {{"stride", "window_strides"},
                 {"lhs_dilate", "lhs_dilation"},
                 {"rhs_dilate", "rhs_dilation"},
                 {"reverse", "window_reversal"}};

    (void)o;
    while (mlir_ok(p) && stet_mlir_peek(p) != '}') {
        const char *where = p->at;
        struct stet_view word = stet_mlir_word(p, "a part of the window");
        unsigned i = 0;

        stet_mlir_expect(p, "=");
        if (stet_view_is(word, "pad")) {
            stet_mlir_add_attr(p, "padding", padding(p));
        } else {
            while (i < 4 && !stet_view_is(word, lists[i].word))
                i++;
            if (i == 4) {
                stet_mlir_fail(p, where, "a window has no '%.*s'", STET_FMT(word));
                return;
            }
            stet_mlir_add_attr(
                p, lists[i].name,
                stet_mlir_bare_array(p, i == 3 ? stet_type_integer(p->arena, 1, STET_SIGNLESS)
                                               : i64(p)));
        }
        if (!stet_mlir_accept(p, ","))
            break;
    }
}

static void dot(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    stet_mlir_add_attr(p, "dot_dimension_numbers", stet_mlir_dot_dimensions(p));
}

static const struct stet_attr *precisions(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    stet_mlir_expect(p, "[");
    while (stet_mlir_more(p, "]", &first)) {
        const struct stet_attr *a =
            stet_mlir_known_attr(p, STET_VIEW("stablehlo"), STET_VIEW("precision"), false);

        stet_mlir_push_pointer(p, &p->scratch, a);
    }
    const struct stet_attr *const *items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*items), &n);

    return stet_mlir_make_array(p, items, n);
}

/* , precision = [DEFAULT, HIGH], algorithm = <…>, each may be missing. */
static void precision(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    while (stet_mlir_accept(p, ",")) {
        if (stet_mlir_accept_word(p, "precision")) {
            stet_mlir_expect(p, "=");
            stet_mlir_add_attr(p, "precision_config", precisions(p));
        } else {
            stet_mlir_expect_word(p, "algorithm");
            stet_mlir_expect(p, "=");
            stet_mlir_add_attr(
                p, "algorithm",
                stet_mlir_known_attr(p, STET_VIEW("stablehlo"), STET_VIEW("dot_algorithm"), true));
        }
    }
}

/* e5m10 */
static void format(struct mlir *p, struct mlir_op *o)
{
    const struct stet_type *i32 = stet_type_integer(p->arena, 32, STET_SIGNLESS);
    int64_t bits[2];

    (void)o;
    stet_mlir_expect(p, "e");
    bits[0] = stet_mlir_int(p);
    stet_mlir_expect(p, "m");
    bits[1] = stet_mlir_int(p);
    stet_mlir_add_attr(p, "exponent_bits", stet_mlir_make_int(p, i32, bits[0]));
    stet_mlir_add_attr(p, "mantissa_bits", stet_mlir_make_int(p, i32, bits[1]));
}

/* (%a: type, …) { … }: one block, arguments outside. */
static void block(struct mlir *p, struct mlir_op *o)
{
    size_t mark = mlir_mark(&p->scratch);
    struct mlir_arg arg;
    bool first = true;
    uint32_t n;

    stet_mlir_expect(p, "(");
    while (stet_mlir_more(p, ")", &first) && stet_mlir_arg(p, &arg))
        MLIR_PUSH(p, &p->scratch, arg);
    const struct mlir_arg *args = stet_mlir_pop(p, &p->scratch, mark, sizeof(*args), &n);

    stet_mlir_region(p, o, stet_mlir_regions(p, o, 1), args, n, stet_mlir_isolated(o));
    if (mlir_ok(p) && o->regions[0].block_count == 0)
        stet_mlir_fail(p, p->at, "expected a block");
}

/* The reduction of a Shardy operation: "max" or "min" before the axes; nothing means a sum. */
static void reduction(struct mlir *p, struct mlir_op *o)
{
    static const char *const names[] = {"sum", "max", "min"};
    const struct stet_type *i32 = stet_type_integer(p->arena, 32, STET_SIGNLESS);
    int64_t which = 0;

    (void)o;
    for (int64_t i = 0; i < 3; i++)
        if (stet_mlir_accept_word(p, names[i]))
            which = i;
    if (which)
        stet_mlir_add_attr(p, "reduction_op", stet_mlir_make_int(p, i32, which));
}

/* %a, %b : types to types */
static void cast(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    stet_mlir_read_form(p, o, "%* :operands to");
    do {
        stet_mlir_result_type(p, stet_mlir_type(p));
    } while (stet_mlir_accept(p, ","));
    stet_mlir_read_form(p, o, "{}");
}

/* Operands and their types, or () if there are none: the next line may begin with a value. */
static void barrier(struct mlir *p, struct mlir_op *o)
{
    stet_mlir_read_form(p, o, stet_mlir_at(p, "(") ? "( )" : "%* :each");
}

/* overflow<nsw> or fastmath<fast>, a short form of an arith attribute. If absent it is "none",
 * which generic form and bytecode contain explicitly. */
static void arith_flags(struct mlir *p, const char *word, const char *name)
{
    static const struct stet_attr_name arith = {{"arith", 5}, {0}};
    struct stet_view flags = STET_VIEW("<none>"), text;

    if (stet_mlir_accept_word(p, word)) {
        const char *from = p->at;

        stet_mlir_balanced(p);
        flags = stet_view_of(from, (size_t)(p->at - from));
    }
    text = stet_arena_printf(p->arena, ".%s%.*s", word, STET_FMT(flags));
    if (!text.ptr)
        stet_mlir_no_memory(p);
    stet_mlir_add_attr(
        p, name,
        stet_mlir_make(
            p, (struct stet_attr){.kind = STET_ATTR_OPAQUE, .of.name = &arith, .word = text}));
}

static void overflow(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    arith_flags(p, "overflow", "overflowFlags");
}

static void fastmath(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    arith_flags(p, "fastmath", "fastmath");
}

void stet_mlir_form_part(struct mlir *p, struct mlir_op *o, struct stet_view word)
{
    static const struct {
        const char *word;
        mlir_form_code *read;
    } parts[] = {{"@slice", slice},
                 {"@conv", conv},
                 {"@window", window},
                 {"@dot", dot},
                 {"@precision", precision},
                 {"@format", format},
                 {"@block", block},
                 {"@reduction", reduction},
                 {"@cast", cast},
                 {"@regions", stet_mlir_region_list},
                 {"@branch", stet_mlir_branch},
                 {"@barrier", barrier},
                 {"@constant", stet_mlir_constant},
                 {"@overflow", overflow},
                 {"@fastmath", fastmath},
                 {"@fragment", stet_mlir_mpmd_fragment}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (stet_view_is(word, parts[i].word)) {
            parts[i].read(p, o);
            return;
        }
    stet_mlir_fail(p, p->at, "no such part: %.*s", STET_FMT(word));
}
