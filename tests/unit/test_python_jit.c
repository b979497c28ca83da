/* Facts about the line that jitted the function which a waiting call runs, and the line that makes
 * an optimizer. A script marks that line with `# here`, the call that waits with `# call`, and its
 * caller with `# call2`. `# made` is the line that called a function which jits, where there is
 * one. The function's code begins at `# def`. */
#include "python_help.h"

#define HEAD                                                                                       \
    "import contextlib, functools\nimport equinox as eqx\nimport jax\nfrom jax import jit as "     \
    "fast\n"                                                                                       \
    "def plain(x, n=1):  # def\n    return x * n\n"

static void expect(const char *body)
{
    struct stet_python_stack stack;
    struct stet_python_made at, maker;
    uint32_t made;

    begin(HEAD, body);
    stack = stack_of();
    at = stet_python_jitted(&sources, &stack, here(), line_of("# def"), false);
    maker = stet_python_jitted(&sources, &stack, here(), line_of("# def"), true);
    made = line_of("# made") ? line_of("# made") : line_of("# here");
    if (at.line != line_of("# here") || maker.line != made)
        fprintf(stderr, "lines %u and %u instead of %u and %u of\n%s\n", at.line, maker.line,
                line_of("# here"), made, body);
    EXPECT_INT(line_of("# here"), at.line);
    EXPECT_INT(made, maker.line);
    finish();
}

#define EACH(bodies)                                                                               \
    for (size_t i = 0; i < sizeof(bodies) / sizeof *(bodies); i++)                                 \
    expect((bodies)[i])

TEST(names_lead_to_the_line_that_jits)
{
    static const char *const bodies[] = {
        "step = jax.jit(plain)  # here\nfor x in data:\n    y = step(x)  # call\n",
        "def run(x):\n    step = fast(plain)  # here\n    for _ in range(9):\n"
        "        x = step(x)  # call\n",
        "for x in data:\n    y = jax.jit(plain)(x)  # call # here\n",
        "for x in data:\n    y = functools.partial(jax.jit, static_argnums=1)(plain)(x, 2)  # call "
        "# "
        "here\n",
        "base = jax.jit(plain)  # here\nstep = functools.partial(base, n=2)\n"
        "for x in data:\n    y = step(x)  # call\n",
        "step = jax.jit(plain)  # here\ndone = step.lower(1).compile()\n"
        "for x in data:\n    y = float(done(x))  # call\n",
        "step = eqx.filter_jit(plain) if small else eqx.filter_jit(plain, donate='all')\n"
        "step = jax.jit(plain)  # here\nfor x in data:\n    y = step(x)  # call\n",
    };

    EACH(bodies);
}

TEST(a_decorator_is_the_line_that_jits)
{
    static const char *const bodies[] = {
        "@jax.jit  # here\ndef step(x):\n    return x\nfor x in data:\n    step(x)  # call\n",
        "def run(x):\n    @functools.partial(fast, donate_argnums=0)  # here\n"
        "    def step(x):\n        return x\n    return step(x)  # call\n",
        "class Model:\n    @functools.partial(jax.jit, static_argnums=0)  # here\n"
        "    def update(self, x):\n        return x\n"
        "m = Model()\nfor x in data:\n    m.update(x)  # call\n",
    };

    EACH(bodies);
}

TEST(fields_and_containers_lead_to_it)
{
    static const char *const bodies[] = {
        "class Model:\n    def __init__(self):\n        self._step = jax.jit(plain)  # here\n"
        "    def run(self, x):\n        return self._step(x)  # call\n"
        "m = Model()\nm.run(1)  # call2\n",
        "class Model:\n    step = staticmethod(jax.jit(plain))  # here\n"
        "    def run(self, x):\n        return self.step(x)  # call\n",
        "class Model:\n    def __init__(self, fn):\n        self.fn = fn\n"
        "    def run(self, x):\n        return self.fn(x)  # call\n"
        "m = Model(jax.jit(plain))  # here\nm.run(1)  # call2\n",
        "class Model:\n    @property\n    def width(self):\n        return self._width\n"
        "    @width.setter\n    def width(self, value):\n        self._width = value\n"
        "        self._step = jax.jit(functools.partial(plain, n=value))  # here\n"
        "    def run(self, x):\n        return self._step(x)  # call\n",
        "table = {'a': jax.jit(plain)}  # here\nfor x in data:\n    y = table['a'](x)  # call\n",
        "built = {}\ndef run(k, x):\n    if k not in built:\n"
        "        built[k] = jax.jit(plain)  # here\n    return built[k](x)  # call\n",
        "pair = (plain, jax.jit(plain))  # here\nfor x in data:\n    y = pair[1](x)  # call\n",
    };

    EACH(bodies);
}

TEST(what_a_function_returns_leads_to_it)
{
    static const char *const bodies[] = {
        "def make(n):\n    return jax.jit(functools.partial(plain, n=n))  # here\n"
        "for x in data:\n    step = make(x)  # made\n    y = step(x)  # call\n",
        "def make(n):\n    def inner(x):\n        return x * n\n    return plain, jax.jit(inner)  "
        "# "
        "here\n"
        "for x in data:\n    start, step = make(x)  # made\n    y = step(x)  # call\n",
        "@functools.lru_cache\ndef make(n):\n    @jax.jit  # here\n    def inner(x):\n"
        "        return x * n\n    return inner\n"
        "for x in data:\n    y = make(x)(x)  # call # made\n",
        "@contextlib.contextmanager\ndef ready(n):\n    yield jax.jit(plain)  # here\n"
        "def run(x):\n    with ready(3) as step:  # made\n        return step(x)  # call\n",
        "class Steps:\n    def at(self, n):\n        if n not in self.built:\n"
        "            self.built[n] = self.build(n)\n        return self.built[n]\n"
        "    def build(self, n):\n        return jax.jit(plain)  # here\n"
        "steps = Steps()\nfor x in data:\n    y = steps.at(x)(x)  # call # made\n",
    };

    EACH(bodies);
}

TEST(a_parameter_is_what_the_caller_passes)
{
    expect("def run(step, x):\n    return step(x)  # call\n"
           "def main():\n    good = jax.jit(plain)  # here\n    run(good, 1)  # call2\n");
}

TEST(a_function_that_is_not_jitted_has_no_line)
{
    expect("for x in data:\n    y = plain(x)  # call\n");
    expect("from elsewhere import step\nfor x in data:\n    y = step(x)  # call\n");
}

/* ---- optimizers ---- */

static void expect_optimizer(const char *body, bool sure)
{
    struct stet_python_made made;

    begin("import jax\nimport optax\n", body);
    EXPECT(stet_python_open(&sources, here()) != NULL);
    made = stet_python_makes_optimizer(&sources);
    if (made.line != line_of("# here") || made.sure != sure)
        fprintf(stderr, "line %u instead of %u of\n%s\n", made.line, line_of("# here"), body);
    EXPECT_INT(line_of("# here"), made.line);
    EXPECT(made.sure == sure);
    finish();
}

TEST(an_optimizer_is_made_again_with_another_number)
{
    expect_optimizer("def make(rate):\n"
                     "    return optax.chain(optax.clip(1.0), optax.sgd(rate))  # here\n",
                     true);
    /* the first one is made with the object */
    expect_optimizer("class Run:\n    def __init__(self, lr):\n        self.tx = optax.adam(lr)\n"
                     "    def lower(self):\n        self.tx = optax.adam(self.lr)  # here\n",
                     true);
    expect_optimizer("def a(lr):\n    return optax.adam(lr)  # here\n"
                     "def b(lr):\n    return optax.sgd(lr)\n",
                     false);
}

TEST(an_optimizer_of_a_written_number_or_a_schedule_stays_the_same)
{
    expect_optimizer("RATE = 1e-3\ntx = optax.adam(RATE)\nty = optax.sgd(0.1, momentum=0.9)\n"
                     "def make():\n    return optax.adam(optax.cosine_decay_schedule(1e-3, 100))\n",
                     false);
}
