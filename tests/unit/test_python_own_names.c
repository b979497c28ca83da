/* Facts about names of Python and torch that a script defines itself, or uses under another name:
 * what a name denotes decides, not how it is spelled. A script marks the call with `# call` and the
 * line of the answer with `# here`; without that mark there is no answer. */
#include "python_help.h"

#define HEAD                                                                                       \
    "import itertools\nimport torch\nGAIN = 1.0\n"                                                 \
    "@torch.compile\ndef step(x, n=1, extra=None):  # def\n    return x * n * GAIN\n"
#define NET                                                                                        \
    "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n"                         \
    "        super().__init__()\n        self.gain = 1.0\n"                                        \
    "    def forward(self, x):  # def\n        return x * self.gain\n"                             \
    "net = Net()\nmodel = torch.compile(net)\n"

static void argument(const char *body, const char *parameter, enum stet_python_aspect aspect)
{
    begin(HEAD, body);
    expect_here(body, followed(PY_HELD_ARGUMENT, parameter, aspect));
}

TEST(a_loop_over_a_users_range_is_not_a_counter)
{
    argument("def main(range):\n    for n in range(6):  # here\n"
             "        step(torch.ones(3), n)  # call\n",
             "n", PY_OF_VALUE);
}

TEST(a_counter_is_known_under_another_name)
{
    argument("numbers = range\nfor n in numbers(6):\n    step(torch.ones(3), n)  # call  # here\n",
             "n", PY_OF_VALUE);
    argument("from itertools import count as numbers\nfor n in numbers():\n"
             "    step(torch.ones(3), n)  # call  # here\n",
             "n", PY_OF_VALUE);
    argument("import builtins\nfor n, x in builtins.enumerate([1, 1]):\n"
             "    step(torch.ones(3), n)  # call  # here\n",
             "n", PY_OF_VALUE);
}

TEST(a_method_of_a_users_class_is_not_a_containers)
{
    argument("class Log:\n    def append(self, x):\n        print(x)\n"
             "given = Log()\nfor i in range(6):\n    if i > 2:\n        given.append(1)\n"
             "    step(torch.ones(3), extra=given)  # call\n",
             "extra", PY_OF_VALUE);
}

TEST(a_method_of_a_users_class_is_not_a_tensors)
{
    argument("class Box:\n    def resize_(self, k):\n        print(k)\n"
             "x = Box()\nfor i in range(6):\n    x.resize_(i + 1)\n    step(x)  # call\n",
             "x", PY_OF_SIZE);
}

TEST(a_users_setattr_sets_no_attribute)
{
    static const char own[] = "def setattr(o, name, value):\n    print(name, value)\n"
                              "for i in range(6):\n    setattr(net, 'gain', i)\n"
                              "    model(torch.ones(3))  # call\n";
    static const char pythons[] = "import builtins\nput = builtins.setattr\nfor i in range(6):\n"
                                  "    put(net, 'gain', i)  # here\n"
                                  "    model(torch.ones(3))  # call\n";

    begin(NET, own);
    expect_here(own, followed(PY_HELD_ARGUMENT, "self.gain", PY_OF_VALUE));
    begin(NET, pythons);
    expect_here(pythons, followed(PY_HELD_ARGUMENT, "self.gain", PY_OF_VALUE));
}

TEST(a_users_globals_are_not_variables_of_the_module)
{
    static const char own[] = "def main(globals):\n    for i in range(6):\n"
                              "        globals()['GAIN'] = i / 2\n"
                              "        step(torch.ones(3))  # call\n";
    static const char pythons[] = "import builtins\nfor i in range(6):\n"
                                  "    builtins.globals()['GAIN'] = i / 2  # here\n"
                                  "    step(torch.ones(3))  # call\n";

    begin(HEAD, own);
    expect_here(own, followed(PY_HELD_CLOSURE, "GAIN", PY_OF_VALUE));
    begin(HEAD, pythons);
    expect_here(pythons, followed(PY_HELD_CLOSURE, "GAIN", PY_OF_VALUE));
}

TEST(a_users_train_sets_no_mode)
{
    static const char body[] = "import helpers\nfor i in range(6):\n    net.train(i > 2)  # here\n"
                               "    helpers.train(i)\n    model(torch.ones(3))  # call\n";
    struct stet_python_stack stack;

    begin(NET, body);
    stack = stack_of();
    write_file("helpers.py", "def train(count):\n    print(count)\n");
    expect_here(body, stet_python_training(&sources, &stack, STET_VIEW("")));
}

static bool condition_reads(const char *head)
{
    struct stet_python_read read = {0};
    bool reads;

    begin(head, "def main(x, rows):\n    for i, row in zip(range(3), rows):\n        if i > 2:\n"
                "            x = step(x)  # ask\n");
    write_file("helpers.py", "import torch\ndef zip(a, b):\n    return torch.ones(3, 2)\n");
    reads = stet_python_condition_reads(&sources, here(), line_of("# ask"), true, &read);
    finish();
    return reads;
}

/* Does a value that is read back decide the first run of the line? */
static bool first_run_reads(const char *body)
{
    struct stet_python_read read = {0};
    bool reads;

    begin("import torch\n", body);
    reads = stet_python_condition_reads(&sources, here(), line_of("# ask"), false, &read);
    finish();
    return reads;
}

TEST(what_leaves_a_block_decides_a_first_run_unless_another_condition_does)
{
    EXPECT(first_run_reads("def f(x, i):\n    if float(torch.ones(3).sum()) < i:\n"
                           "        return\n    step(x)  # ask\n"));
    EXPECT(!first_run_reads("def f(x, i):\n    if float(torch.ones(3).sum()) < i:\n"
                            "        return\n    if i % 2 == 0:\n        step(x)  # ask\n"));
}

TEST(what_a_users_zip_gives_does_not_come_from_its_first_argument)
{
    EXPECT(!condition_reads("import torch\n"));
    EXPECT(condition_reads("from helpers import zip\n"));
}
