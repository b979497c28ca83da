/* Facts about what frameworks' logs say, on lines as JAX 0.10 and PyTorch/XLA 2.9 write them. */
#include "test.h"

#include "base/mem.h"
#include "ingest/framework_log.h"

static const char *text_of(struct stet_view v)
{
    static char text[4][512];
    static int turn;
    char *out = text[turn++ & 3];

    snprintf(out, sizeof text[0], "%.*s", STET_FMT(v));
    return out;
}

static void read_log(struct stet_framework_log *l, const char *text)
{
    struct stet_err err = STET_ERR_INIT;

    stet_framework_log_init(l);
    EXPECT_INT(STET_OK, stet_framework_log_read(l, stet_view_str(text), &err));
}

TEST(times_of_a_function_are_added_up)
{
    struct stet_framework_log l;

    read_log(&l, "Finished tracing step for jit in 0.007 sec\n"
                 "Compiling jit(step) with global shapes and types (ShapedArray(float32[4]),).\n"
                 "WARNING:2026-01-01 jax._src.dispatch:182: Finished jaxpr to MLIR module "
                 "conversion jit(step) in 0.040 sec\n"
                 "Finished XLA compilation of jit(step) in 0.2 sec\n"
                 "Finished tracing + transforming step for pjit in 0.001 sec\n"
                 "Finished in time\n");
    EXPECT_INT(1, l.function_count);
    EXPECT_STR("step", text_of(l.functions[0].name));
    EXPECT_INT(2, l.functions[0].traces);
    EXPECT_INT(8000000, l.functions[0].trace_ns);
    EXPECT_INT(40000000, l.functions[0].lower_ns);
    EXPECT_INT(200000000, l.functions[0].compile_ns);
    stet_framework_log_release(&l);
}

TEST(a_tracing_miss_has_a_place_a_function_and_a_reason)
{
    struct stet_framework_log l;

    read_log(&l, "TRACING CACHE MISS at /home/me/train.py:7:8 (main):\n"
                 "  never seen function:\n"
                 "    step id=140326816072864 defined at /home/me/train.py:2\n"
                 "Finished tracing step for jit in 0.007 sec\n"
                 "TRACING CACHE MISS at /home/me/train.py:9 (main):\n"
                 "  for step defined at /home/me/train.py:2\n"
                 "  all previously seen cache keys differ. For the closest previous key:\n"
                 "  different input types:\n"
                 "  * at x, now f32[6] and before f32[4]\n"
                 "  * at y, now f32[6] and before f32[4]\n"
                 "6.0\n");
    EXPECT_INT(2, l.miss_count);
    EXPECT(l.misses[0].first && !l.misses[1].first);
    EXPECT_STR("step", text_of(l.misses[0].function));
    EXPECT_INT(7, l.misses[0].line);
    EXPECT_STR("step", text_of(l.misses[1].function));
    EXPECT_STR("/home/me/train.py", text_of(l.misses[1].file));
    EXPECT_STR("main", text_of(l.misses[1].caller));
    EXPECT_INT(9, l.misses[1].line);
    EXPECT_STR("different input types: * at x, now f32[6] and before f32[4]; * at y, now f32[6] "
               "and before f32[4]",
               text_of(l.misses[1].why));
    EXPECT_INT(1, l.function_count);
    stet_framework_log_release(&l);
}

TEST(graphs_of_one_cause_and_line_are_counted)
{
    const char *block =
        "\n%s Analysis: ======\n%s Analysis: %s Cause\n"
        "%s Analysis:   user torch_xla.sync\n%s Analysis: Graph Info: \n"
        "%s Analysis:   Graph Hash: af18\n"
        "%s Analysis: Python Frame Triggered Execution: \n"
        "%s Analysis:   sync (/env/lib/python3.11/site-packages/torch_xla/a.py:87)\n"
        "%s Analysis:   main (/home/me/train.py:8)\n"
        "%s Analysis:   <module> (/home/me/train.py:19)\n"
        "%s Analysis: ------\n%s Analysis: ======\n";
    static const char *const kinds[] = {"Compilation", "Execution", "Execution"};
    struct stet_framework_log l;
    char text[8192];
    size_t n = 0;

    for (int i = 0; i < 3; i++) {
        const char *k = kinds[i];

        n += (size_t)snprintf(text + n, sizeof text - n, block, k, k, k, k, k, k, k, k, k, k, k, k);
    }
    read_log(&l, text);
    EXPECT_INT(1, l.graph_count);
    EXPECT_INT(1, l.graphs[0].compilations);
    EXPECT_INT(2, l.graphs[0].executions);
    EXPECT_INT(8, l.graphs[0].line);
    EXPECT_STR("user torch_xla.sync", text_of(l.graphs[0].cause));
    EXPECT_STR("main", text_of(l.graphs[0].caller));
    stet_framework_log_release(&l);
}

TEST(truncated_and_unknown_lines_are_skipped)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "TRACING CACHE MISS at ",
        "TRACING CACHE MISS at :\n  ",
        "Finished tracing  for  in sec",
        "Finished tracing f for jit in 1e99 sec\n",
        "Compilation Analysis: Compilation Cause\nCompilation Analysis:",
        "  defined at \n",
        "TRACING CACHE MISS at x (\n   defined at \n\r\n  *\r\n"};
    struct stet_framework_log l;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        read_log(&l, texts[i]);
        stet_framework_log_release(&l);
    }
}
