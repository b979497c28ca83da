/* Sorting of lines of every length, by keys of every width and by comparators that have no single
 * key; the largest few and many. */
#include "backend_help.h"

static void put_compare(struct text *m, const char *result, const char *x, const char *y,
                        const char *direction, enum stet_dtype t)
{
    struct stet_shape s;

    stet_shape_set(&s, t, NULL, 0);
    put(m,
        "%%%s = \"stablehlo.compare\"(%%%s, %%%s) <{comparison_direction = "
        "#stablehlo<comparison_direction %s>}> : (",
        result, x, y, direction);
    put_type(m, &s), put(m, ", "), put_type(m, &s);
    put(m, ") -> tensor<i1> ");
}

static void put_arguments(struct text *m, enum stet_dtype t)
{
    struct stet_shape s;

    stet_shape_set(&s, t, NULL, 0);
    put(m, "<{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%%x: ");
    put_type(m, &s), put(m, ", %%y: "), put_type(m, &s);
    put(m, ", %%p: tensor<i32>, %%q: tensor<i32>): ");
}

/* Keys with many that are equal, zeros of both signs among them. */
static struct stet_ref some_keys(enum stet_dtype t, int64_t n)
{
    struct stet_ref a = fill(t, &n, 1, false);

    for (int64_t i = 0; i < n; i += 3)
        stet_ref_set(&a, (uint64_t)i, (struct stet_ref_scalar){i % 4, i % 2 ? 0.0 : -0.0, 0});
    for (int64_t i = 1; i < n; i += 7) /* the ends of the type, and beyond 32 bits */
        stet_ref_set(&a, (uint64_t)i,
                     (struct stet_ref_scalar){(int64_t)(next() << (next() % 60)), 1e30, 0});
    return a;
}

static struct stet_ref positions(int64_t n)
{
    struct stet_ref r = tensor(STET_DT_S32, &n, 1);

    for (int64_t i = 0; i < n; i++)
        stet_ref_set(&r, (uint64_t)i, (struct stet_ref_scalar){i, 0, 0});
    return r;
}

static bool less(const struct stet_ref *a, uint64_t i, uint64_t j, bool descending)
{
    struct stet_ref_scalar x[3] = {stet_ref_get(a, i), stet_ref_get(a, j), {0, 0, 0}};

    return stet_ref_op(descending ? STET_TILE_GT : STET_TILE_LT, a->shape.dtype, x).i != 0;
}

/* `moved` are positions of all elements of `a`: in order, and those of equal elements ascend (or
 * descend, where the comparator says so). */
static bool in_order(const struct stet_ref *a, const struct stet_ref *sorted,
                     const struct stet_ref *moved, bool descending, bool reversed)
{
    uint64_t n = moved->shape.elements;
    size_t width = stet_dtype_bytes(a->shape.dtype);
    bool *seen = calloc(a->shape.elements + 1, 1), ok = true;

    for (uint64_t i = 0; i < n && ok; i++) {
        uint64_t at = (uint64_t)stet_ref_get(moved, i).i, before;

        ok = at < a->shape.elements && !seen[at] &&
             memcmp((char *)sorted->data + i * width, (char *)a->data + at * width, width) == 0;
        if (!ok)
            break;
        seen[at] = true;
        before = i ? (uint64_t)stet_ref_get(moved, i - 1).i : 0;
        ok = i == 0 || less(a, before, at, descending) ||
             (!less(a, at, before, descending) && (reversed ? at < before : before < at));
    }
    free(seen);
    return ok;
}

static const int64_t lengths[] = {0, 1, 2, 63, 64, 65, 300, 2000, 8191, 8192, 20000};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

TEST(lines_of_any_length_are_sorted_stably)
{
    for (size_t i = 0; i < (size_t)LENGTHS * TYPES; i++) {
        enum stet_dtype t = all_types[i % TYPES];
        bool descending = i & 1;
        int64_t n = lengths[i / TYPES];
        struct stet_ref key = some_keys(t, n), place = positions(n);
        struct stet_ref sorted = like(&key, t), moved = like(&place, STET_DT_S32);
        const struct stet_ref *in[2] = {&key, &place};
        struct stet_ref *out[2] = {&sorted, &moved};
        struct text m = {.n = 0};

        put_arguments(&m, t);
        put_compare(&m, "z", "x", "y", descending ? "GT" : "LT", t);
        put(&m, "stablehlo.return %%z : tensor<i1> })");
        EXPECT(run_ops(out, 2, "sort", m.s, in, 2));
        EXPECT(in_order(&key, &sorted, &moved, descending, false));
        free(key.data), free(place.data), free(sorted.data), free(moved.data);
    }
}

/* x < y, or x == y and p > q: no single key. */
TEST(comparators_of_two_keys_are_called)
{
    static const enum stet_dtype types[] = {STET_DT_F32, STET_DT_S64, STET_DT_U8, STET_DT_BF16};

    for (size_t i = 0; i < 24; i++) {
        enum stet_dtype t = types[i % 4];
        int64_t n = lengths[i / 4];
        struct stet_ref key = some_keys(t, n), place = positions(n);
        struct stet_ref sorted = like(&key, t), moved = like(&place, STET_DT_S32);
        const struct stet_ref *in[2] = {&key, &place};
        struct stet_ref *out[2] = {&sorted, &moved};
        struct text m = {.n = 0};

        put_arguments(&m, t);
        put_compare(&m, "a", "x", "y", "LT", t);
        put_compare(&m, "b", "x", "y", "EQ", t);
        put_compare(&m, "c", "p", "q", "GT", STET_DT_S32);
        put(&m, "%%d = stablehlo.and %%b, %%c : tensor<i1> %%e = stablehlo.or %%a, %%d : "
                "tensor<i1> stablehlo.return %%e : tensor<i1> })");
        EXPECT(run_ops(out, 2, "sort", m.s, in, 2));
        EXPECT(in_order(&key, &sorted, &moved, false, true));
        free(key.data), free(place.data), free(sorted.data), free(moved.data);
    }
}

/* The decomposition that the composite names is wrong: it is not run. */
static void put_composite(struct text *t, const struct stet_ref *a, const struct stet_ref *value,
                          const struct stet_ref *index, int64_t k)
{
    put(t, "module { func.func @main(%%a: "), put_type(t, &a->shape);
    put(t, ") -> ("), put_type(t, &value->shape), put(t, ", "), put_type(t, &index->shape);
    put(t,
        ") { %%0:2 = \"stablehlo.composite\"(%%a) <{name = \"chlo.top_k\", composite_attributes = "
        "{k = %lld : i64}, decomposition = @no, version = 1 : i32}> : (",
        (long long)k);
    put_type(t, &a->shape), put(t, ") -> ("), put_type(t, &value->shape), put(t, ", ");
    put_type(t, &index->shape), put(t, ") return %%0#0, %%0#1 : ");
    put_type(t, &value->shape), put(t, ", "), put_type(t, &index->shape);
    put(t, " } func.func private @no(%%a: "), put_type(t, &a->shape);
    put(t, ") -> ("), put_type(t, &value->shape), put(t, ", "), put_type(t, &index->shape);
    put(t, ") { %%0 = stablehlo.constant dense<1> : "), put_type(t, &index->shape);
    put(t, " %%1 = stablehlo.slice %%a [0:%lld] : (", (long long)k), put_type(t, &a->shape);
    put(t, ") -> "), put_type(t, &value->shape), put(t, " return %%1, %%0 : ");
    put_type(t, &value->shape), put(t, ", "), put_type(t, &index->shape), put(t, " } }");
}

TEST(the_largest_of_any_number_are_selected)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[1 + i % (TYPES - 1)];
        int64_t n = i % 3 ? pick(600, 3000) : pick(1, 400),
                k = i % 3 == 1 ? pick(257, n) : pick(1, n);
        struct stet_ref a = some_keys(t, n), value, index;
        const void *inputs[1];
        void *outputs[2];
        struct text text = {.n = 0};

        if (stet_dtype_is_float(t)) /* in the total order -0 is less than 0 */
            for (int64_t j = 0; j < n; j += 3)
                stet_ref_set(&a, (uint64_t)j, (struct stet_ref_scalar){0, 1.5, 0});
        k = k > n ? n : k;
        value = tensor(t, &k, 1), index = tensor(STET_DT_S32, &k, 1);
        inputs[0] = a.data, outputs[0] = value.data, outputs[1] = index.data;
        put_composite(&text, &a, &value, &index, k);
        EXPECT(run_text(&text, inputs, outputs, 2));
        EXPECT(in_order(&a, &value, &index, true, false));
        for (int64_t j = 0; j < n && k; j++) { /* what is left out is no larger than the last */
            uint64_t final = (uint64_t)stet_ref_get(&index, (uint64_t)k - 1).i;
            bool left_out = true;

            for (int64_t x = 0; x < k && left_out; x++)
                left_out = stet_ref_get(&index, (uint64_t)x).i != j;
            EXPECT(!left_out || !less(&a, (uint64_t)j, final, true));
        }
        free(a.data), free(value.data), free(index.data);
    }
}
