/* Facts about what is around a line of Python source: conditions, functions, loops, loaders. A
 * script marks the line that a question is about with `# ask`, and the line of the answer with `#
 * here`. */
#include "python_help.h"

TEST(the_conditions_and_the_function_around_a_line_are_found)
{
    begin("", "def f(x):\n    if (x and\n            x > 3):  # second\n        return 1  # body\n"
              "    while x: x = 0  # single\n    return 2  # plain\nz = 1  # module\n");
    EXPECT(stet_python_is_condition(&sources, here(), 2));
    EXPECT(stet_python_is_condition(&sources, here(), line_of("# second")));
    EXPECT(!stet_python_is_condition(&sources, here(), line_of("# body")));
    EXPECT(stet_python_is_condition(&sources, here(), line_of("# single")));
    EXPECT(!stet_python_is_condition(&sources, here(), line_of("# plain")));
    EXPECT_INT(1, stet_python_def_around(&sources, here(), line_of("# body")));
    EXPECT_INT(0, stet_python_def_around(&sources, here(), line_of("# module")));
    finish();
}

TEST(a_generator_has_a_yield_of_its_own)
{
    begin("", "def f(x):\n    for i in x:\n        a = i  # in f\n        yield a\n"
              "def g(x):\n    def h():\n        yield x  # in h\n    return h  # in g\n"
              "z = 1  # module\n");
    EXPECT(stet_python_in_generator(&sources, here(), line_of("# in f")));
    EXPECT(stet_python_in_generator(&sources, here(), line_of("# in h")));
    EXPECT(!stet_python_in_generator(&sources, here(), line_of("# in g")));
    EXPECT(!stet_python_in_generator(&sources, here(), line_of("# module")));
    finish();
}

TEST(the_only_loop_of_a_function_is_found)
{
    begin("", "def f(x):\n    for i in range(3):  # one\n        x = g(x)\n    return x\n"
              "def two(x):\n    for i in x:\n        pass\n    while x:\n        x -= 1\n"
              "def none(x):\n    def inner(y):\n        for i in y:\n            pass\n");
    EXPECT_INT(line_of("# one"), stet_python_only_loop(&sources, here(), STET_VIEW("f"), 0));
    EXPECT_INT(0, stet_python_only_loop(&sources, here(), STET_VIEW("two"), 0));
    EXPECT_INT(0, stet_python_only_loop(&sources, here(), STET_VIEW("none"), 0));
    finish();
}

TEST(the_loop_around_a_line_is_that_of_its_function)
{
    begin("",
          "def f(x):\n    for i in range(3):  # head\n        if x:\n            x = g(x)  # in\n"
          "        def h(y):\n            return y  # inner\n    return x  # out\n"
          "while True:\n    f(1)  # module\n");
    EXPECT_INT(2, stet_python_loop_of_line(&sources, here(), line_of("# in")));
    EXPECT_INT(0, stet_python_loop_of_line(&sources, here(), line_of("# head")));
    EXPECT_INT(0, stet_python_loop_of_line(&sources, here(), line_of("# inner")));
    EXPECT_INT(0, stet_python_loop_of_line(&sources, here(), line_of("# out")));
    EXPECT_INT(8, stet_python_loop_of_line(&sources, here(), line_of("# module")));
    finish();
}

TEST(the_line_under_a_condition_that_computes_an_operation_is_found)
{
#define LINE(op) stet_python_conditional_line(&sources, here(), line_of("# sync"), STET_VIEW(op))
    begin("", "import torch\nfor i in range(9):\n    y = model(x)\n    if i == 5:\n"
              "        y = torch.exp(y)  # exp\n    else:\n        y = y @ y\n        y = y.cos()\n"
              "    if i > 7:\n        y = y ** 3  # power\n        y = torch.cos(y)\n"
              "    y = torch.tanh(y)\n    torch_xla.sync()  # sync\n");
    EXPECT_INT(line_of("# exp"), LINE("exponential"));
    EXPECT_INT(line_of("# power"), LINE("power"));
    EXPECT_INT(0, LINE("cosine")); /* two of them */
    EXPECT_INT(0, LINE("tanh"));   /* always */
    EXPECT_INT(0, LINE("sine"));
#undef LINE
    finish();
}
