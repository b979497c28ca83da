/* Facts about explanations: which class the history of a run gives evidence for. */
#include "history_help.h"

TEST(a_first_program_is_not_explained)
{
    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 3);
    ran(&r, "aaa");
    EXPECT_CLASS("nothing", judged(&r, 0));
    end(&r);
}

TEST(a_value_that_drifts_is_a_constant_and_one_that_counts_is_a_counter)
{
    start(&r);
    compile_of(&r, 4, "0.5", "", "jit_f", 1);
    compile_of(&r, 4, "0.25", "", "jit_f", 1);
    compile_of(&r, 4, "0.2", "", "jit_f", 1);
    ran(&r, "abc");
    EXPECT_CLASS("baked-constant", judged(&r, 2));
    EXPECT_INT(7, judged(&r, 2)->origin.line);
    end(&r);
    start(&r);
    compile_of(&r, 4, "3.0", "", "jit_f", 1);
    compile_of(&r, 4, "4.0", "", "jit_f", 1);
    compile_of(&r, 4, "5.0", "", "jit_f", 1);
    ran(&r, "abc");
    EXPECT_CLASS("python-counter", judged(&r, 1));
    EXPECT_CLASS("python-counter", judged(&r, 2));
    EXPECT_INT(7, judged(&r, 2)->origin.line);
    end(&r);
}

TEST(two_values_are_not_a_counter)
{
    start(&r);
    compile_of(&r, 4, "3.0", "", "jit_f", 5);
    compile_of(&r, 4, "4.0", "", "jit_f", 5);
    ran(&r, "aaaaabbbbb");
    EXPECT_CLASS("baked-constant", judged(&r, 1));
    end(&r);
}

TEST(a_number_that_stays_for_several_calls_is_not_a_counter)
{
    start(&r);
    compile_of(&r, 4, "3.0", "", "jit_f", 2);
    compile_of(&r, 4, "4.0", "", "jit_f", 2);
    compile_of(&r, 4, "5.0", "", "jit_f", 2);
    ran(&r, "aabbcc");
    EXPECT_CLASS("baked-constant", judged(&r, 1));
    EXPECT_CLASS("baked-constant", judged(&r, 2));
    end(&r);
}

TEST(operations_that_go_where_a_constant_changed_are_that_constant)
{
    const char *more = "%b = stablehlo.sqrt %a : tensor<4x4xf32> "
                       "loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n";

    start(&r);
    compile_of(&r, 4, "0.7", more, "jit_f", 3);
    compile_of(&r, 4, "0.8", more, "jit_f", 3);
    compile_of(&r, 4, "0.8", "", "jit_f", 3);
    ran(&r, "aaabbbccc");
    EXPECT_CLASS("baked-constant", judged(&r, 1));
    EXPECT_CLASS("baked-constant", judged(&r, 2));
    EXPECT_INT(7, judged(&r, 2)->origin.line);
    end(&r);
    start(&r); /* no constant changed before */
    compile_of(&r, 4, "0.8", more, "jit_f", 3);
    compile_of(&r, 4, "0.8", "", "jit_f", 3);
    ran(&r, "aaabbb");
    EXPECT_CLASS("graph-change", judged(&r, 1));
    end(&r);
}

TEST(a_bias_correction_is_the_optimizers)
{
    start(&r);
    compile_of(&r, 4, "0.1", "", "jit_f", 1);
    compile_of(&r, 4, "0.19", "", "jit_f", 1);
    compile_of(&r, 4, "0.271", "", "jit_f", 1);
    compile_of(&r, 4, "0.3439", "", "jit_f", 1);
    ran(&r, "abcd");
    EXPECT_CLASS("optimizer-scalar", judged(&r, 3));
    end(&r);
}

TEST(a_short_batch_that_comes_alone_is_the_last_one)
{
    start(&r);
    compile_of(&r, 16, "1.5", "", "jit_f", 6);
    compile_of(&r, 12, "1.5", "", "jit_f", 2);
    ran(&r, "aaabaaab");
    EXPECT_CLASS("last-batch", judged(&r, 1));
    EXPECT_INT(STET_SURE_CERTAIN, judged(&r, 1)->sure);
    end(&r);
}

TEST(a_short_batch_that_ends_each_pass_of_two_is_the_last_one)
{
    start(&r);
    compile_of(&r, 16, "1.5", "", "jit_f", 3);
    compile_of(&r, 12, "1.5", "", "jit_f", 3);
    ran(&r, "ababab");
    EXPECT_CLASS("last-batch", judged(&r, 1));
    EXPECT_INT(STET_SURE_LIKELY, judged(&r, 1)->sure);
    end(&r);
}

TEST(a_short_batch_that_comes_irregularly_is_not_the_last_one)
{
    start(&r);
    compile_of(&r, 16, "1.5", "", "jit_f", 9);
    compile_of(&r, 12, "1.5", "", "jit_f", 2);
    ran(&r, "aaabaaaaaba");
    EXPECT_CLASS("shape-drift", judged(&r, 1));
    end(&r);
    start(&r); /* an evaluation comes between the passes */
    compile_of(&r, 16, "1.5", "", "jit_f", 14);
    compile_of(&r, 12, "1.5", "", "jit_f", 3);
    ran(&r, "aaabaaaaabaaaaab");
    EXPECT_CLASS("last-batch", judged(&r, 1));
    end(&r);
}

TEST(a_last_batch_that_has_not_run_yet_is_one_like_those_before)
{
    start(&r);
    compile_of(&r, 16, "1.5", "", "jit_f", 3);
    compile_of(&r, 12, "1.5", "", "jit_f", 1);
    compile_of(&r, 16, "2.5", "", "jit_f", 2);
    compile_of(&r, 12, "2.5", "", "jit_f", 0);
    ran(&r, "aaabcc");
    EXPECT_CLASS("last-batch", judged(&r, 1));
    EXPECT_INT(2, judged(&r, 3)->against);
    EXPECT_CLASS("last-batch", judged(&r, 3));
    end(&r);
}

TEST(sizes_that_come_and_go_are_drift)
{
    start(&r);
    compile_of(&r, 16, "1.5", "", "jit_f", 3);
    compile_of(&r, 12, "1.5", "", "jit_f", 3);
    ran(&r, "abbaba");
    EXPECT_CLASS("shape-drift", judged(&r, 1));
    compile_of(&r, 8, "1.5", "", "jit_f", 1);
    ran(&r, "c");
    EXPECT_CLASS("shape-drift", judged(&r, 2));
    EXPECT_INT(7, judged(&r, 2)->origin.line);
    end(&r);
}

TEST(lines_never_seen_are_a_hidden_branch)
{
    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 5);
    compile_of(&r, 4, "1.5",
               "%b = stablehlo.exponential %a : tensor<4x4xf32> "
               "loc(\"f\"(\"/nowhere/train.py\":8:5 to :9))\n",
               "jit_f", 1);
    ran(&r, "aaaaab");
    EXPECT_CLASS("hidden-branch", judged(&r, 1));
    EXPECT_INT(8, judged(&r, 1)->origin.line);
    end(&r);
}

TEST(without_lines_operations_on_top_of_a_program_that_ran_are_a_hidden_branch)
{
    const char *more = "%b = stablehlo.sqrt %a : tensor<4xf32>\n";

    start(&r);
    graph_of(&r, "1.5", "", 20);
    graph_of(&r, "1.5", more, 20);
    ran(&r, "aaab");
    EXPECT_CLASS("hidden-branch", judged(&r, 1));
    EXPECT_INT(STET_SURE_LIKELY, judged(&r, 1)->sure);
    end(&r);
    start(&r); /* no branch that came late: it was the second of all */
    graph_of(&r, "1.5", "", 20);
    graph_of(&r, "1.5", more, 20);
    ran(&r, "ab");
    EXPECT_CLASS("graph-change", judged(&r, 1));
    end(&r);
}

TEST(a_sort_that_is_cut_elsewhere_is_a_topk)
{
    start(&r);
    largest_of(&r, 2);
    largest_of(&r, 3);
    ran(&r, "aab");
    EXPECT_CLASS("topk-k", judged(&r, 1));
    end(&r);
}

/* Of the second program; afterwards the source's file is gone, and `path` a pattern again. */
static const struct stet_finding *judged_of(char *path, int fd)
{
    const struct stet_finding *f = judged(&r, 1);

    unlink(path);
    close(fd);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    return f;
}

static const struct stet_finding *read_back(const char *file, uint32_t line, const char *order)
{
    static char path[] = "/tmp/stet-history-XXXXXX";
    const char *source = "for x in data:\n    y = f(x)\n    print(abs(y).item())\n";
    char frames[128];
    int fd = mkstemp(path);

    start(&r);
    r.file = path;
    EXPECT(fd >= 0 && write(fd, source, strlen(source)) == (ssize_t)strlen(source));
    torchtpu_of(&r, "train_L8C0_loss_of_tanh", "4x8", "tanh", COMPILED("__call__"), 2);
    snprintf(frames, sizeof frames, "\"run\"(\"%s\":%u:0)", file ? file : path, line);
    torchtpu_of(&r, "abs", "4", "abs", frames, 3);
    ran(&r, order);
    return judged_of(path, fd);
}

TEST(a_program_of_another_line_is_not_what_the_waiting_line_reads_back)
{
    const struct stet_finding *f = read_back(NULL, 3, "ababababab");

    EXPECT_CLASS("host-sync", f);
    end(&r);
    f = read_back("/p/site-packages/torch/optim/adam.py", 793, "ababababab");
    EXPECT_CLASS("nothing", f);
    end(&r);
}

TEST(what_is_read_after_the_loop_or_once_in_many_turns_does_not_hold_it_up)
{
    const struct stet_finding *f;

    f = read_back(NULL, 3, "aaaaaaaabbbbb");
    EXPECT_CLASS("nothing", f);
    end(&r);
    f = read_back(NULL, 3, "baaaaaaaaaab");
    EXPECT_CLASS("nothing", f);
    end(&r);
    f = read_back(NULL, 3, "bbbbaaaaaaaabbbbaaaaaaaabbbb");
    EXPECT_CLASS("nothing", f);
    end(&r);
    f = read_back(NULL, 3, "aabaabaab");
    EXPECT_CLASS("host-sync", f);
    end(&r);
}

/* An operation outside jit, c, in line 4 of a loop over f, a, and now and then over g, b. */
static void read_after(const char *order, const char *cause)
{
    static char path[] = "/tmp/stet-history-XXXXXX";
    const char *source = "for x in data:\n    y = f(x)\n    z = g(y)\n    print(float(z[0]))\n";
    int fd = mkstemp(path);

    start(&r);
    r.file = path;
    EXPECT(fd >= 0 && write(fd, source, strlen(source)) == (ssize_t)strlen(source));
    compile_of(&r, 4, "1.5", "", "jit_f", 9);
    compile_of(&r, 8, "1.5", "", "jit_g", 4);
    compile_of(&r, 12, "1.5", "", "jit_squeeze", 4);
    r.h.sightings[2].trigger.line = 4;
    r.h.sightings[2].eager = true;
    ran(&r, order);
    EXPECT_CLASS(cause, judged(&r, 2));
    end(&r);
    unlink(path);
    close(fd);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
}

TEST(what_is_read_of_another_function_now_and_then_does_not_hold_the_loop_up)
{
    read_after("aacaacaacaac", "host-sync");
    read_after("aabcaabcaabcaabc", "nothing");
}

/* `other` is first compiled when f has run three times, in line 4 of this source. */
static const struct stet_finding *first_of_other(const char *source)
{
    static char path[] = "/tmp/stet-history-XXXXXX";
    struct stet_err err = STET_ERR_INIT;
    int fd = mkstemp(path);

    start(&r);
    r.file = path;
    EXPECT(fd >= 0 && write(fd, source, strlen(source)) == (ssize_t)strlen(source));
    compile_of(&r, 4, "1.5", "", "jit_f", 5);
    compile_of(&r, 8, "1.5", "", "jit_other", 1);
    r.h.sightings[1].trigger.line = 4;
    ran(&r, "aaabaa");
    EXPECT_INT(STET_OK, stet_history_judge(&r.h, &err));
    return judged_of(path, fd);
}

/* f takes rows 0 and 1, then 2 and 3, in line 4; `scale` is static for jit. */
static const struct stet_finding *slice_of(const char *line)
{
    static char path[] = "/tmp/stet-history-XXXXXX";
    char source[256];
    int fd = mkstemp(path), n;

    start(&r);
    r.file = path;
    n = snprintf(source, sizeof source,
                 "import functools, jax\n"
                 "@functools.partial(jax.jit, static_argnames=('scale', 'at'))\n"
                 "def f(x, scale, at):\n    return %s\n",
                 line);
    EXPECT(fd >= 0 && write(fd, source, (size_t)n) == n);
    for (int from = 0; from < 4; from += 2) {
        snprintf(r.texts[r.count], sizeof r.texts[0],
                 "module @jit_f {\n"
                 "func.func public @main(%%x: tensor<8xf32>) -> tensor<2xf32> {\n"
                 "%%y = stablehlo.slice %%x [%d:%d] : (tensor<8xf32>) -> tensor<2xf32> "
                 "loc(\"f\"(\"%s\":4:5 to :9))\n"
                 "return %%y : tensor<2xf32>\n}\n}\n",
                 from, from + 2, path);
        add(&r, 20, 1);
    }
    ran(&r, "ab");
    return judged_of(path, fd);
}

TEST(a_static_argument_beside_a_slice_is_not_its_start)
{
    const struct stet_finding *f = slice_of("scale * x[at : at + 2]");

    EXPECT_CLASS("slice-start", f);
    EXPECT_INT(1, f->also_count);
    EXPECT_INT(STET_CAUSE_STATIC_ARGUMENT, f->also[0]);
    end(&r);
    f = slice_of("scale * x[START : START + 2]");
    EXPECT_CLASS("slice-start", f);
    EXPECT_INT(0, f->also_count);
    end(&r);
}

TEST(a_loop_until_a_value_chooses_no_program_and_a_condition_does)
{
    const struct stet_finding *f =
        first_of_other("def main():\n    while float(loss) > 1:\n        y = f(x)\n"
                       "        loss = other(y)\n");

    EXPECT(f->cause != STET_CAUSE_VALUE_BRANCH && (f->benign || f->cause == STET_CAUSE_NONE));
    end(&r);
    f = first_of_other("def main():\n    for x in data:\n        if float(f(x)) > 1:\n"
                       "            loss = other(x)\n");
    EXPECT_CLASS("value-branch", f);
    end(&r);
}

static bool says(struct stet_view text, const char *words)
{
    return text.len && memmem(text.ptr, text.len, words, strlen(words));
}

TEST(sizes_come_with_a_bound_and_buckets)
{
    const struct stet_finding *f;

    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 8);
    compile_of(&r, 6, "1.5", "", "jit_f", 1);
    compile_of(&r, 8, "1.5", "", "jit_f", 1);
    ran(&r, "aaaaaaaabc");
    f = judged(&r, 2);
    EXPECT_CLASS("shape-drift", f);
    EXPECT(says(f->evidence, "one bounded dimension would have absorbed it"));
    EXPECT(says(f->fix,
                "Of the 3 sizes seen, 8 alone covers them with 43 % padding; 4 and 8 with 4 %"));
    EXPECT(says(f->advice, "\"bounded\":{\"absorbs\":true}"));
    EXPECT(says(f->advice, "\"sizes\":[{\"size\":4,\"runs\":8},{\"size\":6,\"runs\":1}"));
    EXPECT(says(f->advice, "\"buckets\":[{\"sizes\":[8],\"padding\":0.42"));
    end(&r);
}

/* The size of a program is also that of one which differs from it in a constant alone. */
TEST(runs_of_a_size_count_whatever_else_drifts)
{
    static const char *const rates[] = {"0.5", "0.25", "0.75"};
    const struct stet_finding *f;

    start(&r);
    for (int k = 0; k < 3; k++) {
        compile_of(&r, 4, rates[k], "", "jit_f", 6);
        compile_of(&r, 6, rates[k], "", "jit_f", 2);
        compile_of(&r, 8, rates[k], "", "jit_f", 1);
    }
    ran(&r, "aaaaaabbcddddddeefgggggghhi");
    f = judged(&r, 2);
    EXPECT_CLASS("shape-drift", f);
    EXPECT(says(f->advice,
                "\"sizes\":[{\"size\":4,\"runs\":18},{\"size\":6,\"runs\":6},{\"size\":8,"
                "\"runs\":3}]"));
    EXPECT(says(f->fix, "Of the 3 sizes seen, 8 alone covers them with 39 % padding"));
    end(&r);
}

TEST(sizes_without_elements_get_no_buckets)
{
    const struct stet_finding *f;

    start(&r);
    compile_of(&r, 0, "1.5", "", "jit_f", 1);
    compile_of(&r, 6, "1.5", "", "jit_f", 1);
    compile_of(&r, 0, "2.5", "", "jit_f", 1);
    compile_of(&r, 7, "2.5", "", "jit_f", 1);
    ran(&r, "abcd");
    f = judged(&r, 1);
    EXPECT(f->fix.len && !says(f->fix, "seen, ."));
    end(&r);
}

TEST(buckets_cover_every_size_that_came)
{
    const struct stet_finding *f;

    start(&r);
    for (int i = 0; i < 20; i++)
        compile_of(&r, i % 2 ? 60 - i : 4 + i, "1.5", "", "jit_f", 1);
    ran(&r, "abcdefghijklmnopqrst");
    f = judged(&r, 19);
    EXPECT(says(f->fix, "Of the 20 sizes seen, 59 alone covers them"));
    /* 4 counts as 6. */
    EXPECT(says(f->advice, "\"sizes\":[{\"size\":6,\"runs\":2},{\"size\":8,\"runs\":1}"));
    EXPECT(says(f->advice, "{\"size\":59,\"runs\":1}],\"buckets\""));
    end(&r);
}

/* f(x) = [x, 0]: longer by one than its argument. */
static void longer_of(struct run *run, int size)
{
    snprintf(run->texts[run->count], sizeof run->texts[0],
             "module @jit_f {\n"
             "func.func public @main(%%x: tensor<%dxf32> loc(\"x\")) -> tensor<%dxf32> {\n"
             "%%c = stablehlo.constant dense<0.0> : tensor<1xf32>\n"
             "%%y = stablehlo.concatenate %%x, %%c, dim = 0 : (tensor<%dxf32>, tensor<1xf32>) -> "
             "tensor<%dxf32> loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n"
             "return %%y : tensor<%dxf32>\n}\n}\n",
             size, size + 1, size, size + 1, size + 1);
    add(run, 20, 1);
}

TEST(what_each_call_returns_longer_is_allocated_once)
{
    const struct stet_finding *f;

    start(&r);
    longer_of(&r, 4);
    longer_of(&r, 5);
    longer_of(&r, 6);
    ran(&r, "abc");
    f = judged(&r, 2);
    EXPECT_CLASS("shape-drift", f);
    EXPECT(says(f->evidence, "grows by 1 a call"));
    EXPECT(says(f->fix, "dynamic_update_slice") && !says(f->fix, "buckets"));
    end(&r);
    start(&r);
    longer_of(&r, 4);
    longer_of(&r, 7); /* not what the call before returned */
    longer_of(&r, 9);
    ran(&r, "abc");
    EXPECT(says(judged(&r, 2)->fix, "buckets"));
    end(&r);
}

/* f(x, w) = 2w of 16 elements, whatever the length of x is. */
static void beside_of(struct run *run, int size)
{
    snprintf(
        run->texts[run->count], sizeof run->texts[0],
        "module @jit_f {\n"
        "func.func public @main(%%x: tensor<%dxf32> loc(\"x\"), %%w: tensor<16xf32> loc(\"w\")) "
        "-> tensor<16xf32> {\n"
        "%%y = stablehlo.add %%w, %%w : tensor<16xf32> "
        "loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n"
        "return %%y : tensor<16xf32>\n}\n}\n",
        size);
    add(run, 20, 1);
}

TEST(a_weight_of_the_same_type_is_not_what_grows)
{
    start(&r);
    beside_of(&r, 8);
    beside_of(&r, 12);
    beside_of(&r, 16);
    ran(&r, "abc");
    EXPECT(!says(judged(&r, 2)->evidence, "each call takes what the call before returned"));
    end(&r);
}

/* p - rate * g of PyTorch/XLA, over a donated p; a rate of 0 or 1 is compiled in. */
static void update_of(struct run *run, const char *rate, const char *donated)
{
    bool passed = !rate;

    snprintf(run->texts[run->count], sizeof run->texts[0],
             "module @SyncTensorsGraph.%u {\n"
             "func.func public @main(%s%%p: tensor<4xf32> {jax.buffer_donor = %s}, "
             "%%g: tensor<4xf32>) -> tensor<4xf32> {\n%s%s%s"
             "%%b = stablehlo.broadcast_in_dim %%r, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
             "%%s = stablehlo.multiply %%g, %%b : tensor<4xf32>\n"
             "%%n = stablehlo.subtract %%p, %%s : tensor<4xf32>\n"
             "return %%n : tensor<4xf32>\n}\n}\n",
             run->count, passed ? "%r: tensor<f32>, " : "", donated,
             passed ? "" : "%r = stablehlo.constant dense<", passed ? "" : rate,
             passed ? "" : "> : tensor<f32>\n");
    add(run, 20, 3);
}

TEST(the_number_of_a_lazy_graph_does_not_belong_to_its_function_name)
{
    static const char text[] =
        "HloModule step2.7, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n"
        "\n"
        "ENTRY %step2.7 (p0.1: f32[4]) -> f32[4] {\n"
        "  %p0.1 = f32[4]{0} parameter(0)\n"
        "  ROOT %tanh.2 = f32[4]{0} tanh(f32[4]{0} %p0.1)\n"
        "}\n";
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;
    struct stet_arena arena;
    struct stet_traits t = {0};
    bool none = false;

    EXPECT(stet_view_is(stet_traits_function_of(STET_VIEW("SyncTensorsGraph.12")),
                        "SyncTensorsGraph"));
    EXPECT(stet_view_is(stet_traits_function_of(STET_VIEW("step2.7")), "step2"));
    EXPECT(stet_view_is(stet_traits_function_of(STET_VIEW("jit_step.7")), "step.7"));
    EXPECT_INT(STET_OK, stet_decode_hlo_text(&p, stet_view_str(text), &err));
    p.source = STET_SOURCE_HLO; /* as PyTorch/XLA sends it */
    stet_arena_init(&arena, 4096);
    stet_traits_make(&t, &p, &arena, &none);
    EXPECT_INT(STET_FRAMEWORK_TORCH_XLA, t.framework);
    EXPECT(stet_view_is(t.function, "step2")); /* not step1's */
    stet_arena_release(&arena);
    stet_program_release(&p);
}

TEST(a_learning_rate_of_zero_is_another_program_of_a_lazy_one)
{
    start(&r);
    update_of(&r, NULL, "true");
    update_of(&r, "0.0", "true");
    ran(&r, "aaabaab");
    EXPECT_CLASS("optimizer-scalar", judged(&r, 1));
    EXPECT_INT(0, judged(&r, 1)->also_count);
    EXPECT(says(judged(&r, 1)->evidence, "1 number that scales the update"));
    end(&r);
    start(&r); /* nothing is written back: only a number that is compiled in */
    update_of(&r, NULL, "false");
    update_of(&r, "1.0", "false");
    ran(&r, "aaab");
    EXPECT_CLASS("baked-constant", judged(&r, 1));
    end(&r);
}

/* `size` places made and added up, of PyTorch/XLA or of JAX. */
static void places_of(struct run *run, const char *module, int size)
{
    snprintf(
        run->texts[run->count], sizeof run->texts[0],
        "module @%s {\n"
        "func.func public @main(%%x: tensor<f32>) -> tensor<f32> {\n"
        "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%%b = \"stablehlo.broadcast\"(%%x) <{broadcast_sizes = array<i64: %d>}> : "
        "(tensor<f32>) -> tensor<%dxf32>\n"
        "%%t = stablehlo.tanh %%b : tensor<%dxf32>\n"
        "%%y = stablehlo.reduce(%%t init: %%z) applies stablehlo.add across dimensions = [0] : "
        "(tensor<%dxf32>, tensor<f32>) -> tensor<f32>\n"
        "return %%y : tensor<f32>\n}\n}\n",
        module, size, size, size, size);
    add(run, 20, 2);
}

TEST(a_size_that_a_lazy_program_makes_of_a_number_is_a_capacity)
{
    start(&r);
    places_of(&r, "SyncTensorsGraph.1", 20);
    places_of(&r, "SyncTensorsGraph.1", 16);
    ran(&r, "aabb");
    EXPECT_CLASS("capacity-leak", judged(&r, 1));
    EXPECT_INT(STET_SURE_LIKELY, judged(&r, 1)->sure);
    end(&r);
    start(&r); /* JAX would have shown the number */
    places_of(&r, "jit_f", 20);
    places_of(&r, "jit_f", 16);
    ran(&r, "aabb");
    EXPECT_CLASS("shape-drift", judged(&r, 1));
    end(&r);
}

TEST(several_causes_are_ranked_by_what_each_alone_would_add)
{
    const struct stet_finding *f;

    start(&r);
    compile_of(&r, 4, "1.5", "", "jit_f", 1);
    compile_of(&r, 4, "2.5", "", "jit_f", 1);
    compile_of(&r, 4, "3.25", "", "jit_f", 1);
    compile_of(&r, 6, "4.75", "", "jit_f", 1);
    ran(&r, "abcd");
    f = judged(&r, 3);
    EXPECT_CLASS("shape-drift", f);
    EXPECT_INT(1, f->also_count);
    EXPECT(says(f->evidence,
                "programs that each cause alone adds: 3 by baked-constant, 1 by shape-drift"));
    EXPECT(says(f->advice, "\"alone\":[{\"class\":\"baked-constant\",\"programs\":3,"));
    end(&r);
}
