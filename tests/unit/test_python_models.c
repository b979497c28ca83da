/* Facts about models and settings, in all files of a project. A script marks the line of the answer
 * with `# here`, and the line that waits with `# call`. */
#include "python_help.h"

static void expect_count(const char *body)
{
    begin("from flax import nnx\n", body);
    EXPECT(stet_python_open(&sources, here()) != NULL);
    expect_here(body, stet_python_counts_in_model(&sources));
}

TEST(the_only_line_that_counts_in_a_model_is_found)
{
    expect_count("class Net(nnx.Module):\n    def __call__(self, x):\n"
                 "        self.calls += 1  # here\n        return x\n");
    /* a part of a model */
    expect_count("class Checks:\n    def guard(self, x):\n        self.seen += 1  # here\n"
                 "class Net(Checks, nnx.Module):\n    pass\n"
                 "class Watch:\n    def see(self):\n        self.turns += 1\n");
    expect_count("class Base(nnx.Module):\n    pass\n"
                 "class Net(Base):\n    def __call__(self, x):\n        self.calls += 2  # here\n");
}

TEST(other_counters_or_several_of_them_give_no_answer)
{
    expect_count("class Watch:\n    def see(self):\n        self.turns += 1\n");
    expect_count("class Net(nnx.Module):\n    def __call__(self, x):\n        self.a += 1\n"
                 "        self.b += 1\n");
    expect_count("class Net(nnx.Module):\n    def __call__(self, x):\n        self.sum += x\n");
}

TEST(a_file_that_is_imported_is_read_for_it)
{
    struct stet_python_made made;

    begin("", "import helpers\nhelpers.run()\n");
    write_file("helpers.py", "import flax.nnx as nnx\nclass Net(nnx.Module):\n"
                             "    def __call__(self, x):\n        self.calls += 1\n");
    EXPECT(stet_python_open(&sources, here()) != NULL);
    made = stet_python_counts_in_model(&sources);
    EXPECT_INT(4, made.line);
    EXPECT(stet_view_ends(made.file, "helpers.py"));
    finish();
}

static bool passes(const char *body, const char *of)
{
    bool is;

    begin("", body);
    is = stet_python_line_passes(&sources, here(), line_of("# ask"), stet_view_str(of));
    finish();
    return is;
}

TEST(a_line_passes_the_object_that_a_field_is_of)
{
    EXPECT(passes("y = step(model, x)  # ask\n", "model.scale"));
    EXPECT(passes("y = step(self.model, x)  # ask\n", "self.model.sampling.rate"));
    EXPECT(passes("y = step(x, state=states[0])  # ask\n", "states[0].count"));
    EXPECT(!passes("y = step(self.model, x)  # ask\n", "self.turn"));
    EXPECT(!passes("y = step(scaler.value, x)  # ask\n", "scaler.clean"));
    EXPECT(!passes("y = step(model, x)  # ask\n", "models.scale"));
}

static void expect_switch(const char *body, const char *to)
{
    struct stet_python_stack stack;

    begin("", body);
    stack = stack_of();
    expect_here(body, stet_python_switches(&sources, &stack, stet_view_str(to)));
}

TEST(a_model_is_switched_where_the_loop_leads)
{
    static const char body[] =
        "class Desk:\n    def review(self):\n        self.model.eval()  # here\n"
        "        self.model.train()\n"
        "def main(desk):\n    desk.model.eval()\n    for x in data:\n"
        "        step(desk.model, x)  # call\n        desk.review()\n";

    expect_switch(body, "False");
    expect_switch("def main(m):\n    m.train()\n    for x in data:\n        step(m, x)  # call\n"
                  "        m.eval()  # here\n        look(m)\n        m.train()\n",
                  "False");
    expect_switch("def main(m):\n    m.eval()\n    for x in data:\n        step(m, x)  # call\n",
                  "False");
}

static void expect_option(const char *body)
{
    struct stet_python_stack stack;

    begin("import contextlib\nimport jax\n", body);
    stack = stack_of();
    expect_here(body, stet_python_sets_option(&sources, &stack));
}

TEST(an_option_is_set_around_the_call_or_in_a_function)
{
    expect_option("def main():\n    for x in data:\n"
                  "        with jax.default_matmul_precision('highest'):  # here\n"
                  "            step(x)  # call\n        other(x)\n"
                  "def other(x):\n    with jax.enable_x64(True):\n        pass\n");
    expect_option("jax.config.update('jax_enable_x64', False)\n@contextlib.contextmanager\n"
                  "def exact():\n    with jax.default_matmul_precision('float32'):  # here\n"
                  "        yield\n"
                  "def main():\n    for x in data:\n        with exact():\n            step(x)  # "
                  "call\n");
    expect_option(
        "jax.config.update('jax_enable_x64', True)\nfor x in data:\n    step(x)  # call\n");
}

static bool assigns(const char *body)
{
    bool is;

    begin("", body);
    is = stet_python_line_assigns(&sources, here(), line_of("# ask"));
    finish();
    return is;
}

TEST(a_line_that_gives_a_name_a_value_assigns)
{
    EXPECT(assigns("n = f(x)  # ask\n"));
    EXPECT(assigns("self.n, m = f(x)  # ask\n"));
    EXPECT(assigns("batch['x'] = f(x)  # ask\n"));
    EXPECT(assigns("for n in f(x):  # ask\n    pass\n"));
    EXPECT(assigns("if (n := f(x)) > 3:  # ask\n    pass\n"));
    EXPECT(!assigns("n += f(x)  # ask\n"));
    EXPECT(!assigns("def g(x):\n    return f(x)  # ask\n"));
    EXPECT(!assigns("rows.append(f(x))  # ask\n"));
    EXPECT(!assigns("if f(x):  # ask\n    n = 3\n"));
}
