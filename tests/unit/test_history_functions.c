/* Facts about explanations: which earlier program a compile is compared with, of which function and
 * rank. */
#include "history_help.h"

TEST(a_graph_without_a_waiting_line_is_matched_by_its_skeleton)
{
    start(&r);
    graph_of(&r, "1.5", "", 20);
    graph_of(&r, "2.5", "", 0);
    graph_of(&r, "3.5", "%b = stablehlo.sqrt %a : tensor<4xf32>\n", 0);
    ran(&r, "aabc");
    EXPECT_CLASS("baked-constant", judged(&r, 1));
    EXPECT_INT(0, judged(&r, 1)->against);
    EXPECT_CLASS("nothing", judged(&r, 2)); /* another one, of a line that is not known */
    end(&r);
}

TEST(the_same_program_again_is_reported_as_such)
{
    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 1);
    compile_of(&r, 4, "1.5", "", "jit_f", 1);
    compile_of(&r, 4, "1.5", "", "jit__lambda_", 1);
    ran(&r, "abc");
    EXPECT_CLASS("identical-rehash", judged(&r, 1));
    EXPECT_CLASS("fresh-jit", judged(&r, 2));
    end(&r);
}

TEST(the_same_program_of_another_function_object_was_jitted_again)
{
    start(&r);
    r.function = r.object = 1;
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    r.object = 2;
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    ran(&r, "abcabcabc");
    EXPECT_CLASS("identical-rehash", judged(&r, 1));
    EXPECT_CLASS("fresh-jit", judged(&r, 2));
    end(&r);
}

TEST(an_operation_and_a_function_of_the_same_program_are_two_things)
{
    start(&r);
    r.function = 1;
    r.library = true;
    compile_of(&r, 4, "1.5", "", "jit_convert", 1);
    r.function = 0; /* not read */
    r.library = false;
    compile_of(&r, 4, "1.5", "", "jit__where", 1);
    ran(&r, "ab");
    EXPECT_CLASS("nothing", judged(&r, 1));
    end(&r);
}

TEST(another_function_is_not_a_recompile)
{
    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 1);
    compile_of(&r, 8, "1.5", "", "jit_g", 1);
    ran(&r, "ab");
    EXPECT_CLASS("nothing", judged(&r, 1));
    end(&r);
}

TEST(a_compile_whose_function_was_not_read_is_of_the_last_of_its_name)
{
    start(&r);
    r.function = 1;
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    r.function = 2;
    compile_of(&r, 8, "1.5", "", "jit_f", 3);
    r.function = 0;
    compile_of(&r, 16, "1.5", "", "jit_f", 1);
    ran(&r, "aaabbbc");
    EXPECT_CLASS("nothing", judged(&r, 1));
    EXPECT_CLASS("shape-drift", judged(&r, 2));
    EXPECT_INT(1, judged(&r, 2)->against);
    end(&r);
}

/* f's program with another argument. Those of a call have names. */
static void half_of(struct run *run, const char *name, const char *op)
{
    snprintf(
        run->texts[run->count], sizeof run->texts[0],
        "module @jit_f {\nfunc.func public @main(%%x: tensor<4xf32>%s, %%r: tensor<8x4xf32>%s) "
        "-> tensor<4xf32> {\n"
        "%%y = stablehlo.%s %%x : tensor<4xf32> loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n"
        "return %%y : tensor<4xf32>\n}\n}\n",
        name, name, op);
    add(run, 20, 3);
}

TEST(the_backward_half_of_a_differentiated_function_is_a_program_of_its_own)
{
    start(&r);
    r.values = true;
    r.function = r.object = 1;
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    r.object = 0; /* the frames hold no call of the function */
    half_of(&r, "", "negate");
    half_of(&r, " loc(\"x\")", "abs"); /* compiled ahead: its arguments have names */
    ran(&r, "abababc");
    EXPECT_CLASS("nothing", judged(&r, 1));
    EXPECT_INT(0, judged(&r, 2)->against);
    end(&r);
}

TEST(a_call_of_what_was_compiled_ahead_is_compared_with_it)
{
    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 0); /* no call was seen */
    r.function = 1;
    compile_of(&r, 8, "1.5", "", "jit_f", 3);
    ran(&r, "bbb");
    EXPECT_INT(0, judged(&r, 1)->against);
    EXPECT_CLASS("shape-drift", judged(&r, 1));
    end(&r);
}

TEST(functions_that_a_factory_made_are_not_recompiles_of_each_other)
{
    start(&r);
    r.function = 1;
    r.object = 1;
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    r.object = 2;
    compile_of(&r, 8, "1.5", "", "jit_f", 3); /* made anew and called from the same line */
    snprintf(r.texts[2], sizeof r.texts[2],
             "module @jit_f {\nfunc.func public @main(%%x: tensor<6x4xf32> loc(\"x\")) -> "
             "tensor<6x4xf32> {\n%%y = stablehlo.tanh %%x : tensor<6x4xf32> "
             "loc(\"f\"(\"/nowhere/train.py\":9:5 to :9))\nreturn %%y : tensor<6x4xf32>\n}\n}\n");
    r.object = 3;
    add(&r, 30, 3); /* called from a line of its own */
    ran(&r, "abcabcabc");
    EXPECT_INT(0, judged(&r, 1)->against);
    EXPECT_CLASS("nothing", judged(&r, 2));
    end(&r);
}

/* Two objects of one function, with a constant each. */
static const struct stet_finding *objects_of(const char *order)
{
    uint64_t runs[2] = {0};

    start(&r);
    for (const char *p = order; *p; p++)
        runs[*p - 'a']++;
    r.function = r.object = 1;
    compile_of(&r, 4, "1.5", "", "jit_f", runs[0]);
    r.object = 2;
    compile_of(&r, 4, "2.5", "", "jit_f", runs[1]);
    ran(&r, order);
    return judged(&r, 1);
}

TEST(functions_of_a_table_that_all_run_in_each_turn_are_not_recompiles)
{
    EXPECT(objects_of("abababab")->benign);
    end(&r);
    EXPECT(!objects_of("aaaabbbb")->benign); /* the first one is not used any more */
    end(&r);
    EXPECT(!objects_of("aabaaabaaaab")->benign);
    end(&r);
}

TEST(functions_that_each_iteration_makes_again_are_not_recompiles_of_each_other)
{
    start(&r);
    r.function = 1;
    for (r.object = 1; r.object < 7; r.object++)
        compile_of(&r, 4, r.object % 2 ? "1.5" : "2.5", "", "jit_f", 1);
    ran(&r, "abcdef");
    EXPECT(judged(&r, 1)->benign);
    EXPECT_CLASS("fresh-jit", judged(&r, 2));
    EXPECT(!judged(&r, 2)->benign);
    end(&r);
}

TEST(a_line_that_runs_once_before_the_loop_is_a_start)
{
    static char path[] = "/tmp/stet-start-XXXXXX";
    const char *source = "f(x, True)\nf(x, False)\nfor x in data:\n    f(x, True)\n    g(x)\n";
    struct stet_frame at[] = {{.line = 1}, {.line = 2}, {.line = 4}};
    int fd = mkstemp(path);

    EXPECT(fd >= 0 && write(fd, source, strlen(source)) == (ssize_t)strlen(source));
    for (int late = 0; late < 2; late++) {
        start(&r);
        r.file = path;
        compile_of(&r, 4, "1.5", "", "jit_f", 1);
        compile_of(&r, 4, "2.5", "", "jit_f", 1);
        compile_of(&r, 8, "1.5", "", "jit_g", 9);
        for (uint32_t i = 0; i < 2; i++) {
            struct stet_frame *f = &at[i && late ? 2 : i];

            f->file = stet_view_str(path);
            r.h.sightings[i].trigger.line = (uint32_t)f->line;
            r.h.sightings[i].lines = (struct stet_frames){.items = f, .count = 1};
        }
        ran(&r, "abccccccccc");
        EXPECT(judged(&r, 1)->benign == !late);
        end(&r);
    }
    unlink(path);
    close(fd);
}

TEST(the_gradient_of_a_compiled_function_is_a_program_of_its_own)
{
    start(&r);
    torchtpu_of(&r, "train_L8C0_loss_of_tanh", "4x8", "tanh", COMPILED("__call__"), 20);
    torchtpu_of(&r, "export_L589C0_as_strided", "8", "exponential",
                COMPILED("_wrapped_bw_compiler"), 22);
    torchtpu_of(&r, "export_L589C0_as_strided", "6", "exponential",
                COMPILED("_wrapped_bw_compiler"), 22);
    ran(&r, "abacacab");
    EXPECT(stet_view_is(r.h.sightings[1].traits->function, "loss_of"));
    EXPECT_CLASS("nothing", judged(&r, 1));
    EXPECT_CLASS("shape-drift", judged(&r, 2)); /* the gradient itself, compiled twice */
    EXPECT_INT(1, judged(&r, 2)->against);
    end(&r);
}

TEST(a_program_of_one_rank_alone_is_reported)
{
    struct stet_order orders[2] = {0};
    const struct stet_finding *f;

    start(&r);
    r.h.orders = orders;
    r.h.order_count = 2;
    for (uint32_t rank = 0; rank < 2; rank++) {
        r.rank = rank;
        compile_of(&r, 4, "1.5", "", "jit_f", 5);
        compile_of(&r, 8, "1.5", "", "jit_f", 5);
    }
    compile_of(&r, 6, "1.5", "", "jit_f", 1);
    f = judged(&r, 3);
    EXPECT_INT(0, f->also_count); /* both have it */
    f = judged(&r, 4);
    EXPECT_CLASS("shape-drift", f);
    EXPECT_INT(1, f->also_count);
    EXPECT_INT(STET_CAUSE_RANK_DIVERGENCE, f->also[0]);
    EXPECT(memmem(f->evidence.ptr, f->evidence.len, "rank 1 alone has this program", 29));
    end(&r);
}

/* Two ranks run a loop, and rank 1 alone compiles one function more. */
static const struct stet_finding *alone(bool shared, const char *more)
{
    static struct stet_order orders[2];

    start(&r);
    r.h.orders = orders;
    r.h.order_count = 2;
    r.shared = shared;
    for (uint32_t rank = 0; rank < 2; rank++) {
        r.rank = rank;
        compile_of(&r, 4, "1.5", "", "jit_f", 5);
        compile_of(&r, 4, "2.5", "", "jit_both", 1);
        if (rank == 1)
            compile_of(&r, 6, "1.5", more, "jit_alone", 2);
    }
    EXPECT_INT(STET_CAUSE_NONE, judged(&r, 3)->cause); /* both have it */
    return judged(&r, 4);
}

#define SUM_OF_ALL                                                                                 \
    "%b = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : "                      \
    "tensor<1x2xi64>}> ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"                              \
    "%s = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : "            \
    "(tensor<6x4xf32>) -> tensor<6x4xf32>\n"

TEST(a_function_that_needs_other_ranks_and_one_compiles_alone_is_reported)
{
    const struct stet_finding *f = alone(true, SUM_OF_ALL);

    EXPECT_CLASS("rank-divergence", f);
    EXPECT(!f->benign && f->fix.len);
    EXPECT(memmem(f->evidence.ptr, f->evidence.len, "rank 1 alone compiled this function", 35));
    end(&r);
}

/* An evaluation, or a log, on one rank. */
TEST(a_function_that_needs_no_other_rank_may_be_compiled_by_one)
{
    EXPECT_INT(STET_CAUSE_NONE, alone(true, "")->cause);
    end(&r);
    EXPECT_INT(STET_CAUSE_NONE, alone(false, SUM_OF_ALL)->cause); /* among its own devices */
    end(&r);
}
