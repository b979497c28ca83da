/* Facts about what a loop of Python source runs, and about lines that a trace has. */
#include "python_help.h"

/* ---- what a loop runs ---- */

static const char torch_head[] = "import torch\nimport torch.nn as nn\nimport torch_xla\n"
                                 "import torch_xla.core.xla_model as xm\n"
                                 "import torch_xla.distributed.parallel_loader as pl\n";

static struct stet_python_reach reach;

static const struct stet_python_step *step_at(const char *mark)
{
    for (uint32_t i = 0; i < reach.count; i++)
        if (stet_python_line(reach.steps[i].module, reach.steps[i].statement) == line_of(mark))
            return &reach.steps[i];
    return NULL;
}

static void reach_of(const char *body)
{
    begin(torch_head, body);
    stet_python_reach_from(&sources, here(), line_of("# ask"), &reach);
}

static void reach_end(void)
{
    stet_python_reach_release(&reach);
    finish();
}

TEST(a_loop_reaches_functions_and_modules_of_its_file_alone)
{
    reach_of("class Block(nn.Module):\n"
             "    def __init__(self):\n"
             "        self.decay = 0.9 ** 3  # made once\n"
             "        self.calls = 0\n"
             "    def forward(self, x):\n"
             "        self.calls += 1  # forward\n"
             "        return x ** self.calls  # power\n"
             "class Net(nn.Module):\n"
             "    def __init__(self):\n"
             "        self.blocks = nn.ModuleList([Block() for _ in range(2)])\n"
             "    def forward(self, x):\n"
             "        for block in self.blocks:\n"
             "            x = block(x)  # inner\n"
             "        return x\n"
             "def beside(x):\n"
             "    return x ** 2  # beside\n"
             "def helper(x, by):\n"
             "    # beside(x)\n"
             "    return x.roll(  # roll\n"
             "        by)\n"
             "def main(x):\n"
             "    model = Net().to('xla')\n"
             "    beside(1)\n"
             "    for step in range(9):\n"
             "        y = helper(model(x), step)  # call\n"
             "        torch_xla.sync()  # ask\n"
             "    print(y)  # after\n");
    EXPECT(step_at("# call") && step_at("# roll") && step_at("# inner") && step_at("# forward"));
    EXPECT(!step_at("# beside") && !step_at("# after") && !step_at("# made once"));
    EXPECT(step_at("# power") &&
           stet_python_step_gives(&sources, step_at("# power"), STET_VIEW("power")));
    EXPECT(stet_python_step_gives(&sources, step_at("# roll"), STET_VIEW("concatenate")));
    EXPECT(!stet_python_step_gives(&sources, step_at("# call"), STET_VIEW("power")));
    reach_end();
    EXPECT_INT(0, reach.count);
}

TEST(numbers_that_may_change_are_distinguished_from_constants)
{
#define GIVES(mark, op) stet_python_step_gives(&sources, step_at(mark), STET_VIEW(op))
    reach_of("WIDTH = 16\nsize = 4\ndef main(x, config):\n    fixed = 3\n    for n in range(4):\n"
             "        y = x ** n  # varies\n        y = x ** WIDTH  # capital\n"
             "        y = x ** size  # small\n        y = x ** fixed  # local\n"
             "        y = torch.zeros(4, n, device=x.device)  # zeros\n"
             "        y = torch.zeros(4, WIDTH, device=x.device)  # steady\n"
             "        y = x[n : n + 2]  # slice\n        y = x[:, 2:4]  # constant slice\n"
             "        y = f(**config)  # splat\n        y = x.narrow(0, n, 4)  # narrow\n"
             "        y = torch.topk(x, n)  # topk\n        y = f'{n ** 2}'  # text\n"
             "        y = x ** config.power  # field\n        torch_xla.sync()  # ask\n");
    EXPECT(GIVES("# varies", "power") && GIVES("# field", "power"));
    EXPECT(!GIVES("# capital", "power") && !GIVES("# small", "power"));
    EXPECT(!GIVES("# local", "power") && !GIVES("# splat", "power"));
    EXPECT(GIVES("# zeros", "broadcast") && !GIVES("# steady", "broadcast"));
    EXPECT(GIVES("# slice", "slice") && !GIVES("# constant slice", "slice"));
    EXPECT(GIVES("# narrow", "slice") && GIVES("# topk", "sort"));
    reach_end();
#undef GIVES
}

TEST(lines_that_bring_data_to_a_device_are_found)
{
#define FEEDS(mark) stet_python_step_feeds(&sources, step_at(mark))
    reach_of("def main(loader, where, kind):\n    place = xm.xla_device()\n"
             "    made = torch.zeros(3, device=where)\n    for x in loader:\n"
             "        a = x.to('xla')  # text\n        a = x.to(place)  # handle\n"
             "        a = x.to(torch_xla.device())  # call\n        a = x.to(where)  # used so\n"
             "        a = x.to(torch.bfloat16)  # type\n        a = x.to(a.dtype)  # its type\n"
             "        a = x.to(kind)  # unknown\n        a = x.to(a.device)  # its device\n"
             "        a = x.to(device=where, dtype=torch.half)  # keyword\n"
             "        a = f(x)  # plain\n        torch_xla.sync()  # ask\n");
    EXPECT(FEEDS("# text") && FEEDS("# handle") && FEEDS("# call") && FEEDS("# used so"));
    EXPECT(FEEDS("# its device") && FEEDS("# keyword"));
    EXPECT(!FEEDS("# type") && !FEEDS("# its type") && !FEEDS("# unknown") && !FEEDS("# plain"));
    reach_end();
    reach_of("def main(data):\n    loader = pl.MpDeviceLoader(data, xm.xla_device())\n"
             "    for epoch in range(3):\n        for x in loader:  # feed\n            f(x)\n"
             "        torch_xla.sync()  # ask\n");
    EXPECT(FEEDS("# feed"));
    reach_end();
#undef FEEDS
}

TEST(lines_that_take_gradients_away_are_found)
{
#define CLEARS(mark) stet_python_step_clears(&sources, step_at(mark))
    reach_of("def main(model, p):\n    a = torch.optim.AdamW(model.parameters())\n"
             "    for x in range(3):\n        a.zero_grad()  # plain\n"
             "        model.zero_grad(set_to_none=True)  # asked\n"
             "        a.zero_grad(set_to_none=False)  # kept\n"
             "        a.zero_grad(False)  # in place\n"
             "        p.grad = None  # by hand\n        p.other = None  # another\n"
             "        p.grad = x  # set\n        torch_xla.sync()  # ask\n");
    EXPECT(CLEARS("# plain") && CLEARS("# asked") && CLEARS("# by hand"));
    EXPECT(!CLEARS("# kept") && !CLEARS("# in place") && !CLEARS("# another") && !CLEARS("# set"));
    reach_end();
#undef CLEARS
}

TEST(the_line_that_marks_a_dimension_is_found)
{
    static const char body[] = "from torch._dynamo import mark_dynamic as m\n"
                               "def gather(x, mark_dynamic):\n    mark_dynamic(x, 0)\n"
                               "    if len(x) > 4:\n        m(x, 0)  # marks\n"
                               "    return x\nprint(gather(1, print))  # ask\n%s";
    struct stet_python_stack stack = {.waits = 1, .count = 1};
    struct stet_python_made made;
    char source[512];

    for (int again = 0; again < 2; again++) {
        snprintf(source, sizeof source, body, again ? "torch._dynamo.mark_dynamic(1, 0)\n" : "");
        begin(torch_head, source);
        stack.frames[0].file = here();
        stack.frames[0].line = line_of("# ask");
        made = stet_python_marks_dynamic(&sources, &stack);
        EXPECT_INT(line_of("# marks"), made.line);
        EXPECT_INT(!again, made.sure);
        finish();
    }
}

TEST(lines_after_a_loop_that_trains_are_found)
{
    bool inside;
#define AFTER(mark) stet_python_after_training(&sources, here(), line_of(mark), &inside)
    begin(torch_head, "def main(model, data, sums):\n"
                      "    a = torch.optim.AdamW(model.parameters())\n"
                      "    for epoch in range(3):\n        print(1)  # before\n"
                      "        for x in data:\n            model(x).backward()\n"
                      "            a.step()\n            print(x.item())  # in it\n"
                      "        if epoch:\n            print(x.item())  # after it\n"
                      "        for y in data:\n            print(y.item())  # in another\n"
                      "    for x in data:\n        for part in x.split(4):\n"
                      "            model(part).backward()\n"
                      "        print(x.item())  # after the parts\n        a.step()\n"
                      "def helper(x):\n    return x.item()  # in a helper\n");
    EXPECT(AFTER("# after it") && !inside);
    EXPECT(!AFTER("# before") && inside);
    EXPECT(!AFTER("# in it") && inside);
    EXPECT(!AFTER("# in another") && inside);
    EXPECT(!AFTER("# after the parts") && inside);
    EXPECT(!AFTER("# in a helper") && !inside);
    finish();
#undef AFTER
}

TEST(lines_that_step_an_optimizer_are_found)
{
#define UPDATES(mark) stet_python_step_updates(&sources, step_at(mark))
    reach_of("class Mine(torch.optim.Optimizer):\n    pass\n"
             "def main(model, other):\n    a = torch.optim.AdamW(model.parameters())\n"
             "    b = torch.optim.lr_scheduler.StepLR(a, 3)\n    c = Mine(model)\n"
             "    for x in range(3):\n        a.step()  # adam\n        b.step()  # schedule\n"
             "        c.step()  # mine\n        xm.optimizer_step(a)  # reduced\n"
             "        other.step(a)  # scaled\n        other.step()  # other\n"
             "        torch_xla.sync()  # ask\n");
    EXPECT(UPDATES("# adam") && UPDATES("# mine") && UPDATES("# reduced") && UPDATES("# scaled"));
    EXPECT(!UPDATES("# schedule") && !UPDATES("# other"));
    reach_end();
#undef UPDATES
}

TEST(a_size_that_is_read_back_is_found)
{
    reach_of("def how_many(s):\n    return int((s > 0).sum())  # helper\n"
             "def main(x, box):\n    for i in range(3):\n        s = torch.sigmoid(x)\n"
             "        count = how_many(s)\n        order = torch.argsort(s)\n"
             "        mean = float(s.mean())  # shown\n        y = box(x)[order[:count]]\n"
             "        print(mean)\n        torch_xla.sync()  # ask\n");
    EXPECT(step_at("# helper") && stet_python_step_reads_size(&reach, step_at("# helper")));
    EXPECT(!stet_python_step_reads_size(&reach, step_at("# shown")));
    reach_end();
}

TEST(lines_that_select_by_values_are_found)
{
#define SELECTS(mark) stet_python_step_selects(&sources, step_at(mark))
    reach_of("def main(x, chosen):\n    for i in range(3):\n        y = x[chosen]  # index\n"
             "        y = x[x > 3]  # compared\n        y = torch.nonzero(x)  # nonzero\n"
             "        y = x[:4]  # slice\n        y = x['a']  # key\n"
             "        log = {}\n        log[i] = torch.tanh(x).cpu()  # read\n"
             "        torch_xla.sync()  # ask\n");
    EXPECT(SELECTS("# index") && SELECTS("# compared") && SELECTS("# nonzero"));
    EXPECT(!SELECTS("# slice") && !SELECTS("# key") && !SELECTS("# read"));
    reach_end();
#undef SELECTS
}

TEST(a_parameter_of_a_traced_function_gives_a_number)
{
#define POWER(name)                                                                                \
    stet_python_traced_parameter(&sources, here(), STET_VIEW(name), line_of("# ask"),              \
                                 STET_VIEW("power"))
    begin(torch_head, "@torch_xla.compile\ndef traced(x, sharpness=2.0):\n"
                      "    by = sharpness + 1\n    return x ** by  # ask\n");
    EXPECT(stet_view_is(POWER("traced"), "sharpness"));
    finish();
    begin(torch_head, "def traced(x, sharpness=2.0):\n    return x ** sharpness  # ask\n"
                      "fast = torch_xla.compile(traced)\n");
    EXPECT(stet_view_is(POWER("traced"), "sharpness"));
    finish();
    begin(torch_head, "def plain(x, sharpness=2.0):\n    return x ** sharpness  # ask\n");
    EXPECT_INT(0, POWER("plain").len);
    finish();
#undef POWER
}

/* ---- lines that a trace has ---- */

static unsigned uses(const char *code, const char *what)
{
    struct stet_python_code c;
    unsigned found =
        stet_python_code_at(&sources, STET_VIEW("/none/x.py"), 3, stet_view_str(code), &c)
            ? stet_python_code_uses(&sources, &c, stet_view_str(what))
            : 0;

    stet_python_sources_release(&sources);
    return found;
}

TEST(a_line_without_its_file_shows_how_a_value_is_used)
{
    EXPECT_INT(PY_USED_COUNT, uses("for _ in range(reps):", "reps"));
    EXPECT_INT(PY_USED_COUNT,
               uses("for layer in range(1, self.depth + 1):  # twice", "self.depth"));
    EXPECT_INT(PY_USED_COUNT, uses("y = sum(f(i) for i in range(n))", "n"));
    EXPECT_INT(0, uses("for _ in range(reps):", "rep"));
    EXPECT_INT(0, uses("for arrange in order(reps):", "reps"));
    EXPECT_INT(0, uses("x = x * scale + len(range(3))", "scale"));
    EXPECT_INT(PY_USED_TOPK, uses("return x.topk(k).values.sum()", "k"));
    EXPECT_INT(0, uses("return x.topk(3).values * scale", "scale"));
    EXPECT_INT(0, uses("return stopk(k)", "k"));
    EXPECT_INT(PY_USED_PARTS, uses("a, b = x.split(sizes)", "sizes"));
    EXPECT_INT(PY_USED_PARTS, uses("elif x.split([n, 8 - n])[0].sum():", "n"));
    EXPECT_INT(PY_USED_PARTS, uses("return torch.cat(x.split(lengths))", "lengths[0]"));
    EXPECT_INT(0, uses("return x.split(length)", "lengths[0]"));
    EXPECT_INT(0, uses("words = 'a b'.split(sep)", "sep"));
    EXPECT_INT(PY_USED_MEMBER, uses("if \"mask\" in batch:", "batch"));
    EXPECT_INT(PY_USED_MEMBER, uses("if key not in self.cache:", "self.cache"));
    EXPECT_INT(PY_USED_MEMBER, uses("for k, v in extra.items():", "extra"));
    EXPECT_INT(PY_USED_MEMBER, uses("m = batch.get('mask')", "batch"));
    EXPECT_INT(0, uses("for x in xs:", "xs"));
    EXPECT_INT(0, uses("", "xs"));
    EXPECT_INT(0, uses("return torch.cat([", "xs"));
}

TEST(a_trace_of_a_file_at_hand_is_followed_to_its_function)
{
    struct stet_python_code c;

    begin("",
          "import torch\ndef step(x, k, reps):\n    n = x.sum().item()  # read\n"
          "    most = k + 1\n    y = x.topk(most)  # topk\n    for _ in range(reps * 2):  # loop\n"
          "        y = y[:n]\n    scale = x.mean().item()  # scale\n    return y * scale\n");
#define AT(mark) stet_python_code_at(&sources, here(), line_of(mark), STET_VIEW(""), &c)
    EXPECT(AT("# topk") && stet_python_code_uses(&sources, &c, STET_VIEW("k")) == PY_USED_TOPK);
    EXPECT(AT("# topk") && !stet_python_code_uses(&sources, &c, STET_VIEW("reps")));
    EXPECT(AT("# loop") && stet_python_code_uses(&sources, &c, STET_VIEW("reps")) == PY_USED_COUNT);
    EXPECT(AT("# read") && stet_python_code_reads_size(&sources, &c));
    EXPECT(AT("# scale") && !stet_python_code_reads_size(&sources, &c));
    /* the file has another line there now: the line of the trace counts */
    EXPECT(stet_python_code_at(&sources, here(), 3, STET_VIEW("n = int(x.max())"), &c));
    EXPECT(!c.whole && stet_python_code_reads_size(&sources, &c));
#undef AT
    finish();
}
