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

static uint32_t loader(const char *use)
{
    struct stet_view file;

    return stet_python_loader_line(&sources, (struct stet_python_waiting){here(), line_of(use)},
                                   NULL, &file);
}

TEST(the_loader_is_where_an_iterator_makes_its_items)
{
    begin("", "import itertools, tfds\n"
              "def stream():\n    for i in rows:\n        yield a[i], b[i]  # cut\n"
              "def named():\n    part = rows[:3]  # part\n    yield part\n"
              "def made():\n    ds = tfds.load(1).batch(2)  # library\n"
              "    return map(lambda v: v, ds)\n"
              "class Rows:\n    def __getitem__(self, i):\n        return rows[i:i + 2]  # item\n"
              "def two():\n    if x:\n        yield 1\n    yield 2\n"
              "count = itertools.count()\nbatches = stream()\nsets = {'a': made(), 'b': made()}\n"
              "step(next(count), next(batches))  # next\n"
              "for b in enumerate(named()):  # for\n    pass\n"
              "for b in Rows():  # class\n    pass\n"
              "for key in sets:\n    step(next(sets[key]))  # held\n"
              "for b in two():  # two\n    pass\n"
              "for i in range(3):  # range\n    step(i)  # none\n");
    EXPECT_INT((int)line_of("# cut"), (int)loader("# next"));
    EXPECT_INT((int)line_of("# part"), (int)loader("# for"));
    EXPECT_INT((int)line_of("# item"), (int)loader("# class"));
    EXPECT_INT((int)line_of("# library"), (int)loader("# held"));
    EXPECT_INT(0, (int)loader("# two"));
    EXPECT_INT(0, (int)loader("# range"));
    EXPECT_INT(0, (int)loader("# none"));
    finish();
}

TEST(the_loader_that_a_function_was_given_is_what_its_caller_passes)
{
    struct stet_python_waits w = {.count = 2};
    struct stet_view file;

    begin("", "from torch.utils.data import DataLoader\n"
              "def cut(n):\n    yield rows[:n]  # cut\n"
              "class Rows:\n    def __iter__(self):\n        yield rows[1]  # own\n"
              "def learn(batches):\n    for b in batches:  # for\n        step(b)\n"
              "def total(rows):\n    return sum(step(r) for r in rows)  # sum\n"
              "class Fit:\n    def run(self, parts):\n        for p in parts:  # parts\n"
              "            step(p)\n"
              "learn(cut(3))  # learn\ntotal(Rows())  # total\n"
              "fit = Fit()\nfit.run(DataLoader(Rows(), 4))  # library\n");
#define LOADER(use, call)                                                                          \
    (w.calls[0] = (struct stet_python_waiting){here(), line_of(use)},                              \
     w.calls[1] = (struct stet_python_waiting){here(), line_of(call)},                             \
     (int)stet_python_loader_line(&sources, w.calls[0], &w, &file))
    EXPECT_INT((int)line_of("# cut"), LOADER("# for", "# learn"));
    EXPECT_INT((int)line_of("# own"), LOADER("# sum", "# total"));
    EXPECT_INT((int)line_of("# library"), LOADER("# parts", "# library"));
    EXPECT_INT(0, LOADER("# for", "# total")); /* another function is called there */
    EXPECT_INT(0, (int)loader("# for"));       /* the caller is not known */
#undef LOADER
    finish();
}

TEST(an_argument_is_made_by_the_function_called_for_it)
{
    struct stet_python_waits w = {.count = 1};
    struct stet_view file;

    begin("", "def make(n):\n    return rows[:n]  # made\n"
              "def other(n):\n    return rows[n:]\n"
              "for i in range(3):\n    state = step(state, make(i))  # one\n"
              "    state = step(other(i), make(i))  # two\n    state = step(state, i)  # none\n");
#define MADE(text)                                                                                 \
    (w.calls[0] = (struct stet_python_waiting){here(), line_of(text)},                             \
     (int)stet_python_made_for_call(&sources, w.calls[0], &w, &file))
    EXPECT_INT((int)line_of("# made"), MADE("# one"));
    EXPECT_INT(0, MADE("# two"));
    EXPECT_INT(0, MADE("# none"));
#undef MADE
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
