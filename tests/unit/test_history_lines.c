/* Facts about how sure the line to edit is, by where it is. */
#include "history_help.h"

#include "explain/history_internal.h"

static char path[64];

/* A run whose constant changed, in a file of its own: line 2 is traced, line 5 waits. */
static struct stet_finding *changed(void)
{
    static const char source[] =
        "def f(x):\n    return x * 3\nfor x in data:\n    k = 3\n"
        "    f(x)\n    rows.append(k)\n    if float(g(x)) > 3:\n        k = 4\n";
    int fd;

    snprintf(path, sizeof path, "/tmp/stet-lines-XXXXXX");
    fd = mkstemp(path);
    EXPECT(fd >= 0 && write(fd, source, sizeof source - 1) == (ssize_t)sizeof source - 1);
    close(fd);
    start(&r);
    r.file = path;
    for (int i = 0; i < 2; i++) {
        snprintf(r.texts[i], sizeof r.texts[i],
                 "module @jit_f {\nfunc.func public @main(%%x: tensor<4xf32> loc(\"x\")) -> "
                 "tensor<4xf32> {\n%%c = stablehlo.constant dense<%d.0> : tensor<4xf32>\n"
                 "%%y = stablehlo.multiply %%x, %%c : tensor<4xf32> "
                 "loc(\"f\"(\"%s\":2:5 to :9))\nreturn %%y : tensor<4xf32>\n}\n}\n",
                 3 + 2 * i, path);
        add(&r, 5, 2);
    }
    ran(&r, "aabb");
    return (struct stet_finding *)(uintptr_t)judged(&r, 1);
}

static enum stet_sure weighed(struct stet_finding *f, enum stet_cause cause, uint32_t line)
{
    f->cause = cause;
    f->source = (struct stet_place){.file = stet_view_str(path), .line = line};
    f->source_sure = STET_SURE_CERTAIN;
    stet_lines_weigh(&r.h, f);
    return f->source_sure;
}

TEST(a_value_is_not_decided_in_what_is_compiled_or_where_it_is_passed)
{
    struct stet_finding *f = changed();

    EXPECT_INT(STET_SURE_CERTAIN, weighed(f, STET_CAUSE_BAKED_CONSTANT, 4));
    EXPECT_INT(STET_SURE_LIKELY, weighed(f, STET_CAUSE_BAKED_CONSTANT, 2));
    EXPECT_INT(STET_SURE_LIKELY, weighed(f, STET_CAUSE_SHAPE_DRIFT, 5));
    EXPECT_INT(STET_SURE_LIKELY, weighed(f, STET_CAUSE_SHAPE_DRIFT, 6)); /* into a list */
    EXPECT_INT(STET_SURE_CERTAIN, weighed(f, STET_CAUSE_PYTHON_LOOP, 2));
    EXPECT_INT(STET_SURE_CERTAIN, weighed(f, STET_CAUSE_FRESH_JIT, 5));
    EXPECT_INT(STET_SURE_CERTAIN, weighed(f, STET_CAUSE_HIDDEN_BRANCH, 4));
    EXPECT_INT(STET_SURE_LIKELY, weighed(f, STET_CAUSE_HIDDEN_BRANCH, 7)); /* reads back */
    end(&r);
    unlink(path);
}

enum { NO_STEP = -1 };

/* Two programs of one line of an eager TorchTPU model; the second is compiled in a step of its own.
 */
static bool is_told(int step, const char *order)
{
    bool told;

    start(&r);
    r.stepped = step != NO_STEP;
    compile_of(&r, 4, "2.0", "", "tt_jit_towers_L29C0_forward_sum", 6);
    r.step = r.stepped ? (uint64_t)step : 0;
    compile_of(&r, 8, "2.0", "", "tt_jit_towers_L29C0_forward_sum", 6);
    ran(&r, order);
    told = !judged(&r, 1)->benign;
    end(&r);
    return told;
}

TEST(two_operations_of_one_line_that_both_run_in_each_iteration_are_not_recompiles)
{
    EXPECT(!is_told(0, "abababababab"));
    EXPECT(!is_told(0, "abbabbabbabb")); /* another line runs one of the programs, too */
    EXPECT(is_told(3, "abababababab"));
    EXPECT(!is_told(NO_STEP, "abababababab"));
    EXPECT(is_told(NO_STEP, "aaaabbbbb"));
}

/* What positions select of the rows of a batch. */
static void selected_of(int batch, int positions)
{
    snprintf(r.texts[r.count], sizeof r.texts[0],
             "module @SyncTensorsGraph.%u {\n"
             "func.func public @main(%%x: tensor<%dxf32>, %%at: tensor<%dx1xi64>) -> "
             "tensor<%dxf32> {\n"
             "%%f = stablehlo.reshape %%at : (tensor<%dx1xi64>) -> tensor<%dxi64>\n"
             "%%i = stablehlo.reshape %%f : (tensor<%dxi64>) -> tensor<%dx1xi64>\n"
             "%%y = \"stablehlo.gather\"(%%x, %%i) <{dimension_numbers = #stablehlo.gather<"
             "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
             "indices_are_sorted = false, slice_sizes = array<i64: 1>}> : "
             "(tensor<%dxf32>, tensor<%dx1xi64>) -> tensor<%dxf32>\n"
             "return %%y : tensor<%dxf32>\n}\n}\n",
             r.count, batch, positions, positions, positions, positions, positions, positions,
             batch, positions, positions, positions);
    add(&r, 20, 1);
}

TEST(a_size_that_changes_beside_a_selection_is_a_cause_beside_it)
{
    for (int batch = 8; batch >= 6; batch -= 2) {
        const struct stet_finding *f;

        start(&r);
        selected_of(8, 5);
        selected_of(batch, 3);
        f = judged(&r, 1);
        EXPECT_INT(STET_CAUSE_MASK_GATHER, f->cause);
        EXPECT_INT(batch == 8 ? 0 : 1, f->also_count);
        EXPECT(stet_view_contains(f->evidence, "selects, 3 of them"));
        EXPECT_INT(batch == 8 ? STET_SURE_CERTAIN : STET_SURE_LIKELY, f->sure);
        end(&r);
    }
}
