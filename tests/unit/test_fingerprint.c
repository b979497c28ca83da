/* Facts about skeleton, facets and key. */
#include "program_help.h"

#include "base/mem.h"
#include "fingerprint/canon.h"
#include "program/compare.h"
#include "program/defaults.h"

#include <stdlib.h>

#define MODULE_BEGIN "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n"
#define MODULE(body) MODULE_BEGIN body "}\n"

static const char base_text[] = MODULE(
    "func.func public @main(%arg0: tensor<4x16xf32>, %arg1: tensor<8x8xf32>) -> tensor<4x8xf32> {\n"
    "  %0 = stablehlo.slice %arg0 [0:4, 2:10] : (tensor<4x16xf32>) -> tensor<4x8xf32>\n"
    "  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : "
    "(tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n"
    "  %cst = stablehlo.constant dense<1.000000e-03> : tensor<f32>\n"
    "  %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>\n"
    "  %3 = stablehlo.multiply %1, %2 : tensor<4x8xf32>\n"
    "  %4 = stablehlo.tanh %3 : tensor<4x8xf32>\n"
    "  return %4 : tensor<4x8xf32>\n"
    "}\n");

/* base_text with every `from` replaced; malloc'd. */
static char *edited(const char *text, const char *from, const char *to)
{
    struct stet_buf out = STET_BUF_INIT;
    const char *at;

    while ((at = strstr(text, from))) {
        stet_buf_add(&out, text, (size_t)(at - text));
        stet_buf_str(&out, to);
        text = at + strlen(from);
    }
    stet_buf_str(&out, text);
    return out.ptr;
}

static struct stet_fingerprint base(void)
{
    return fingerprint_of(stet_view_str(base_text));
}

static struct stet_fingerprint with(const char *from, const char *to)
{
    char *text = edited(base_text, from, to);
    struct stet_fingerprint f = fingerprint_of(stet_view_str(text));

    EXPECT(strcmp(text, base_text) != 0);
    stet_mem_free(text);
    return f;
}

static bool same_all(const struct stet_fingerprint *a, const struct stet_fingerprint *b)
{
    return stet_hash_eq(a->key, b->key) && stet_hash_eq(a->skeleton, b->skeleton) &&
           !stet_fingerprint_moved(a, b);
}

TEST(tables_are_sorted)
{
    static const char *const attrs[] = {
#define ATTR(name, class) name,
#include "fingerprint/canon.def"
    };

    for (size_t i = 1; i < sizeof attrs / sizeof *attrs; i++)
        if (strcmp(attrs[i - 1], attrs[i]) >= 0)
            EXPECT_STR(attrs[i - 1], attrs[i]);
    EXPECT(stet_defaults_in_order());
}

TEST(names_and_numbers_and_locations_do_not_matter)
{
    struct stet_fingerprint f = base(), g;

    g = with("%1", "%other");
    EXPECT(same_all(&f, &g));
    g = with("@jit_f", "@jit_g");
    EXPECT(same_all(&f, &g));
    g = with("tanh %3 : tensor<4x8xf32>", "tanh %3 : tensor<4x8xf32> loc(\"a.py\":3:4)");
    EXPECT(same_all(&f, &g));
}

TEST(each_single_change_moves_exactly_its_facet)
{
    static const struct {
        const char *from, *to;
        uint32_t moves;
    } cases[] = {
        {"1.000000e-03", "9.990000e-04", 1u << STET_FACET_CONSTANTS},
        {"2:10", "3:11", 1u << STET_FACET_SLICES},
        {"4x", "6x", 1u << STET_FACET_SHAPES}, /* below: the slice's own limit */
        {"f32", "bf16", 1u << STET_FACET_DTYPES},
        {"%arg1: tensor<8x8xf32>",
         "%arg1: tensor<8x8xf32> {mhlo.sharding = \"{devices=[2,1]<=[2]}\"}",
         1u << STET_FACET_SHARDINGS},
        {"num_partitions = 1", "num_partitions = 2", 1u << STET_FACET_SHARDINGS},
        {"%arg1: tensor<8x8xf32>", "%arg1: tensor<8x8xf32> {tf.aliasing_output = 0 : i32}",
         1u << STET_FACET_DONATION},
        {"%arg1: tensor<8x8xf32>", "%arg1: tensor<8x8xf32> {jax.buffer_donor = true}",
         1u << STET_FACET_DONATION},
        {"%arg1: tensor<8x8xf32>", "%arg1: tensor<8x8xf32> {mhlo.layout_mode = \"{0,1}\"}",
         1u << STET_FACET_LAYOUTS},
        {"[1] x [0]", "[1] x [1]", 1u << STET_FACET_AXES},
        {"[1] x [0]", "[1] x [0], precision = [HIGHEST, HIGHEST]", 1u << STET_FACET_ATTRIBUTES},
    };
    struct stet_fingerprint f = base();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stet_fingerprint g;
        char *text = edited(base_text, cases[i].from, cases[i].to);
        char *fixed = edited(text, "[0:4, 2", strstr(text, "tensor<6x") ? "[0:6, 2" : "[0:4, 2");

        g = fingerprint_of(stet_view_str(fixed));
        EXPECT(stet_hash_eq(f.skeleton, g.skeleton));
        EXPECT(!stet_hash_eq(f.key, g.key));
        EXPECT_INT(cases[i].moves, stet_fingerprint_moved(&f, &g));
        stet_mem_free(text);
        stet_mem_free(fixed);
    }
}

TEST(options_are_a_facet_of_their_own)
{
    struct stet_fingerprint f, g;
    struct stet_program p;

    EXPECT(read_program(&p, stet_view_str(base_text)));
    EXPECT_INT(STET_OK, stet_fingerprint_make(&f, &p, STET_VIEW("a"), NULL));
    EXPECT_INT(STET_OK, stet_fingerprint_make(&g, &p, STET_VIEW("b"), NULL));
    EXPECT(stet_hash_eq(f.key, g.key) && stet_hash_eq(f.skeleton, g.skeleton));
    EXPECT_INT(1u << STET_FACET_OPTIONS, stet_fingerprint_moved(&f, &g));
    stet_program_release(&p);
}

TEST(another_operation_is_another_family)
{
    struct stet_fingerprint f = base(), g = with("stablehlo.tanh", "stablehlo.cosine");

    EXPECT(!stet_hash_eq(f.skeleton, g.skeleton));
}

#define TWO_USES(body)                                                                             \
    MODULE("func.func public @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, "            \
           "tensor<f32>) {\n" body "  return %x, %y : tensor<f32>, tensor<f32>\n}\n")

TEST(merged_equal_constants_matter_to_the_key_alone)
{
    struct stet_fingerprint merged =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %c : tensor<f32>\n"
                                          "  %y = stablehlo.multiply %b, %c : tensor<f32>\n")));
    struct stet_fingerprint split =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %c : tensor<f32>\n"
                                          "  %d = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %y = stablehlo.multiply %b, %d : tensor<f32>\n")));
    struct stet_fingerprint drifted =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %c : tensor<f32>\n"
                                          "  %d = stablehlo.constant dense<3.0> : tensor<f32>\n"
                                          "  %y = stablehlo.multiply %b, %d : tensor<f32>\n")));

    EXPECT(stet_hash_eq(merged.skeleton, split.skeleton));
    EXPECT(!stet_hash_eq(merged.key, split.key));
    EXPECT_INT(0, stet_fingerprint_moved(&merged, &split));
    EXPECT(stet_hash_eq(merged.skeleton, drifted.skeleton));
    EXPECT_INT(1u << STET_FACET_CONSTANTS, stet_fingerprint_moved(&merged, &drifted));
}

TEST(order_of_independent_operations_matters_to_the_key_alone)
{
    struct stet_fingerprint one =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %c : tensor<f32>\n"
                                          "  %y = stablehlo.multiply %b, %c : tensor<f32>\n")));
    struct stet_fingerprint other =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %y = stablehlo.multiply %b, %c : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %c : tensor<f32>\n")));

    EXPECT(stet_hash_eq(one.skeleton, other.skeleton));
    EXPECT_INT(0, stet_fingerprint_moved(&one, &other));
    EXPECT(!stet_hash_eq(one.key, other.key));
}

#define DEAD(first, second)                                                                        \
    STET_VIEW("func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n" first second        \
              "%r = stablehlo.tanh %x : tensor<4xf32>\n"                                           \
              "return %r : tensor<4xf32>\n}\n")
#define DEAD_SINE   "%s = stablehlo.sine %x : tensor<4xf32>\n"
#define DEAD_COSINE "%c = stablehlo.cosine %x : tensor<4xf32>\n"
#define DEAD_LOOP                                                                                  \
    "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                           \
    "%l = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : "          \
    "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
#define DEAD_EFFECT                                                                                \
    "stablehlo.custom_call @log(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()\n"

TEST(dead_pure_operations_matter_to_the_key_alone)
{
    struct stet_fingerprint none = fingerprint_of(DEAD("", ""));
    struct stet_fingerprint some[] = {
        fingerprint_of(DEAD(DEAD_SINE, "")),          fingerprint_of(DEAD("", DEAD_COSINE)),
        fingerprint_of(DEAD(DEAD_SINE, DEAD_COSINE)), fingerprint_of(DEAD(DEAD_COSINE, DEAD_SINE)),
        fingerprint_of(DEAD(DEAD_LOOP, "")),          fingerprint_of(DEAD(DEAD_SINE, DEAD_LOOP)),
    };
    struct stet_fingerprint effect = fingerprint_of(DEAD(DEAD_EFFECT, ""));

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        EXPECT(stet_hash_eq(none.skeleton, some[i].skeleton));
        EXPECT_INT(0, stet_fingerprint_moved(&none, &some[i]));
        EXPECT(!stet_hash_eq(none.key, some[i].key));
        for (size_t k = 0; k < i; k++)
            EXPECT(!stet_hash_eq(some[k].key, some[i].key));
    }
    EXPECT(!stet_hash_eq(none.skeleton, effect.skeleton));
}

TEST(swapped_constants_are_seen)
{
    struct stet_fingerprint one =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %d = stablehlo.constant dense<3.0> : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %c : tensor<f32>\n"
                                          "  %y = stablehlo.add %a, %d : tensor<f32>\n")));
    struct stet_fingerprint other =
        fingerprint_of(STET_VIEW(TWO_USES("  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
                                          "  %d = stablehlo.constant dense<3.0> : tensor<f32>\n"
                                          "  %x = stablehlo.add %a, %d : tensor<f32>\n"
                                          "  %y = stablehlo.add %a, %c : tensor<f32>\n")));

    EXPECT(stet_hash_eq(one.skeleton, other.skeleton));
    EXPECT_INT(1u << STET_FACET_CONSTANTS, stet_fingerprint_moved(&one, &other));
}

#define CALLS(name)                                                                                \
    MODULE("func.func public @main(%a: tensor<f32>) -> tensor<f32> {\n"                            \
           "  %0 = call @" name "(%a) : (tensor<f32>) -> tensor<f32>\n"                            \
           "  return %0 : tensor<f32>\n}\n"                                                        \
           "func.func private @" name "(%b: tensor<f32>) -> tensor<f32> {\n"                       \
           "  %0 = stablehlo.tanh %b : tensor<f32>\n"                                              \
           "  return %0 : tensor<f32>\n}\n")

TEST(names_of_functions_do_not_matter_but_their_bodies_do)
{
    struct stet_fingerprint f = fingerprint_of(STET_VIEW(CALLS("relu")));
    struct stet_fingerprint g = fingerprint_of(STET_VIEW(CALLS("relu_1")));
    char *text = edited(CALLS("relu"), "tanh", "cosine");
    struct stet_fingerprint h = fingerprint_of(stet_view_str(text));

    EXPECT(same_all(&f, &g));
    EXPECT(!stet_hash_eq(f.skeleton, h.skeleton) && !stet_hash_eq(f.key, h.key));
    stet_mem_free(text);
}

/* The values below are a promise to stores and contracts: when they change, so must
 * STET_FINGERPRINT_VERSION. */
/* Are these one program, to who compares by fingerprints and to who compares as the store does? */
static bool agree(const char *a, const char *b)
{
    struct stet_fingerprint f, g;
    struct stet_program x, y;
    bool same;

    EXPECT(read_program(&x, stet_view_str(a)));
    EXPECT(read_program(&y, stet_view_str(b)));
    EXPECT_INT(STET_OK, stet_fingerprint_make(&f, &x, (struct stet_view){0}, NULL));
    EXPECT_INT(STET_OK, stet_fingerprint_make(&g, &y, (struct stet_view){0}, NULL));
    same = stet_program_same(&x, &y, STET_COMPARE_NAMELESS, NULL);
    EXPECT_INT(stet_hash_eq(f.key, g.key), same);
    EXPECT_INT(same, stet_program_same(&y, &x, STET_COMPARE_NAMELESS, NULL));
    stet_program_release(&x);
    stet_program_release(&y);
    return same;
}

#define TWO_CALLED(module, args, results, one, two, called)                                        \
    "module @" module " {\n"                                                                       \
    "func.func public @main(%arg0: tensor<4xf32>" args ") -> (tensor<4xf32>" results ") {\n"       \
    "  %0 = call @" called "(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"                          \
    "  return %0 : tensor<4xf32>\n}\n"                                                             \
    "func.func private @" one "(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"                        \
    "  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"          \
    "func.func private @" two "(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"                        \
    "  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n}\n"

TEST(the_store_compares_what_the_key_is_made_of)
{
    static const char first[] = TWO_CALLED("m", "", "", "f", "g", "f");
    static const struct {
        const char *text;
        bool same;
    } others[] = {
        {TWO_CALLED("other", "", "", "f", "g", "f"), true},
        {TWO_CALLED("m", " {jax.arg_info = \"x\"}", "", "f", "g", "f"), true},
        {TWO_CALLED("m", "", " {jax.result_info = \"result[0]\"}", "f", "g", "f"), true},
        {TWO_CALLED("m", "", "", "f_1", "g", "f_1"), true},
        {TWO_CALLED("m", "", "", "g", "f", "g"), true}, /* renamed, both */
        {TWO_CALLED("m", "", "", "f", "g", "g"), false},
        {TWO_CALLED("m", "", "", "g", "f", "f"), false}, /* the same name for another one */
        {TWO_CALLED("m", " {tf.aliasing_output = 0 : i32}", "", "f", "g", "f"), false},
        {TWO_CALLED("m", "", " {mhlo.layout_mode = \"auto\"}", "f", "g", "f"), false},
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        EXPECT_INT(others[i].same, agree(first, others[i].text));
}

#define BRANCHES(first, second)                                                                    \
    "module {\n\"func.func\"() ({\n^bb0(%a: i1):\n"                                                \
    "  \"cf.cond_br\"(%a)[^" first ", ^" second "] : (i1) -> ()\n"                                 \
    "^bb1:\n  %0 = stablehlo.constant dense<1> : tensor<i32>\n  func.return %0 : tensor<i32>\n"    \
    "^bb2:\n  %1 = stablehlo.constant dense<2> : tensor<i32>\n  func.return %1 : tensor<i32>\n"    \
    "}) {function_type = (i1) -> tensor<i32>, sym_name = \"main\"} : () -> ()\n}\n"

TEST(the_store_compares_where_branches_go)
{
    EXPECT(agree(BRANCHES("bb1", "bb2"), BRANCHES("bb1", "bb2")));
    EXPECT(!agree(BRANCHES("bb1", "bb2"), BRANCHES("bb2", "bb1")));
}

TEST(what_the_key_leaves_out_as_a_name_the_comparison_leaves_out)
{
    static const struct {
        const char *name;
        enum stet_attr_class class;
    } attrs[] = {
#define ATTR(name, class) {name, STET_CLASS_##class},
#include "fingerprint/canon.def"
    };

    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        bool compared =
            !strcmp(attrs[i].name, "function_type") ||      /* said by the types beside it */
            !strcmp(attrs[i].name, "stet_callback_number"); /* one program may not serve another */

        EXPECT_INT(attrs[i].class == STET_CLASS_NAMES && !compared,
                   stet_attr_is_name(stet_view_str(attrs[i].name)));
    }
}

TEST(fingerprints_are_those_of_earlier_releases)
{
    struct stet_fingerprint f = base();
    struct stet_hash all = stet_hash_mix(f.key, f.skeleton);
    char text[STET_HASH_TEXT];

    EXPECT_INT(4, STET_FINGERPRINT_VERSION);
    stet_hash_format(f.key, text);
    EXPECT_STR("75831ceb252ebb34a1bd7aafca97ecfb", text);
    stet_hash_format(f.skeleton, text);
    EXPECT_STR("77b42f93d9b40a0694a4f142bf132f8d", text);
    for (unsigned i = 0; i < STET_FACETS; i++)
        all = stet_hash_mix(all, f.facets[i]);
    stet_hash_format(all, text);
    EXPECT_STR("eeba8f83b11613cd5ddacde72d648180", text);
}

static struct stet_fingerprint of_rank(unsigned rank)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_fingerprint f;

    stet_buf_str(&out, MODULE_BEGIN "func.func public @main(%a: tensor<");
    for (unsigned i = 0; i < rank; i++)
        stet_buf_str(&out, "1x");
    stet_buf_str(&out, "f32>) {\n  return\n}\n}\n");
    f = fingerprint_of(stet_buf_as_view(&out));
    stet_buf_release(&out);
    return f;
}

TEST(a_rank_above_255_is_not_truncated)
{
    struct stet_fingerprint f = of_rank(2), g = of_rank(256 + 2);

    EXPECT(!stet_hash_is_zero(f.key) && stet_hash_eq(f.skeleton, g.skeleton));
    EXPECT_INT(1u << STET_FACET_SHAPES | 1u << STET_FACET_RANKS, stet_fingerprint_moved(&f, &g));
}

/* A chain of converts that many operations use, which would be quadratic if each use walked it. */
TEST(scalable_vectors_and_unranked_memrefs_are_distinguished)
{
    static const char *const types[] = {"vector<4x4xf32>", "vector<[4]x4xf32>", "vector<4x[4]xf32>",
                                        "memref<f32>",     "memref<*xf32>",     "memref<*xf32, 1>",
                                        "memref<f32, 1>",  "tensor<*xf32>"};
    enum { COUNT = sizeof types / sizeof *types };
    struct stet_fingerprint f[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        char text[96];

        snprintf(text, sizeof text, "module { %%0 = \"t.make\"() : () -> %s }", types[i]);
        f[i] = fingerprint_of(stet_view_str(text));
        for (size_t k = 0; k < i; k++)
            EXPECT(!stet_hash_eq(f[i].key, f[k].key));
    }
}

TEST(what_holds_elements_is_part_of_the_dtype)
{
    static const char *const texts[] = {
        "func.func public @main() -> tensor<4xf32> {\n"
        "%0 = \"a.b\"() : () -> tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n",
        "func.func public @main() -> vector<4xf32> {\n"
        "%0 = \"a.b\"() : () -> vector<4xf32>\nreturn %0 : vector<4xf32>\n}\n",
        "func.func public @main() -> memref<4xf32> {\n"
        "%0 = \"a.b\"() : () -> memref<4xf32>\nreturn %0 : memref<4xf32>\n}\n",
    };
    struct stet_fingerprint f[3];

    for (size_t i = 0; i < 3; i++) {
        f[i] = fingerprint_of(stet_view_str(texts[i]));
        for (size_t k = 0; k < i; k++) {
            EXPECT(!stet_hash_eq(f[i].key, f[k].key));
            EXPECT_INT(1 << STET_FACET_DTYPES, stet_fingerprint_moved(&f[i], &f[k]));
        }
    }
}

/* A dictionary's key may be no text at all; what is known of it must not depend on addresses. */
TEST(a_name_without_bytes_is_not_taken_for_an_empty_slot)
{
    struct stet_program p;
    struct stet_canon *c = malloc(sizeof *c);

    EXPECT(read_program(&p, stet_view_str(base_text)));
    EXPECT_INT(STET_OK, stet_canon_init(c, &p, NULL));
    EXPECT_INT(STET_CLASS_UNLISTED, stet_canon_name(c, (struct stet_view){0})->class);
    stet_canon_release(c);
    free(c);
    stet_program_release(&p);
}

/* Places after a function that was written while an attribute was. */
TEST(a_passthrough_operation_that_names_a_function_keeps_its_fingerprint)
{
    static const char text[] =
        "module @m {\n"
        "func.func public @main(%arg0: tensor<4xf32>) -> tensor<2x2xf32> {\n"
        "%0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = \"{replicated}\", "
        "called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>\n"
        "%1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>\n"
        "%2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = \"{replicated}\", "
        "called_computations = [@f]} : (tensor<2x2xf32>) -> tensor<2x2xf32>\n"
        "%3 = stablehlo.abs %2 : tensor<2x2xf32>\n"
        "return %3 : tensor<2x2xf32>\n}\n"
        "func.func private @f(%arg0: tensor<f32>) -> tensor<f32> {\n"
        "%0 = stablehlo.abs %arg0 : tensor<f32>\n"
        "return %0 : tensor<f32>\n}\n}\n";
    struct stet_fingerprint f = fingerprint_of(stet_view_str(text));
    char hash[STET_HASH_TEXT];

    stet_hash_format(f.facets[STET_FACET_SHAPES], hash);
    EXPECT_STR("bf0e3656e4a192eb8d55f80c935b7c7c", hash);
    stet_hash_format(f.facets[STET_FACET_SHARDINGS], hash);
    EXPECT_STR("c947d4c603b4cc3193a4d72e4fba7775", hash);
}

TEST(long_chains_of_passthrough_operations_take_linear_time)
{
    enum { LENGTH = 20000 };
    struct stet_buf out = STET_BUF_INIT;

    stet_buf_str(&out, "func.func public @main(%v0: tensor<f32>) -> tensor<f32> {\n");
    for (int i = 0; i < LENGTH; i++)
        stet_buf_printf(&out, "%%v%d = stablehlo.convert %%v%d : tensor<f32>\n", i + 1, i);
    stet_buf_printf(&out, "%%s0 = stablehlo.add %%v%d, %%v%d : tensor<f32>\n", LENGTH, LENGTH);
    for (int i = 0; i < LENGTH; i++)
        stet_buf_printf(&out, "%%s%d = stablehlo.add %%s%d, %%v%d : tensor<f32>\n", i + 1, i,
                        LENGTH);
    stet_buf_printf(&out, "return %%s%d : tensor<f32>\n}\n", LENGTH);
    EXPECT(!stet_hash_is_zero(fingerprint_of(stet_buf_as_view(&out)).key));
    stet_buf_release(&out);
}

#ifdef STET_FAULT_INJECTION
TEST(every_failing_allocation_is_an_error_and_leaks_nothing)
{
    struct stet_program p;
    struct stet_fingerprint f;
    enum stet_rc rc = STET_NO_MEMORY;

    EXPECT(read_program(&p, stet_view_str(base_text)));
    for (long n = 0; rc != STET_OK && n < 100; n++) {
        stet_mem_fail_after(n, true);
        rc = stet_fingerprint_make(&f, &p, (struct stet_view){0}, NULL);
        stet_mem_fail_after(-1, false);
        EXPECT(rc == STET_OK || rc == STET_NO_MEMORY);
    }
    EXPECT_INT(STET_OK, rc);
    stet_program_release(&p);
}
#endif
