/* Facts about the line that makes a value of a compiled function differ from call to call. A script
 * marks the call with `# call` and the line of the answer with `# here`; without that mark there is
 * no answer. The compiled function is `step`. */
#include "python_help.h"

#define HEAD                                                                                       \
    "import itertools\nimport random\nimport torch\n"                                              \
    "@torch.compile\ndef step(x, n=1, extra=None):  # def\n    return x * n\n"

static void argument(const char *body, const char *parameter, enum stet_python_differs what)
{
    struct stet_python_compiled c;

    begin(HEAD, body);
    c = compiled_in_script();
    expect_line(body, stet_python_made_argument(&sources, &c, stet_view_str(parameter), what));
}

static void each_argument(const char *const *bodies, size_t count, const char *parameter,
                          enum stet_python_differs what)
{
    for (size_t i = 0; i < count; i++)
        argument(bodies[i], parameter, what);
}

#define EACH(bodies, parameter, what)                                                              \
    each_argument(bodies, sizeof(bodies) / sizeof *(bodies), parameter, what)

TEST(sizes_are_followed_to_the_line_that_decides_them)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    x = torch.ones(4 + i % 3)  # here\n    step(x)  # call\n",
        "for i in range(6):\n    rows = 4 + i % 3  # here\n    x = torch.ones(rows)\n"
        "    y = x * 2 + i\n    step(y)  # call\n",
        "def make(rows):\n    return torch.ones(rows, 3)\n"
        "def size(k):\n    return 8 if k < 5 else 3  # here\n"
        "for i in range(6):\n    step(make(size(i)))  # call\n",
        "for rows in (4, 6, 8):  # here\n    step(torch.ones(rows))  # call\n",
        "sizes = [4, 6, 8]  # here\nfor rows in sizes:\n    step(torch.ones(rows))  # call\n",
        "sizes = [4, 6, 8]  # here\nfor i in range(3):\n    x = torch.ones(sizes[i])\n"
        "    step(x)  # call\n",
        "def batches():\n    for k in range(6):\n        yield torch.ones(4 + k)  # here\n"
        "for x in batches():\n    step(x)  # call\n",
        "whole = torch.ones(21, 3)\nfor start in range(0, 21, 8):\n"
        "    part = whole[start:start + 8]  # here\n    step(part)  # call\n",
        "tokens = torch.ones(1)\nfor i in range(6):\n    step(tokens)  # call\n"
        "    tokens = torch.cat([tokens, torch.ones(1)])  # here\n",
        "def train(x):\n    return step(x)  # call\n"
        "for i in range(6):\n    train(torch.ones(4 + i))  # here\n",
        "x = torch.ones(4)\nfor i in range(6):\n    x.resize_(i + 1)  # here\n    step(x)  # "
        "call\n",
    };

    EACH(bodies, "x", PY_DIFFERS_FORM);
}

TEST(what_cannot_change_a_size_is_no_answer)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    x = torch.ones(4) * i\n    step(x)  # call\n",
        ("for i in range(6):\n    x = torch.ones(4)\n    x.requires_grad_(i > 2)\n"
         "    step(x)  # call\n"),
        "def run(x):\n    step(x)  # call\n",
        "for i in range(6):\n    x = torch.ones(4)\n    step(*[x])  # call\n",
        "step(torch.ones(4))  # call\n",
        "for x in load():\n    pass\nfor i in range(6):\n    step(torch.ones(4))  # call\n",
    };

    EACH(bodies, "x", PY_DIFFERS_FORM);
}

TEST(types_and_layouts_are_followed)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    x = torch.ones(4)\n"
        "    x = x.to(torch.float64 if i > 2 else torch.float32)  # here\n    step(x)  # call\n",
        "for i in range(6):\n    x = torch.ones(4, 4)\n    if i > 2:\n        x = x.t()  # here\n"
        "    step(x)  # call\n",
        "for i in range(6):\n    x = torch.ones(4)\n    x = x[None] if i > 2 else x  # here\n"
        "    x = x.contiguous()\n    step(x)  # call\n",
        "step(torch.ones(4))\nx = torch.ones(4, dtype=torch.float64)  # here\nstep(x)  # call\n",
    };

    EACH(bodies, "x", PY_DIFFERS_FORM);
}

TEST(gradients_of_an_argument_are_followed)
{
    argument("for i in range(6):\n    x = torch.ones(4)\n    x.requires_grad_(i > 2)  # here\n"
             "    step(x)  # call\n",
             "x", PY_DIFFERS_GRADIENT);
}

TEST(numbers_are_followed)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    step(torch.ones(3), 2 + i)  # call  # here\n",
        "for i in range(6):\n    step(torch.ones(3), n=i)  # call  # here\n",
        "count = 0\nwhile count < 6:\n    step(torch.ones(3), count)  # call\n"
        "    count += 1  # here\n",
        "for i in range(6):\n    step(torch.ones(3), (k := 2 * i))  # call  # here\n",
        "class Plan:\n    def __init__(self):\n        self.value = 0\n"
        "    def advance(self, k):\n        self.value = k // 2  # here\n        return "
        "self.value\n"
        "plan = Plan()\nfor i in range(6):\n    k = plan.advance(i)\n"
        "    step(torch.ones(3), k)  # call\n",
        "import types\nknobs = types.SimpleNamespace()\nfor i in range(6):\n"
        "    knobs.rate = i / 2  # here\n    step(torch.ones(3), knobs.rate)  # call\n",
        "def rates():\n    for k in range(6):\n        yield k / 2  # here\nstream = rates()\n"
        "for i in range(6):\n    rate = next(stream)\n    step(torch.ones(3), rate)  # call\n",
        "for i in range(6):\n    rate = random.choice([1, 2])  # here\n"
        "    step(torch.ones(3), rate)  # call\n",
    };

    EACH(bodies, "n", PY_DIFFERS_VALUE);
}

TEST(containers_are_followed)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    given = {'a': 1}\n    if i % 3 == 2:\n"
        "        given['mask'] = 2  # here\n    step(torch.ones(3), 1, given)  # call\n",
        "for i in range(6):\n    given = [torch.ones(2) for _ in range(1 + i % 3)]  # here\n"
        "    step(torch.ones(3), extra=given)  # call\n",
        "for i in range(6):\n    given = []\n    if i > 2:\n        given.append(1)  # here\n"
        "    step(torch.ones(3), extra=given)  # call\n",
    };

    EACH(bodies, "extra", PY_DIFFERS_VALUE);
}

TEST(a_call_that_the_trace_leaves_out_is_the_only_one)
{
    static const char body[] = "for i in range(6):\n    step(torch.ones(4 + i))  # here\n";
    struct stet_python_compiled c;

    begin(HEAD, body);
    c = compiled_in_script();
    expect_line(body, stet_python_made_argument(&sources, &c, STET_VIEW("x"), PY_DIFFERS_FORM));
    begin(HEAD, "step(torch.ones(4))\nfor i in range(6):\n    step(torch.ones(4 + i))\n");
    c = compiled_in_script();
    expect_line("two", stet_python_made_argument(&sources, &c, STET_VIEW("x"), PY_DIFFERS_FORM));
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
        struct stet_python_compiled c;

        begin(NET, bodies[i]);
        c = compiled_in_script();
        expect_line(bodies[i],
                    stet_python_made_attribute(&sources, &c, STET_VIEW("this"), STET_VIEW("gain")));
    }
}

TEST(an_attribute_that_a_method_sets_is_followed_to_its_call)
{
    static const char body[] =
        "net = Net()\nmodel = torch.compile(net)\nfor i in range(6):\n"
        "    net.set_gain(i / 2)  # here\n    model(torch.ones(3))  # call\n";
    struct stet_python_compiled c;

    begin(NET, body);
    c = compiled_in_script();
    expect_line(body,
                stet_python_made_attribute(&sources, &c, STET_VIEW("this"), STET_VIEW("gain")));
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
        struct stet_python_compiled c;

        begin("GAIN = 1.0\n" HEAD, bodies[i]);
        c = compiled_in_script();
        expect_line(bodies[i], stet_python_made_global(&sources, &c, STET_VIEW("GAIN")));
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
        struct stet_python_compiled c;

        begin("import torch\n", bodies[i]);
        c = compiled_in_script();
        expect_line(bodies[i], stet_python_made_free(&sources, &c, STET_VIEW("knob")));
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
        "    evaluate()\n",
        "with open('x') as f:\n    step(torch.ones(3))  # call\n",
        "step(torch.ones(3))\nwith torch.no_grad():  # here\n    step(torch.ones(3))\n",
        "with torch.no_grad():\n    step(torch.ones(3))\nwith torch.enable_grad():\n"
        "    step(torch.ones(3))\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct stet_python_compiled c;

        begin(HEAD, bodies[i]);
        c = compiled_in_script();
        expect_line(bodies[i], stet_python_made_gradient_mode(&sources, &c));
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
        struct stet_python_compiled c;

        begin(NET, cases[i].body);
        c = compiled_in_script();
        expect_line(cases[i].body,
                    stet_python_made_training(&sources, &c, stet_view_str(cases[i].to)));
    }
}
