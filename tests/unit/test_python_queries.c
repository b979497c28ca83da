/* Facts about the questions that explain asks of Python source. A script marks the line that a
 * question is about with `# ask`, and the line of the answer with `# here`. */
#include "python_help.h"

static const char jax_head[] = "import functools\n"
                               "import logging\n"
                               "import jax\n"
                               "import jax.numpy as jnp\n"
                               "import numpy as onumpy\n"
                               "from jax import device_get as fetch\n"
                               "log = logging.getLogger(__name__)\n"
                               "LIMIT = 30.0\n"
                               "@jax.jit\n"
                               "def step(w, x):\n"
                               "    return w - x, jnp.mean(w * x)\n"
                               "@jax.jit\n"
                               "def restart(w):\n"
                               "    return w * 0\n";

/* ---- conditions ---- */

static bool condition_reads(const char *body)
{
    struct stet_python_read read = {0};
    bool reads;

    begin(jax_head, body);
    reads = stet_python_condition_reads(&sources, here(), line_of("# ask"), true, &read);
    if (reads && line_of("# here"))
        EXPECT_INT(line_of("# here"), read.here);
    finish();
    return reads;
}

#define LOOP "def main(w, data):\n    for i, x in enumerate(data):\n        w, loss = step(w, x)\n"

TEST(a_condition_on_a_value_of_the_device_reads_it_back)
{
    static const char *const bodies[] = {
        LOOP "        if float(loss) > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        if loss > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        if loss.item() > LIMIT:  # here\n            w = restart(w)  # ask\n",
        LOOP "        if onumpy.asarray(loss) > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        if onumpy.isnan(loss):  # here\n            w = restart(w)  # ask\n",
        LOOP "        if fetch(loss) > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        if jnp.isnan(w).any():  # here\n            w = restart(w)  # ask\n",
        LOOP "        if not jnp.isfinite(loss):  # here\n            w = restart(w)  # ask\n",
        LOOP "        if i > 3 and loss > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        number = float(loss)  # here\n        if number > 30:\n"
             "            w = restart(w)  # ask\n",
        LOOP "        big = bool(loss > 30)  # here\n        if i and big:\n"
             "            with jax.named_scope('x'):\n                w = restart(w)  # ask\n",
        LOOP "        if i == 3:\n            pass\n        elif loss > 30:  # here\n"
             "            w = restart(w)  # ask\n",
        LOOP "        if loss <= 30:  # here\n            pass\n        else:\n"
             "            w = restart(w)  # ask\n",
        LOOP
        "        if loss <= 30:  # here\n            continue\n        w = restart(w)  # ask\n",
        LOOP "        while float(loss) > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        match int(loss):  # here\n            case 3:\n"
             "                w = restart(w)  # ask\n",
        LOOP "        if (n := int(loss)) > 3:  # here\n            w = restart(w)  # ask\n",
        LOOP "        if (\n            loss\n            > 30\n        ):  # one condition\n"
             "            w = restart(w)  # ask\n",
        "def too_big(value):\n    return value.item() > 30  # here\n" LOOP
        "        if too_big(loss):\n            w = restart(w)  # ask\n",
        "def number_of(value):\n    kept = float(value)  # here\n    return kept\n" LOOP
        "        if number_of(loss) > 3:\n            w = restart(w)  # ask\n",
        "class Watch:\n    def __init__(self, most):\n        self.most = most\n"
        "    def over(self, value):\n        return float(value) > self.most  # here\n"
        "def main(w, data):\n    watch = Watch(30.0)\n    for x in data:\n"
        "        w, loss = step(w, x)\n        if watch.over(loss):\n"
        "            w = restart(w)  # ask\n",
        "class Trainer:\n    def __init__(self, w):\n        self.w = w\n        self.last = 0.0\n"
        "    def run(self, data):\n        for x in data:\n"
        "            self.w, loss = step(self.w, x)\n"
        "            self.last = float(loss)  # here\n            self.repair()\n"
        "    def repair(self):\n        if self.last > 30:\n"
        "            self.w = restart(self.w)  # ask\n",
        "def repair(w):\n    return restart(w)  # ask\n" LOOP
        "        if loss > 30:  # here\n            w = repair(w)\n",
        "measure = jax.jit(lambda w: jnp.mean(w))\n" LOOP
        "        if measure(w) > 30:  # here\n            w = restart(w)  # ask\n",
        LOOP "        losses = [float(loss)]  # here\n        if max(losses) > 30:\n"
             "            w = restart(w)  # ask\n",
        LOOP "        stats = {'loss': loss}\n        if stats['loss'] > 30:  # here\n"
             "            w = restart(w)  # ask\n",
        "def main(w, data):\n\tfor x in data:\n\t\tw, loss = step(w, x)\n"
        "\t\tif loss > 30:  # here\n\t\t\tw = restart(w)  # ask\n",
        "async def main(w, data):\n    async for x in data:\n        w, loss = step(w, x)\n"
        "        if loss > 30:  # here\n            w = restart(w)  # ask\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        bool reads = condition_reads(bodies[i]);

        EXPECT(reads);
        if (!reads)
            fprintf(stderr, "in:\n%s", bodies[i]);
    }
}

TEST(a_condition_on_a_value_of_the_host_reads_nothing_back)
{
    static const char *const bodies[] = {
        LOOP "        if i % 10 == 0:\n            w = restart(w)  # ask\n",
        LOOP "        if float(i) > LIMIT:\n            w = restart(w)  # ask\n",
        LOOP "        if w.shape[0] > 8:\n            w = restart(w)  # ask\n",
        LOOP "        if len(w) > 8 or x.ndim == 2:\n            w = restart(w)  # ask\n",
        LOOP "        if loss is None:\n            w = restart(w)  # ask\n",
        LOOP "        if int('3') == i:\n            w = restart(w)  # ask\n",
        LOOP "        if isinstance(loss, float):\n            w = restart(w)  # ask\n",
        LOOP "        print(float(loss))\n        if i:\n            w = restart(w)  # ask\n",
        LOOP "        loss = 0.0\n        if loss > 3:\n            w = restart(w)  # ask\n",
        LOOP "        if loss > 3:\n            print(loss)\n        w = restart(w)  # ask\n",
        "def every(n, value):\n    return n % 5 == 0\n" LOOP
        "        if every(i, loss):\n            w = restart(w)  # ask\n",
        "import os\n" LOOP
        "        if int(os.environ['N']) > i:\n            w = restart(w)  # ask\n",
        "import time\n" LOOP "        if time.time() > 8:\n            w = restart(w)  # ask\n",
        "item = 3\n" LOOP "        if item > 2:\n            w = restart(w)  # ask\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        bool reads = condition_reads(bodies[i]);

        EXPECT(!reads);
        if (reads)
            fprintf(stderr, "in:\n%s", bodies[i]);
    }
}

TEST(the_condition_of_a_loop_counts_only_when_asked_for)
{
    struct stet_python_read read;

    begin(jax_head, "def main(w, loss):\n    loss = jnp.mean(w)\n    while float(loss) > 1:\n"
                    "        w, loss = step(w, w)  # ask\n");
    EXPECT(stet_python_condition_reads(&sources, here(), line_of("# ask"), true, &read));
    EXPECT(!stet_python_condition_reads(&sources, here(), line_of("# ask"), false, &read));
    finish();
}

TEST(a_helper_of_another_file_is_followed)
{
    struct stet_python_read read = {0};
    char other[128];

    begin(jax_head, "from helpers import over as above\n" LOOP
                    "        if above(loss):  # call\n            w = restart(w)  # ask\n");
    write_file("helpers.py", "LIMIT = 3\ndef over(v):\n    return float(v) > LIMIT\n");
    EXPECT(stet_python_condition_reads(&sources, here(), line_of("# ask"), true, &read));
    snprintf(other, sizeof other, "%s/helpers.py", folder);
    EXPECT(stet_view_is(read.file, other));
    EXPECT_INT(3, read.line);
    EXPECT_INT(line_of("# call"), read.here);
    EXPECT(read.sure);
    finish();

    begin(jax_head, "import pkg.tools\n" LOOP
                    "        if pkg.tools.over(loss):\n            w = restart(w)  # ask\n");
    mkdir(strcat(strcpy(other, folder), "/pkg"), 0700);
    write_file("pkg/__init__.py", "");
    write_file("pkg/tools.py",
               "from .more import nothing\ndef over(v):\n    return v.item() > 3\n");
    EXPECT(stet_python_condition_reads(&sources, here(), line_of("# ask"), true, &read));
    finish();
}

TEST(an_import_that_is_not_there_is_searched_once)
{
    const struct stet_python_module *m;
    struct stet_view rest;

    begin(jax_head, "");
    m = stet_python_open(&sources, here());
    EXPECT(m);
    EXPECT(!stet_python_import(&sources, m, STET_VIEW("helpers"), &rest));
    write_file("helpers.py", "");
    EXPECT(!stet_python_import(&sources, m, STET_VIEW("helpers"), &rest));
    EXPECT(stet_python_import(&sources, m, STET_VIEW(".helpers"), &rest));
    finish();
}

/* ---- arguments ---- */

static bool argument_reads(const char *body)
{
    struct stet_python_read read = {0};
    bool reads;

    begin(jax_head, body);
    reads = stet_python_argument_reads(&sources, here(), line_of("# ask"), &read);
    if (reads && line_of("# here"))
        EXPECT_INT(line_of("# here"), read.here);
    finish();
    return reads;
}

#define FOUND                                                                                      \
    "@functools.partial(jax.jit, static_argnames='n')\n"                                           \
    "def best(s, n):\n    return s[:n]\n"                                                          \
    "def main(s, w):\n    s, _ = step(s, w)\n"

TEST(an_argument_that_was_read_back_is_found)
{
    static const char *const yes[] = {
        FOUND "    n = int(jnp.sum(s > 0))  # here\n    best(s, n=n)  # ask\n",
        FOUND "    best(s, n=int(jnp.sum(s > 0)))  # ask # here\n",
        FOUND
        "    best(\n        s,\n        n=(s > 0).sum().item(),\n    )\n    x = 1  # not here\n"
        "    best(s, (s > 0).sum().item())  # ask # here\n",
        FOUND "    n = sum(onumpy.array(s) > 0)  # here\n    best(s, n)  # ask\n",
        FOUND "    host = onumpy.asarray(s)  # here\n    n = int((host > 0).sum())\n"
              "    best(s, n)  # ask\n",
        FOUND "    n = int(onumpy.count_nonzero(s))  # here\n    n = min(n + 1, 9)\n"
              "    best(s, n=n * 2)  # ask\n",
        FOUND "    n = s.sum().item()  # here\n    x = w[:n]\n    best(x, n=3)  # ask\n",
        FOUND "    n = 4\n    for t in range(3):\n        best(s, n)  # ask\n"
              "        n = int(s.sum())  # here\n",
        "def how_many(s):\n    return int(jnp.sum(s > 0))  # here\n" FOUND
        "    n = how_many(s)\n    best(s, n)  # ask\n",
        "def parts(s):\n    a = 3\n    b = int(s.sum())  # here\n    return a, b\n" FOUND
        "    k, n = parts(s)\n    best(s, n)  # ask\n",
    };
    static const char *const no[] = {
        FOUND "    n = w.shape[0]\n    best(s, n)  # ask\n",
        FOUND "    n = int('3') + len(w)\n    best(s, n)  # ask\n",
        FOUND "    n = int(jnp.sum(s))\n    n = 8\n    best(s, n)  # ask\n",
        FOUND "    print(int(jnp.sum(s)))\n    best(s, 4)  # ask\n",
        FOUND "    n = int(best(s, 4))  # ask\n",
        "def parts(s):\n    a = 3\n    b = int(s.sum())\n    return a, b\n" FOUND
        "    k, n = parts(s)\n    best(s, k)  # ask\n",
    };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        bool reads = argument_reads(yes[i]);

        EXPECT(reads);
        if (!reads)
            fprintf(stderr, "in:\n%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        bool reads = argument_reads(no[i]);

        EXPECT(!reads);
        if (reads)
            fprintf(stderr, "in:\n%s", no[i]);
    }
}

/* ---- lines that read ---- */

static bool line_reads(const char *body)
{
    bool reads;

    begin(jax_head, body);
    reads = stet_python_line_reads(&sources, here(), line_of("# ask"));
    finish();
    return reads;
}

TEST(a_line_that_shows_or_converts_an_array_reads_it_back)
{
    static const char *const yes[] = {
        LOOP "        print('loss', float(loss))  # ask\n",
        LOOP "        print('loss', jnp.std(w))  # ask\n",
        LOOP "        print(f'{i}: {jnp.std(w):.3f}')  # ask\n",
        LOOP "        logging.info('%s', jnp.std(w))  # ask\n",
        LOOP "        log.info('%s', jnp.std(w))  # ask\n",
        LOOP "        log.info('loss {}'.format(loss))  # ask\n",
        LOOP "        history = loss.tolist()  # ask\n",
        LOOP "        jax.block_until_ready(loss)  # ask\n",
        LOOP "        assert jnp.isfinite(loss)  # ask\n",
        LOOP "        y = 1 if loss > 3 else 2  # ask\n",
        "import wandb\n" LOOP "        wandb.log({'loss': loss, 'step': i})  # ask\n",
        "def show(value):\n    print('spread', float(value))\n" LOOP
        "        show(jnp.std(w))  # ask\n",
        "def outer(value):\n    inner(value)\ndef inner(v):\n    log.warning('%s', v)\n" LOOP
        "        outer(loss)  # ask\n",
    };
    static const char *const no[] = {
        LOOP "        print('step', i)  # ask\n",
        LOOP "        print(w.shape, len(w))  # ask\n",
        LOOP "        w = jnp.tanh(w)  # ask\n",
        LOOP "        y = restart(w)  # ask\n",
        LOOP "        log.info('step %d', i)  # ask\n",
        "def show(n):\n    print('step', n)\n" LOOP "        show(i)  # ask\n",
    };

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        bool reads = line_reads(yes[i]);

        EXPECT(reads);
        if (!reads)
            fprintf(stderr, "in:\n%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        bool reads = line_reads(no[i]);

        EXPECT(!reads);
        if (reads)
            fprintf(stderr, "in:\n%s", no[i]);
    }
}

TEST(array_functions_are_distinguished_from_others_of_their_name)
{
    begin(jax_head, "def topk(a, k):\n    return a\n"
                    "def main(x, name):\n"
                    "    y = jax.lax.top_k(x, 3)  # real\n"
                    "    y = topk(x, 3)  # own\n"
                    "    y = 'a,b'.split(',')  # text\n"
                    "    y = x.split(4)  # parts\n"
                    "    # x.topk(2)\n"
                    "    y = 'x.topk(2)'  # quoted\n");
    EXPECT(stet_python_line_calls(&sources, here(), line_of("# real"), PY_TOPK));
    EXPECT(!stet_python_line_calls(&sources, here(), line_of("# real"), PY_SELECTS));
    EXPECT(!stet_python_line_calls(&sources, here(), line_of("# own"), PY_TOPK));
    EXPECT(!stet_python_line_calls(&sources, here(), line_of("# text"), PY_SPLITS));
    EXPECT(stet_python_line_calls(&sources, here(), line_of("# parts"), PY_SPLITS));
    EXPECT(!stet_python_line_calls(&sources, here(), line_of("# quoted"), PY_TOPK));
    finish();
}

/* ---- jit ---- */

static uint32_t jit_line(const char *body)
{
    struct stet_view from;
    uint32_t line;

    begin(jax_head, body);
    line = stet_python_makes_jit(&sources, here(), line_of("# ask"), &from);
    if (line)
        EXPECT_INT(line_of("# here"), line);
    finish();
    return line;
}

TEST(a_function_jitted_in_a_loop_is_found)
{
    EXPECT(jit_line("for x in range(3):\n    f = jax.jit(lambda a: a)  # here\n    f(x)  # ask\n"));
    EXPECT(jit_line("from jax import jit as fast\nfor x in range(3):\n    fast(lambda a: a)(x)"
                    "  # ask # here\n"));
    EXPECT(jit_line("def run(x):\n    @functools.partial(jax.jit, static_argnums=0)  # here\n"
                    "    def f(n, a):\n        return a\n    return f(2, x)  # ask\n"));
    EXPECT(jit_line("def make(c):\n    return jax.jit(lambda a: a * c)  # here\n"
                    "for x in range(3):\n    f = make(x)\n    f(x)  # ask\n"));
    EXPECT(jit_line("import torch\nfor x in range(3):\n    f = torch.compile(model)  # here\n"
                    "    f(x)  # ask\n"));
    EXPECT(!jit_line("f = jax.jit(lambda a: a)\nfor x in range(3):\n    f(x)  # ask\n"));
    EXPECT(!jit_line("def jit(f):\n    return f\nfor x in range(3):\n    jit(f)(x)  # ask\n"));
    EXPECT(!jit_line("for x in range(3):\n    step(x, 'jax.jit(f)')  # ask\n"));
}

/* ---- functions ---- */

static bool is_static(const char *body, const char *name, bool starts)
{
    struct stet_view found;
    bool same;

    begin(jax_head, body);
    found =
        stet_python_static_used(&sources, here(), STET_VIEW("f"), here(), line_of("# ask"), starts);
    same = name ? stet_view_is(found, name) : !found.len;
    finish();
    return same;
}

TEST(the_static_argument_that_a_line_uses_is_found)
{
    EXPECT(is_static("@functools.partial(jax.jit, static_argnames=('n', 'm'))\n"
                     "def f(x, n, m):\n    y = x[m:]\n    return y * m  # ask\n",
                     "m", false));
    EXPECT(is_static("@functools.partial(jax.jit, static_argnums=1)\n"
                     "def f(x, n):\n    k = n + 1\n    return x ** k  # ask\n",
                     "n", false));
    EXPECT(
        is_static("def f(x, n):\n    return x ** n  # ask\ng = jax.jit(f, static_argnums=(1,))\n",
                  "n", false));
    EXPECT(is_static("FIXED = ('n',)\ndef f(x, n):\n    return x ** n  # ask\n"
                     "g = jax.jit(f, static_argnames=FIXED)\n",
                     "n", false));
    EXPECT(is_static("def help(y, k):\n    return y ** k  # ask\n"
                     "@functools.partial(jax.jit, static_argnums=1)\n"
                     "def f(x, n):\n    return help(x, n)\n",
                     "n", false));
    EXPECT(is_static("@functools.partial(jax.jit, static_argnums=1)\n"
                     "def f(x, n):\n    return x ** 3  # ask n\n",
                     NULL, false));
    EXPECT(is_static("@jax.jit\ndef f(x, n):\n    return x ** n  # ask\n", NULL, false));
    EXPECT(is_static("@functools.partial(jax.jit, static_argnums=1)\n"
                     "def f(x, n, m):\n    return x ** m  # ask\n",
                     NULL, false));
}

TEST(a_start_is_distinguished_from_other_uses_of_a_static_argument)
{
#define STATIC                                                                                     \
    "@functools.partial(jax.jit, static_argnames='n')\ndef f(x, n, start=2):\n    return "
    EXPECT(is_static(STATIC "x[n : n + 8] * 2  # ask\n", "n", true));
    EXPECT(is_static(STATIC "x[:, 2 * n]  # ask\n", "n", true));
    EXPECT(is_static(STATIC "x[-n:].sum()  # ask\n", "n", true));
    EXPECT(is_static(STATIC "x.at[n].set(0)  # ask\n", "n", true));
    EXPECT(is_static(STATIC "jax.lax.slice(x, (n, 0), (n + 8, 4))  # ask\n", "n", true));
    EXPECT(is_static(STATIC "jax.lax.slice_in_dim(x + 1, start_index=n)  # ask\n", "n", true));
    EXPECT(is_static(STATIC "jnp.roll(x, n, axis=0)  # ask\n", "n", true));
    EXPECT(is_static(STATIC "x[start : start + 8] * n  # ask\n", NULL, true));
    EXPECT(is_static(STATIC "x[start : start + n]  # ask\n", NULL, true));
    EXPECT(is_static(STATIC "jax.lax.slice(x, (start,), (start + n,))  # ask\n", NULL, true));
    EXPECT(is_static(STATIC "jnp.roll(n * x, start)  # ask\n", NULL, true));
    EXPECT(is_static(STATIC "[n, x]  # ask\n", NULL, true));
    EXPECT(is_static(STATIC "jnp.roll(x  # ask\n", NULL, true));
    EXPECT(is_static(STATIC "x[  # ask\n", NULL, true));
#undef STATIC
}

TEST(names_are_parameters_defaults_or_free)
{
    struct stet_view value;

    begin("", "def outer(scale):\n"
              "    @decorated(1)  # first\n"
              "    def inner(x, *rest, k: int = 3,  # a, comment\n"
              "              text=\"a, b)\", **more):\n"
              "        return x * scale\n"
              "    return inner\n"
              "f = lambda a, b=2: a + c  # lambda\n");
#define ROLE(mark, name)                                                                           \
    stet_python_name_role(&sources, here(), line_of(mark), STET_VIEW(name), &value)
    EXPECT_INT(PY_NAME_PARAMETER, ROLE("# first", "x"));
    EXPECT_INT(PY_NAME_DEFAULT, ROLE("# first", "k"));
    EXPECT(stet_view_is(value, "3"));
    EXPECT_INT(PY_NAME_DEFAULT, ROLE("# first", "text"));
    EXPECT(stet_view_is(value, "\"a, b)\""));
    EXPECT_INT(PY_NAME_PARAMETER, ROLE("# first", "more"));
    EXPECT_INT(PY_NAME_FREE, ROLE("# first", "scale"));
    EXPECT_INT(PY_NAME_DEFAULT, ROLE("# lambda", "b"));
    EXPECT_INT(PY_NAME_FREE, ROLE("# lambda", "c"));
    EXPECT_INT(line_of("# first") + 1, stet_python_def_line(&sources, here(), line_of("# first")));
    EXPECT_INT(1, stet_python_def_line(&sources, here(), 1));
#undef ROLE
    finish();
}

TEST(parameters_that_may_be_absent_and_calls_elsewhere)
{
    begin(jax_head, "def f(x, mask=None, *, k, m):\n    if m is not None:\n        x = x * m\n"
                    "    return x * k\n"
                    "f(1, k=2, m=None)  # warm\n"
                    "for x in range(3):\n    f(x, k=3, m=x)  # ask\n");
#define ABSENT(name) stet_python_may_be_absent(&sources, here(), STET_VIEW("f"), STET_VIEW(name))
    EXPECT(ABSENT("mask"));
    EXPECT(ABSENT("m"));
    EXPECT(!ABSENT("k"));
    EXPECT(!ABSENT("x"));
#undef ABSENT
    EXPECT(stet_python_called_elsewhere(&sources, here(), STET_VIEW("f"), line_of("# ask")));
    EXPECT(!stet_python_called_elsewhere(&sources, here(), STET_VIEW("step"), line_of("# ask")));
    finish();
}

TEST(a_method_of_a_librarys_object_is_not_the_users_function)
{
    begin("import threading\nimport queue\n", "def start(x):\n    return x\n"
                                              "for x in range(3):\n    start(x)  # ask\n"
                                              "threading.Thread(target=print).start()\n"
                                              "worker = threading.Thread(target=print)\n"
                                              "worker.start()\n");
    EXPECT(!stet_python_called_elsewhere(&sources, here(), STET_VIEW("start"), line_of("# ask")));
    finish();
    begin("import threading\n", "class Model:\n    def start(self, x):\n        return x\n"
                                "model = Model()\nmodel.start(1)  # ask\nmodel.start(2)\n");
    EXPECT(stet_python_called_elsewhere(&sources, here(), STET_VIEW("start"), line_of("# ask")));
    finish();
}

TEST(an_optimizer_is_known_by_what_it_is_given)
{
    begin(jax_head, "def move(p, g, rate):\n    return p - rate * g  # update\n"
                    "def scale(p, rate):\n    return p * rate  # other\n"
                    "@jax.jit\ndef train(p, x):\n    slope = jax.grad(loss)(p, x)\n"
                    "    return scale(move(p, slope, 0.1), 2.0)\n");
    EXPECT(stet_python_is_optimizer(&sources, here(), line_of("# update")));
    EXPECT(!stet_python_is_optimizer(&sources, here(), line_of("# other")));
    EXPECT(stet_python_is_optimizer(&sources, STET_VIEW("/x/site-packages/torch/optim/sgd.py"), 1));
    EXPECT(stet_python_is_optimizer(&sources, STET_VIEW("/x/optax/_src/alias.py"), 1));
    EXPECT(!stet_python_is_optimizer(&sources, STET_VIEW("/home/me/optimal/adam.py"), 1));
    finish();
}

/* ---- files that are not as they should be ---- */

TEST(broken_missing_and_odd_files_only_mean_less_evidence)
{
    static const char *const odd[] = {
        "",
        "\n\n# ask",
        "def f(:\n    if x[:\n        y = (  # ask\n",
        "if loss >\n    restart(w)  # ask\n",
        "x = '''\nif float(loss):\n    # ask\n'''\n",
        "def f(x):\n    return f(f(f(x)))  # ask\n",
        "a = b\nb = a\nif a:\n    c = a(b)  # ask\n",
        "class A(A):\n  x = A.x\n  def f(self):\n    if self.x:\n      self.f()  # ask\n",
        "\x00\x01\x02 # ask\n",
        "\xff\xfe if x: # ask\n",
    };
    struct stet_python_read read;
    struct stet_view from;

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        uint32_t line;

        begin("", odd[i]);
        line = line_of("# ask") ? line_of("# ask") : 1;
        stet_python_condition_reads(&sources, here(), line, true, &read);
        stet_python_argument_reads(&sources, here(), line, &read);
        stet_python_line_reads(&sources, here(), line);
        stet_python_makes_jit(&sources, here(), line, &from);
        EXPECT_INT(0, stet_python_def_around(&sources, here(), 4000));
        finish();
    }
    EXPECT(!stet_python_line_reads(&sources, STET_VIEW("/nowhere/at/all.py"), 1));
    EXPECT(!stet_python_line_reads(&sources, STET_VIEW("<stdin>"), 1));
    EXPECT(!stet_python_line_reads(&sources, STET_VIEW(""), 1));
    EXPECT(!stet_python_line_reads(&sources, STET_VIEW("/tmp"), 1));
    stet_python_sources_release(&sources);
}

TEST(helpers_that_call_each_other_many_times_end_soon)
{
    size_t n = 0;
    static char body[12000];
    struct stet_python_read read;

    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(body + n, sizeof body - n,
                              "def f%d(x):\n    y = f%d(x) + f%d(x)\n    return y * f%d(y)\n", i,
                              i + 1, i + 1, i + 1);
    snprintf(body + n, sizeof body - n,
             "def f60(x):\n    return x\nif f0(3):\n    step(f0(1), 2)  # ask\n");
    begin(jax_head, body);
    stet_python_condition_reads(&sources, here(), line_of("# ask"), true, &read);
    stet_python_argument_reads(&sources, here(), line_of("# ask"), &read);
    EXPECT(stet_python_def_around(&sources, here(), line_of("# ask")) == 0);
    finish();
}
