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

/* Two programs of one line of an eager TorchTPU model; the second is compiled in a step of its own.
 */
static bool is_told(uint64_t step)
{
    bool told;

    start(&r);
    r.stepped = true;
    compile_of(&r, 4, "2.0", "", "tt_jit_towers_L29C0_forward_sum", 6);
    r.step = step;
    compile_of(&r, 8, "2.0", "", "tt_jit_towers_L29C0_forward_sum", 6);
    ran(&r, "abababababab");
    told = !judged(&r, 1)->benign;
    end(&r);
    return told;
}

TEST(two_operations_of_one_line_that_both_run_in_each_iteration_are_not_recompiles)
{
    EXPECT(!is_told(0));
    EXPECT(is_told(3));
}
