/* Repeated blocks of a program, and programs from which operations are left out. */
#include "test.h"

#include "decode/decode.h"
#include "fit/fit_ablate.h"
#include "fit/fit_blocks.h"
#include "program/ops.h"

#include <stdio.h>
#include <stdlib.h>

static struct stet_program p;
static struct stet_fit_blocks blocks;
static struct stet_buf text, source; /* the program points into the second */

#define T "tensor<4x4xf32>"

static void read_program(const char *body)
{
    struct stet_err err = STET_ERR_INIT;

    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_str(body), &err));
    EXPECT_INT(STET_OK, stet_fit_blocks_find(&blocks, &p, NULL));
}

static void release(void)
{
    stet_fit_blocks_release(&blocks);
    stet_buf_release(&text);
    stet_program_release(&p);
    stet_buf_release(&source);
}

/* One layer of nine operations at lines 5 to 7; with another operation at its end if `odd`. */
static void put_layer(struct stet_buf *b, int n, const char *odd)
{
    static const char *const ops[] = {"add",     "multiply", "subtract", "maximum",
                                      "minimum", "add",      "power",    "divide"};

    for (int i = 0; i < 8; i++)
        stet_buf_printf(b, "    %%v%d_%d = stablehlo.%s %%v%d_%d, %%w : " T " loc(\"m.py\":%d:1)\n",
                        n, i + 1, ops[i], n, i, 5 + i / 4);
    stet_buf_printf(b, "    %%v%d_0 = stablehlo.%s %%v%d_8 : " T " loc(\"m.py\":7:1)\n", n + 1,
                    odd ? odd : "tanh", n);
}

static void make(int layers, int odd_layer)
{
    stet_buf_str(&source, "module @jit_f {\n"
                          "  func.func @main(%w: " T " {jax.buffer_donor = true}, %x: " T
                          " {tf.aliasing_output = 0 : i32}) -> (" T " {jax.result_info = \"\"}) {\n"
                          "    %v0_0 = stablehlo.cosine %x : " T " loc(\"m.py\":3:1)\n");
    for (int i = 0; i < layers; i++)
        put_layer(&source, i, i == odd_layer ? "sine" : NULL);
    stet_buf_printf(&source, "    return %%v%d_0 : " T "\n  }\n}\n", layers);
    stet_buf_char(&source, '\0');
    read_program(source.ptr);
}

static uint32_t body_ops(const struct stet_program *of)
{
    return stet_op_region(of->entry, 0)->blocks[0]->op_count;
}

TEST(copies_of_a_block_are_found_with_their_lines)
{
    make(5, -1);
    EXPECT_INT(1, blocks.items.count);
    EXPECT_INT(5, blocks.items.items[0].copies);
    EXPECT_INT(9, blocks.items.items[0].operations);
    EXPECT_INT(5, blocks.items.items[0].line);
    EXPECT_INT(7, blocks.items.items[0].end_line);
    EXPECT_INT(4, blocks.lines.count);
    EXPECT_INT(5, blocks.lines.items[0].line); /* the one with most operations */
    EXPECT_INT(20, blocks.lines.items[0].operations);
    release();
}

TEST(a_layer_that_differs_ends_the_block)
{
    make(6, 4);
    EXPECT_INT(1, blocks.items.count);
    EXPECT_INT(4, blocks.items.items[0].copies);
    release();
}

TEST(a_program_without_copies_has_no_blocks)
{
    make(1, -1);
    EXPECT_INT(0, blocks.items.count);
    release();
}

/* The results of what is left out are arguments, and what only that reads is a result. */
TEST(without_the_copies_the_first_block_stays)
{
    struct stet_program again;

    make(5, -1);
    EXPECT_INT(STET_OK, stet_fit_ablate(&text, &p, blocks.copy, NULL));
    EXPECT_INT(STET_OK, stet_decode(&again, stet_buf_as_view(&text), NULL));
    EXPECT_INT(1 + 9 + 1, body_ops(&again)); /* with the first one and the return */
    EXPECT_INT(3, again.argument_count);     /* the value that was returned */
    EXPECT_INT(2, again.output_count);       /* the first block's */
    EXPECT(again.arguments[1].alias == -1 && !again.arguments[0].donor);
    stet_program_release(&again);
    release();
}

TEST(without_a_line_the_others_stay_as_they_are)
{
    struct stet_program again;
    uint8_t *marks;

    make(3, -1);
    marks = calloc(p.op_count + 1, 1);
    for (uint32_t i = 0; i < p.op_count; i++)
        marks[i] = blocks.line_of[i] == 1;
    EXPECT_INT(STET_OK, stet_fit_ablate(&text, &p, marks, NULL));
    EXPECT_INT(STET_OK, stet_decode(&again, stet_buf_as_view(&text), NULL));
    EXPECT_INT(body_ops(&p) - 3 * 4, body_ops(&again));
    EXPECT_INT(2 + 3, again.argument_count);
    EXPECT_INT(1 + 3, again.output_count);
    stet_program_release(&again);
    free(marks);
    release();
}

TEST(a_whole_copy_is_the_same_program)
{
    struct stet_program again;
    uint8_t *none;

    make(2, -1);
    none = calloc(p.op_count + 1, 1);
    EXPECT_INT(STET_OK, stet_fit_ablate(&text, &p, none, NULL));
    EXPECT_INT(STET_OK, stet_decode(&again, stet_buf_as_view(&text), NULL));
    EXPECT_INT(p.op_count, again.op_count);
    EXPECT_INT(p.argument_count, again.argument_count);
    stet_program_release(&again);
    free(none);
    release();
}

/* A token cannot be an argument, so what makes and takes one stays. */
TEST(operations_with_tokens_stay)
{
    struct stet_program again;
    uint8_t *all;

    read_program("module @m {\n"
                 "  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                 "    %t = stablehlo.create_token : !stablehlo.token\n"
                 "    %u = \"stablehlo.after_all\"(%t) : (!stablehlo.token) -> !stablehlo.token\n"
                 "    %y = stablehlo.negate %x : tensor<4xf32>\n"
                 "    return %y : tensor<4xf32>\n  }\n}\n");
    all = malloc(p.op_count + 1);
    memset(all, 1, p.op_count + 1);
    EXPECT_INT(STET_OK, stet_fit_ablate(&text, &p, all, NULL));
    EXPECT_INT(STET_OK, stet_decode(&again, stet_buf_as_view(&text), NULL));
    EXPECT_INT(3, body_ops(&again));
    EXPECT_INT(2, again.argument_count);
    stet_program_release(&again);
    free(all);
    release();
}

TEST(hlo_is_not_written)
{
    struct stet_err err = STET_ERR_INIT;
    uint8_t marks[16] = {0};

    read_program("HloModule m\n\nENTRY %main (a: f32[16]) -> f32[16] {\n"
                 "  %a = f32[16]{0} parameter(0)\n  ROOT %n = f32[16]{0} negate(%a)\n}\n");
    EXPECT_INT(STET_UNSUPPORTED, stet_fit_ablate(&text, &p, marks, &err));
    release();
}
