/* Facts about what a loop reaches in the source, and what a statement does with a number. */
#include "test.h"

#include "explain/pysource.h"

#include <stdlib.h>
#include <unistd.h>

static const char script[] = "class Block(nn.Module):\n"            /* 1 */
                             "    def __init__(self):\n"            /* 2 */
                             "        self.decay = 0.9 ** depth\n"  /* 3 */
                             "\n"                                   /* 4 */
                             "    def forward(self, x):\n"          /* 5 */
                             "        self.calls += 1\n"            /* 6 */
                             "        return x ** self.calls\n"     /* 7 */
                             "\n"                                   /* 8 */
                             "\n"                                   /* 9 */
                             "def beside(x):\n"                     /* 10 */
                             "    return x ** width\n"              /* 11 */
                             "\n"                                   /* 12 */
                             "\n"                                   /* 13 */
                             "def helper(x):\n"                     /* 14 */
                             "    # beside(x)\n"                    /* 15 */
                             "    return x.roll(\n"                 /* 16 */
                             "        shift)\n"                     /* 17 */
                             "\n"                                   /* 18 */
                             "\n"                                   /* 19 */
                             "def main():\n"                        /* 20 */
                             "    model = Block().to('xla')\n"      /* 21 */
                             "    beside(1)\n"                      /* 22 */
                             "    for step in range(9):\n"          /* 23 */
                             "        y = helper(model(x))\n"       /* 24 */
                             "        torch_xla.sync()  # x ** n\n" /* 25 */
                             "    print(y)\n"                       /* 26 */
                             "\n"                                   /* 27 */
                             "@torch_xla.compile\n"                 /* 28 */
                             "def traced(x, power=2.0):\n"          /* 29 */
                             "    return x ** power\n";             /* 30 */

static struct stet_pysources sources;

static const struct stet_pyfile *opened(void)
{
    static char path[] = "/tmp/stet-pyreach-XXXXXX";
    const struct stet_pyfile *f;
    int fd = mkstemp(path);

    EXPECT_INT((int)sizeof script - 1, (int)write(fd, script, sizeof script - 1));
    close(fd);
    f = stet_pysource_open(&sources, stet_view_str(path));
    unlink(path);
    return f;
}

static bool reaches(const struct stet_pyfile *f, const struct stet_py_reach *r, uint32_t wanted)
{
    for (uint32_t span = 0, line = 0; stet_py_reach_next(f, r, &span, &line);)
        if (line == wanted)
            return true;
    return false;
}

TEST(a_loop_reaches_its_lines_and_what_it_calls_and_no_more)
{
    const struct stet_pyfile *f = opened();
    struct stet_py_reach r;

    EXPECT(f != NULL);
    if (!f)
        return;
    stet_py_reach_from(f, 25, &r);
    EXPECT(reaches(f, &r, 24) && reaches(f, &r, 25));
    EXPECT(reaches(f, &r, 7));   /* the module's forward */
    EXPECT(reaches(f, &r, 16));  /* a function */
    EXPECT(!reaches(f, &r, 15)); /* a remark */
    EXPECT(!reaches(f, &r, 17)); /* in the middle of a statement */
    EXPECT(!reaches(f, &r, 3));  /* a module is made before the loop */
    EXPECT(!reaches(f, &r, 11)); /* called beside it, and named in a remark */
    EXPECT(!reaches(f, &r, 26));
    EXPECT_INT(0, (int)stet_py_operand_of(stet_py_statement(f, 25), STET_VIEW("power")).len);
    stet_py_reach_from(f, 26, &r); /* no loop: the function */
    EXPECT(reaches(f, &r, 22) && reaches(f, &r, 11));
    stet_py_reach_from(f, 0, &r);
    EXPECT_INT(0, (int)r.count);
    EXPECT(stet_py_compiled_lazily(f, STET_VIEW("traced")));
    EXPECT(!stet_py_compiled_lazily(f, STET_VIEW("helper")));
    EXPECT(stet_view_is(stet_py_parameter_in(f, STET_VIEW("traced"), STET_VIEW("power")), "power"));
    EXPECT_INT(0, (int)stet_py_parameter_in(f, STET_VIEW("traced"), STET_VIEW("powers")).len);
    stet_pysources_release(&sources);
}

/* `x = x(x(x(…`: a name is looked up once, however often it is called. */
TEST(a_name_that_is_called_a_million_times_is_looked_up_once)
{
    static char text[2000064] = "for i in y:\n    x = ";
    char path[] = "/tmp/stet-pyreach-XXXXXX";
    const struct stet_pyfile *f;
    struct stet_py_reach r;
    int fd = mkstemp(path);
    size_t n = strlen(text);

    for (; n < 2000000; n += 2)
        memcpy(text + n, "x(", 2);
    EXPECT_INT((int)n, (int)write(fd, text, n));
    close(fd);
    f = stet_pysource_open(&sources, stet_view_str(path));
    unlink(path);
    EXPECT(f != NULL);
    if (f)
        stet_py_reach_from(f, 2, &r);
    EXPECT_INT(1, f ? (int)r.count : 0);
    stet_pysources_release(&sources);
}

static bool gives(const char *statement, const char *operation, const char *operand)
{
    return stet_view_is(stet_py_operand_of(stet_view_str(statement), stet_view_str(operation)),
                        operand);
}

TEST(an_operation_is_found_by_the_number_that_has_a_name)
{
    EXPECT(gives("y = a * x**n + b", "power", "n"));
    EXPECT(gives("y = x ** (n + 1)", "power", "(n + 1)"));
    EXPECT(gives("y = x ** self.calls", "power", "self.calls"));
    EXPECT(gives("y = torch.pow(f(x, 1), n)", "power", " n"));
    EXPECT(gives("y = x.pow(n)", "power", "n"));
    EXPECT(gives("y = x**2", "power", "")); /* a literal never moves */
    EXPECT(gives("y = x.pow(2.5)", "power", ""));
    EXPECT(gives("y = mypow(x, n)", "power", ""));
    EXPECT(gives("y = x**n", "tanh", ""));
    EXPECT(gives("y = x**WIDTH", "power", "")); /* nor does a constant */
    EXPECT(gives("y = F.one_hot(x.argmax(-1), n + 1)[:, 1:]", "broadcast", " n + 1"));
    EXPECT(gives("y = rows[start : start + 4]", "slice", "start : start + 4"));
    EXPECT(gives("y = [a for a in b]", "slice", ""));
    EXPECT(gives("y = rows[1:4]", "slice", ""));
    EXPECT(gives("y = x ** (n", "power", "(n")); /* never closed */
    EXPECT(gives("y = x **", "power", ""));
    EXPECT(gives("loss = model(**batch)", "power", "")); /* nothing is raised */
    EXPECT(gives("loss = model(x, **batch) ** n", "power", "n"));
    EXPECT(gives("def f(x, **options):", "power", ""));
    EXPECT(gives("y = torch.arange(LENGTH, device=x.device)", "compare", "")); /* no number */
    EXPECT(gives("y = torch.arange(n, device=x.device)", "compare", "n, device=x.device"));
    EXPECT(gives("y = torch.zeros(n, 4)", "broadcast", "n, 4"));
    EXPECT(gives("y = x.narrow(0, start, 4)", "slice", "0, start, 4"));
    EXPECT(gives("y = table[i]", "slice", "i"));
    EXPECT(gives("y = batch['x']", "slice", ""));
}

TEST(data_comes_to_a_device_that_is_named)
{
    EXPECT(stet_py_moves(STET_VIEW("x = x.to(device)")));
    EXPECT(stet_py_moves(STET_VIEW("y = model(x.to('xla').float())")));
    EXPECT(stet_py_moves(STET_VIEW("x = x.to(torch.float32).to(xm.xla_device())")));
    EXPECT(!stet_py_moves(STET_VIEW("x = x.to(torch.bfloat16)")));
    EXPECT(!stet_py_moves(STET_VIEW("mask = mask.to(x.dtype)")));
    EXPECT(!stet_py_moves(STET_VIEW("x = x.to(self.kind)")));
    EXPECT(!stet_py_moves(STET_VIEW("x.to(")));
}

TEST(a_name_is_a_start_where_a_part_begins_with_it)
{
    struct stet_view n = STET_VIEW("n");

    EXPECT(stet_py_uses_as_start(STET_VIEW("y = x[n : n + 8] * scale"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = x[:, 2 * n]"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = x[f(1, n):]"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = x[-n:].sum()"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = x.at[n].set(0)"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = jax.lax.slice(x, (n, 0), (n + 8, 4))"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = lax.slice_in_dim(g(x, 1), start_index=n)"), n));
    EXPECT(stet_py_uses_as_start(STET_VIEW("y = jnp.roll(x, n, axis=0)"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = x[start : start + 8] * n"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = x[start : start + n]"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = lax.slice(x, (start,), (start + n,))"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = jnp.roll(n * x, start)"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = [n, x]"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = jnp.roll(x"), n));
    EXPECT(!stet_py_uses_as_start(STET_VIEW("y = x["), n));
}

TEST(a_name_is_a_size_where_a_bound_or_a_shape_is_made_of_it)
{
    EXPECT(stet_py_uses_as_size(STET_VIEW("y = x[order[:count]]"), STET_VIEW("count")));
    EXPECT(stet_py_uses_as_size(STET_VIEW("y = torch.zeros(4, count)"), STET_VIEW("count")));
    EXPECT(!stet_py_uses_as_size(STET_VIEW("print(f'[{step}: {count}]')"), STET_VIEW("count")));
    EXPECT(!stet_py_uses_as_size(STET_VIEW("print('loss', count)"), STET_VIEW("count")));
    EXPECT(!stet_py_uses_as_size(STET_VIEW("y = x[:counts]"), STET_VIEW("count")));
    EXPECT(!stet_py_uses_as_size(STET_VIEW("y = x[count]"), STET_VIEW("count")));
    EXPECT(stet_view_is(stet_py_assigned(STET_VIEW("    count = int(x)")), "count"));
    EXPECT(stet_view_is(stet_py_assigned(STET_VIEW("self.count = int(x)")), "count"));
    EXPECT_INT(0, (int)stet_py_assigned(STET_VIEW("count == 3")).len);
    EXPECT_INT(0, (int)stet_py_assigned(STET_VIEW("")).len);
    EXPECT(stet_view_is(stet_py_called_on(STET_VIEW("  opt.step()"), STET_VIEW("step")), "opt"));
    EXPECT(
        stet_view_is(stet_py_called_on(STET_VIEW("a.steps(b.step(1))"), STET_VIEW("step")), "b"));
    EXPECT_INT(0, (int)stet_py_called_on(STET_VIEW("step()"), STET_VIEW("step")).len);
    EXPECT_INT(0, (int)stet_py_called_on(STET_VIEW("x.step"), STET_VIEW("step")).len);
}
