/* Facts about the line that makes a value of a compiled function differ from call to call. A script
 * marks the call with `# call` and the line of the answer with `# here`; without that mark there is
 * no answer. The compiled function is `step`. */
#include "python_help.h"

#define HEAD                                                                                       \
    "import itertools\nimport random\nimport torch\n"                                              \
    "@torch.compile\ndef step(x, n=1, extra=None):  # def\n    return x * n\n"

TEST(a_call_that_the_trace_leaves_out_is_the_only_one)
{
    struct stet_python_watched call = {.line = 0};

    begin(HEAD, "for i in range(6):\n    step(torch.ones(4 + i))  # here\n");
    EXPECT(stet_python_only_call(&sources, here(), line_of("# def"), here(), 0, &call));
    EXPECT_INT(line_of("# here"), call.line);
    finish();
    begin(HEAD, "step(torch.ones(4))\nfor i in range(6):\n    step(torch.ones(4 + i))\n");
    EXPECT(!stet_python_only_call(&sources, here(), line_of("# def"), here(), 0, &call));
    finish();
}

TEST(all_lines_that_call_a_function_are_listed)
{
    struct stet_python_watched calls[2] = {{.line = 0}};

    begin(HEAD, "step(torch.ones(4))  # one\nprint(torch.ones(4))\n"
                "with torch.no_grad():\n    step(torch.ones(4, 2))  # two\n");
    EXPECT_INT(2, stet_python_call_lines(&sources, here(), line_of("# def"), here(), calls, 2));
    EXPECT_INT(line_of("# one"), calls[0].line);
    EXPECT_INT(line_of("# two"), calls[1].line);
    EXPECT_INT(1, stet_python_call_lines(&sources, here(), line_of("# def"), here(), calls, 1));
    EXPECT_INT(0, stet_python_call_lines(&sources, here(), 1, here(), calls, 2));
    finish();
}

#define NET                                                                                        \
    "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n"                         \
    "        super().__init__()\n        self.gain = 1.0\n"                                        \
    "    def forward(this, x):  # def\n        return x * this.gain\n"                             \
    "    def set_gain(self, value):\n        self.gain = value\n"                                  \
    "class Other:\n    def change(self):\n        self.gain = 5\n"

TEST(attributes_are_followed)
{
    static const char *const bodies[] = {
        "net = Net()\nmodel = torch.compile(net)\nfor i in range(6):\n    net.gain = i / 2  # "
        "here\n"
        "    model(torch.ones(3))  # call\n",
        "net = Net()\nmodel = torch.compile(net)\nfor i in range(6):\n    setattr(net, 'gain', i)"
        "  # here\n    model(torch.ones(3))  # call\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        begin(NET, bodies[i]);
        expect_here(bodies[i], followed(PY_HELD_ARGUMENT, "this.gain", PY_OF_VALUE));
    }
}

TEST(an_attribute_that_a_method_sets_is_followed_to_its_call)
{
    static const char body[] =
        "net = Net()\nmodel = torch.compile(net)\nfor i in range(6):\n"
        "    net.set_gain(i / 2)  # here\n    model(torch.ones(3))  # call\n";

    begin(NET, body);
    expect_here(body, followed(PY_HELD_ARGUMENT, "this.gain", PY_OF_VALUE));
}

TEST(variables_of_a_module_are_followed)
{
    static const char *const bodies[] = {
        "def main():\n    global GAIN\n    for i in range(6):\n        GAIN = i / 2  # here\n"
        "        step(torch.ones(3))  # call\n",
        "for i in range(6):\n    GAIN = i / 2  # here\n    step(torch.ones(3))  # call\n",
        "def space(f):\n    return f.__globals__\nfor i in range(6):\n"
        "    space(step)['GAIN'] = i / 2  # here\n    step(torch.ones(3))  # call\n",
        "for i in range(6):\n    globals()['GAIN'] = i / 2  # here\n    step(torch.ones(3))  # "
        "call\n",
        "other = {}\nfor i in range(6):\n    other['GAIN'] = i / 2\n    step(torch.ones(3))  # "
        "call\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        begin("GAIN = 1.0\n" HEAD, bodies[i]);
        expect_here(bodies[i], followed(PY_HELD_CLOSURE, "GAIN", PY_OF_VALUE));
    }
}

TEST(variables_of_an_enclosing_function_are_followed)
{
    static const char *const bodies[] = {
        "def around(inner):\n    knob = 1.0\n    @torch.compile\n    def scaled(x):  # def\n"
        "        return inner(x) * knob\n    def turn(value):\n        nonlocal knob\n"
        "        knob = value\n    return scaled, turn\nmodel, set_knob = around(abs)\n"
        "for i in range(6):\n    set_knob(1 + i // 2)  # here\n    model(torch.ones(3))  # call\n",
        "def made(knob):\n    @torch.compile\n    def scaled(x):  # def\n        return x * knob\n"
        "    return scaled\nfor i in range(6):\n    model = made(i / 2)  # here\n"
        "    model(torch.ones(3))  # call\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        begin("import torch\n", bodies[i]);
        expect_here(bodies[i], followed(PY_HELD_CLOSURE, "knob", PY_OF_VALUE));
    }
}

TEST(the_line_that_sets_gradients_is_around_the_call)
{
    static const char *const bodies[] = {
        "with torch.no_grad():  # here\n    step(torch.ones(3))  # call\n",
        "for i in range(6):\n    quiet = i > 2\n    with torch.set_grad_enabled(not quiet):  # "
        "here\n"
        "        step(torch.ones(3))  # call\n",
        "for i in range(6):\n    torch.set_grad_enabled(i < 3)  # here\n"
        "    step(torch.ones(3))  # call\n",
        "@torch.inference_mode()  # here\ndef evaluate():\n    step(torch.ones(3))  # call\n",
        "def evaluate():\n    step(torch.ones(3))  # call\nwith torch.no_grad():  # here\n"
        "    evaluate()  # call2\n",
        "with open('x') as f:\n    step(torch.ones(3))  # call\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct stet_python_stack stack;

        begin(HEAD, bodies[i]);
        stack = stack_of();
        expect_here(bodies[i], stet_python_gradient_mode(&sources, &stack));
    }
}

TEST(the_line_that_sets_training_is_before_the_call)
{
    static const struct {
        const char *body, *to;
    } cases[] = {
        {"net = Net()\nmodel = torch.compile(net)\nfor i in range(6):\n"
         "    net.train(i % 3 != 2)  # here\n    model(torch.ones(3))  # call\n",
         ""},
        {"net = Net()\nmodel = torch.compile(net)\nnet.train()\nmodel(torch.ones(3))\n"
         "net.eval()  # here\nmodel(torch.ones(3))  # call\n",
         "False"},
        {"net = Net()\nmodel = torch.compile(net)\nnet.train()\nmodel(torch.ones(3))  # call\n",
         "False"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stet_python_stack stack;

        begin(NET, cases[i].body);
        stack = stack_of();
        expect_here(cases[i].body,
                    stet_python_training(&sources, &stack, stet_view_str(cases[i].to)));
    }
}
