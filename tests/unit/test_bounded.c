/* Facts about sizes that move: which operations a bounded dimension passes, and what to pad to. */
#include "program_help.h"

#include "explain/bucket_words.h"
#include "explain/diff.h"

/* "" when a bounded dimension would have served both, the operation that forbids it otherwise. */
static const char *forbids(const char *a, const char *b)
{
    static char text[128];
    struct stet_program pa, pb;
    struct stet_fingerprint fa, fb;
    struct stet_diff_side sa = {&pa, &fa, NULL}, sb = {&pb, &fb, NULL};
    struct stet_err err = STET_ERR_INIT;
    struct stet_diff d;

    snprintf(text, sizeof text, "not read");
    if (!read_program(&pa, stet_view_str(a)) || !read_program(&pb, stet_view_str(b)))
        return text;
    EXPECT_INT(STET_OK, stet_fingerprint_make(&fa, &pa, (struct stet_view){0}, &err));
    EXPECT_INT(STET_OK, stet_fingerprint_make(&fb, &pb, (struct stet_view){0}, &err));
    EXPECT_INT(STET_OK, stet_diff_make(&d, &sa, &sb, &err));
    if (!d.bounded.known)
        snprintf(text, sizeof text, "not known");
    else
        snprintf(text, sizeof text, "%.*s",
                 STET_FMT(d.bounded.forbids ? stet_op_name(d.bounded.forbids) : STET_VIEW("")));
    stet_diff_release(&d);
    stet_program_release(&pa);
    stet_program_release(&pb);
    return text;
}

#define MAIN(type, body, result)                                                                   \
    "func.func public @main(%x: " type ") -> " result " {\n" body "return %y : " result "\n}\n"

TEST(elementwise_operations_reductions_and_products_carry_it)
{
#define BODY(n)                                                                                    \
    MAIN("tensor<" #n "x8xf32>",                                                                   \
         "%w = stablehlo.constant dense<2.0> : tensor<8x3xf32>\n"                                  \
         "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"                                      \
         "%a = stablehlo.tanh %x : tensor<" #n "x8xf32>\n"                                         \
         "%b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<" #n           \
         "x8xf32>, tensor<8x3xf32>) -> tensor<" #n "x3xf32>\n"                                     \
         "%y = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [0] : "     \
         "(tensor<" #n "x3xf32>, tensor<f32>) -> tensor<3xf32>\n",                                 \
         "tensor<3xf32>")
    EXPECT_STR("", forbids(BODY(4), BODY(6)));
#undef BODY
}

TEST(a_reshape_may_merge_the_dimension_but_not_take_it_apart)
{
#define MERGE(n, m)                                                                                \
    MAIN("tensor<" #n "x8xf32>",                                                                   \
         "%a = stablehlo.tanh %x : tensor<" #n "x8xf32>\n"                                         \
         "%b = stablehlo.reshape %a : (tensor<" #n "x8xf32>) -> tensor<" #m "xf32>\n"              \
         "%y = stablehlo.tanh %b : tensor<" #m "xf32>\n",                                          \
         "tensor<" #m "xf32>")
#define SPLIT(n, m)                                                                                \
    MAIN("tensor<" #n "x8xf32>",                                                                   \
         "%a = stablehlo.tanh %x : tensor<" #n "x8xf32>\n"                                         \
         "%b = stablehlo.reshape %a : (tensor<" #n "x8xf32>) -> tensor<" #m "x2x8xf32>\n"          \
         "%y = stablehlo.tanh %b : tensor<" #m "x2x8xf32>\n",                                      \
         "tensor<" #m "x2x8xf32>")
    EXPECT_STR("", forbids(MERGE(4, 32), MERGE(6, 48)));
    EXPECT_STR("stablehlo.reshape", forbids(SPLIT(4, 2), SPLIT(6, 3)));
#undef MERGE
#undef SPLIT
}

TEST(parts_at_an_unknown_start_and_foreign_code_need_fixed_sizes)
{
#define SLICE(n)                                                                                   \
    MAIN("tensor<" #n "x8xf32>",                                                                   \
         "%i = stablehlo.constant dense<1> : tensor<i32>\n"                                        \
         "%a = stablehlo.tanh %x : tensor<" #n "x8xf32>\n"                                         \
         "%b = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 8] : (tensor<" #n                   \
         "x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>\n"                                 \
         "%y = stablehlo.tanh %b : tensor<2x8xf32>\n",                                             \
         "tensor<2x8xf32>")
#define CALL(n)                                                                                    \
    MAIN("tensor<" #n "x8xf32>",                                                                   \
         "%y = stablehlo.custom_call @my_kernel(%x) : (tensor<" #n "x8xf32>) -> tensor<" #n        \
         "x8xf32>\n",                                                                              \
         "tensor<" #n "x8xf32>")
    EXPECT_STR("stablehlo.dynamic_slice", forbids(SLICE(4), SLICE(6)));
    EXPECT_STR("stablehlo.custom_call", forbids(CALL(4), CALL(6)));
#undef SLICE
#undef CALL
}

static const char *buckets(const int64_t *sizes, const double *runs, uint32_t count)
{
    static char text[512];
    struct stet_bucket_set sets[STET_BUCKET_SETS];
    struct stet_buckets_shape shapes[8];
    struct stet_buf out = STET_BUF_INIT;

    for (uint32_t i = 0; i < count; i++)
        shapes[i] = (struct stet_buckets_shape){{sizes[i]}, runs[i]};
    stet_explain_buckets_text(&out, sets, stet_explain_buckets(sets, shapes, count));
    snprintf(text, sizeof text, "%.*s", (int)out.len, out.ptr ? out.ptr : "");
    stet_buf_release(&out);
    return text;
}

TEST(buckets_pad_least_and_their_padding_is_given)
{
    static const int64_t sizes[] = {100, 512, 128, 120};
    static const double often[] = {10, 1, 10, 10}, once[] = {1, 1, 1, 1};

    EXPECT_STR("512 alone covers them with 75 % padding; 128 and 512 with 8 % padding; 100, 128 "
               "and 512 with 2 % padding",
               buckets(sizes, often, 4));
    EXPECT_STR("512 alone covers them with 58 % padding; 128 and 512 with 4 % padding",
               buckets(sizes, once, 4));
    EXPECT_STR("", buckets(sizes, once, 1));
}
