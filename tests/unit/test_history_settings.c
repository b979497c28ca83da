/* Facts about settings of JAX and modes of models that change inside a run. */
#include "history_help.h"

static char script[64];

static void write_script(const char *text)
{
    int fd;

    snprintf(script, sizeof script, "/tmp/stet-settings-XXXXXX");
    fd = mkstemp(script);
    EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    r.file = script;
}

/* f(x) = x @ x, with an attribute of the product. */
static void product_of(const char *precision, uint32_t line)
{
    snprintf(r.texts[r.count], sizeof r.texts[0],
             "module @jit_f {\n"
             "func.func public @main(%%x: tensor<4x4xf32> loc(\"x\")) -> tensor<4x4xf32> {\n"
             "%%a = stablehlo.dot_general %%x, %%x, contracting_dims = [1] x [0]%s : "
             "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> "
             "loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n"
             "return %%a : tensor<4x4xf32>\n}\n}\n",
             precision);
    add(&r, line, 3);
}

TEST(products_of_another_precision_are_a_setting_that_changed)
{
    start(&r);
    write_script("import jax\ndef train():\n    for e in range(4):\n"
                 "        with jax.default_matmul_precision('highest'):\n"
                 "            f(x)\n");
    product_of("", 5);
    product_of(", precision = [HIGHEST, HIGHEST]", 5);
    ran(&r, "aaabbb");
    EXPECT_CLASS("options-drift", judged(&r, 1));
    EXPECT_INT(STET_SURE_LIKELY, judged(&r, 1)->sure);
    EXPECT_INT(4, judged(&r, 1)->source.line);
    end(&r);
    unlink(script);
}

TEST(a_setting_of_the_whole_file_is_not_the_line)
{
    start(&r);
    write_script("import jax\njax.config.update('jax_default_matmul_precision', 'high')\n"
                 "def train():\n    f(x)\n");
    product_of("", 4);
    product_of(", precision = [HIGHEST, HIGHEST]", 4);
    ran(&r, "aaabbb");
    EXPECT_CLASS("options-drift", judged(&r, 1));
    EXPECT(judged(&r, 1)->source.line != 2);
    end(&r);
    unlink(script);
}

/* Operations on top of a program, in a line that it had before. */
static const char dropout[] = "%b = stablehlo.sqrt %a : tensor<4x4xf32> "
                              "loc(\"f\"(\"/nowhere/train.py\":9:5 to :9))\n";

TEST(a_model_is_switched_by_a_line_of_any_function_that_runs_in_the_loop)
{
    start(&r);
    write_script("def draw(model):\n    model.eval()\n    show(model)\n"
                 "def fit(model):\n    model.train()\n    for e in range(9):\n"
                 "        f(model)\n        draw(model)\n");
    compile_of(&r, 4, "1.5", dropout, "jit_f", 5);
    compile_of(&r, 4, "1.5", "", "jit_f", 5);
    r.h.sightings[0].trigger.line = r.h.sightings[1].trigger.line = 7;
    ran(&r, "aaaaabbbbb");
    EXPECT_CLASS("hidden-branch", judged(&r, 1));
    EXPECT_INT(2, judged(&r, 1)->source.line); /* operations went, so it evaluates */
    end(&r);
    unlink(script);
}
