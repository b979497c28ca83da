/* Facts about what depends on values that were read back. A script marks the lines that were
 * observed to copy to the host with `# reads`, the line that waits with `# call` and its callers
 * with
 * `# call2` and `# call3`. The called function is `step`. `# here` is the line that makes a number
 * of what was read, or selects with it. */
#include "python_help.h"

#define HEAD                                                                                       \
    "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"                                    \
    "def step(x, n=1):  # def\n    return x * n\n"                                                 \
    "step = jax.jit(step)\n"                                                                       \
    "measure = jax.jit(lambda x: x.sum())\n"                                                       \
    "rng = np.random.default_rng(0)\n"

/* Was a line with the mark among them? `calls`: or one with `# leads`, which calls a function that
 * reads. */
static bool was_read(void *context, struct stet_view file, uint32_t first, uint32_t last,
                     bool calls)
{
    uint32_t line = 1;
    (void)context;

    if (!stet_view_eq(file, here()))
        return false;
    for (const char *p = text; *p; p++) {
        line += *p == '\n';
        if (line >= first && line <= last &&
            (!strncmp(p, "# reads", 7) || (calls && !strncmp(p, "# leads", 7))))
            return true;
    }
    return false;
}

static const struct stet_python_copies copies = {was_read, NULL};

static bool rests(const char *body, const char *part, enum stet_python_aspect aspect,
                  struct stet_python_rested *out)
{
    struct stet_python_stack stack;
    struct stet_python_followed what = {.held = *part ? PY_HELD_ARGUMENT : PY_HELD_CALL,
                                        .path = stet_view_str(part),
                                        .aspect = aspect};

    begin(HEAD, body);
    stack = stack_of();
    what.file = here();
    what.line = line_of("# def");
    return stet_python_argument_rests(&sources, &stack, &what, &copies, out);
}

static void expect(const char *body, const char *part, enum stet_python_aspect aspect,
                   bool selected)
{
    struct stet_python_rested found = {0};
    bool is = rests(body, part, aspect, &found);
    uint32_t line = line_of("# here");

    if (is != (line != 0) || found.made.line != line || found.selected != selected)
        fprintf(stderr, "line %u%s instead of %u of\n%s\n", found.made.line,
                found.selected ? ", selected" : "", line, body);
    EXPECT_INT(line != 0, is);
    EXPECT_INT(line, found.made.line);
    EXPECT(found.selected == selected);
    finish();
}

#define EACH(bodies, part, aspect, selected)                                                       \
    for (size_t i = 0; i < sizeof(bodies) / sizeof *(bodies); i++)                                 \
    expect((bodies)[i], part, aspect, selected)

TEST(a_number_that_was_read_and_cuts_an_array_decides_its_size)
{
    static const char *const bodies[] = {
        "for x in data:\n    n = int(measure(x))  # reads # here\n    step(x[:n])  # call\n",
        "for x in data:\n    n = measure(x).item()  # reads # here\n"
        "    step(jnp.zeros((n, 3)))  # call\n",
        "def count(x):\n    return int(measure(x))  # reads # here\n"
        "for x in data:\n    step(np.pad(x, count(x)))  # call\n",
        "def run(x, n):\n    step(x[:n])  # call\n"
        "for x in data:\n    n = float(measure(x))  # reads # here\n    run(x, int(n))  # call2\n",
        "class Sized:\n    def __init__(self):\n        self.n = 3\n"
        "    def look(self, x):\n        self.n = int(measure(x))  # reads # here\n"
        "    def run(self, x):\n        step(x[:self.n])  # call\n"
        "s = Sized()\nfor x in data:\n    s.look(x)\n    s.run(x)  # call2\n",
        /* what was read is an array; the number is made of it later */
        "def sized(x):\n    held = np.asarray(measure(x))  # reads\n"
        "    most = int(held.max())  # here\n    return np.full((3, most), 0)\n"
        "for x in data:\n    step(sized(x))  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE, false);
}

TEST(the_number_of_elements_that_were_selected_is_a_number)
{
    static const char *const bodies[] = {
        "def cells(x):\n    held = np.asarray(measure(x))  # reads\n    n = len(np.unique(held))\n"
        "    return int(np.clip(8 * n, 16, 96))  # here\n"
        "for x in data:\n    step(rng.normal(size=(cells(x), 3)))  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE, false);
}

TEST(an_array_that_was_read_decides_no_size)
{
    static const char *const bodies[] = {
        "for x in data:\n    y = np.asarray(measure(x))  # reads\n    step(y)  # call\n",
        "for k, x in enumerate(data):\n    y = np.asarray(measure(x))  # reads\n"
        "    step(y[:k])  # call\n",
        "for x in data:\n    y = np.asarray(measure(x))  # reads\n    n = len(y)\n"
        "    step(np.stack([y, y])[:n])  # call\n",
        "rows = []\nfor x in data:\n    rows.append(np.asarray(measure(x)))  # reads\n"
        "    step(np.stack(rows))  # call\n",
        "for x in data:\n    loss = float(measure(x))  # reads\n    step(x * loss)  # call\n",
        "for x in data:\n    out.append(float(step(np.asarray(x)[:3, :3])))  # call # reads\n",
    };

    EACH(bodies, "x", PY_OF_SIZE, false);
}

TEST(a_number_of_the_host_was_not_read)
{
    static const char *const bodies[] = {
        "for part in (0.2, 0.5):\n    n = int(len(data) * part)\n    step(data[:n])  # call\n",
        "for x in data:\n    n = int(rng.integers(2, 9))\n    loss = float(measure(x))  # reads\n"
        "    step(x[:n])  # call\n",
        "alive = np.ones(9, bool)\nfor x in data:\n    n = int(alive.sum())\n"
        "    step(x[:n])  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE, false);
}

TEST(a_mask_that_was_read_selects)
{
    static const char *const bodies[] = {
        "for x in data:\n    y = np.asarray(measure(x))  # reads\n    keep = np.abs(y) > 0.5\n"
        "    step(x[keep])  # call # here\n",
        "for x in data:\n    y = np.asarray(measure(x))  # reads\n"
        "    rows = np.flatnonzero(y > 0)  # here\n    step(x[rows])  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE, true);
}

TEST(a_value_depends_on_the_conditions_around_its_assignment)
{
    static const char *const bodies[] = {
        "n = 1\nfor x in data:\n    if measure(x) > 3:  # reads # here\n        n = 2\n"
        "    step(x, n)  # call\n",
        "for x in data:\n    n = 2 if measure(x) > 3 else 1  # reads # here\n"
        "    step(x, n)  # call\n",
        "for x in data:\n    if measure(x) > 3:  # reads\n        print(x)\n"
        "    step(x, 2)  # call\n",
    };

    EACH(bodies, "n", PY_OF_VALUE, false);
}

TEST(what_a_call_gives_that_is_not_known_was_read_where_it_reads)
{
    expect("for x in data:\n    n = tool.guess(x)  # leads # here\n    step(x[:n])  # call\n", "x",
           PY_OF_SIZE, false);
    expect("for x in data:\n    n = tool.guess(x)\n    step(x[:n])  # call\n", "x", PY_OF_SIZE,
           false);
}

/* Does a condition over line `use` rest on line `read`? 2 when the condition itself reads. */
struct asked {
    uint32_t read;
};

static bool is_line(void *context, struct stet_view file, uint32_t first, uint32_t last, bool calls)
{
    const struct asked *a = context;
    (void)calls;

    return stet_view_eq(file, here()) && a->read >= first && a->read <= last;
}

static int decides(const char *body, uint32_t use, uint32_t read, bool loops)
{
    struct stet_python_stack stack = {.waits = 1, .count = 1};
    struct stet_python_rested found = {0};
    struct asked asked = {read};
    struct stet_python_copies lines = {is_line, &asked};
    bool is;

    begin("", body);
    stack.frames[0].file = here();
    stack.frames[0].line = use;
    is = stet_python_waiting_rests(&sources, &stack, &lines, loops, &found);
    finish();
    return is ? 1 + found.direct : 0;
}

TEST(a_condition_that_reads_decides_over_its_block)
{
    EXPECT_INT(2, decides("for x in data:\n    if f(x) > 1:\n        g(x)\n", 3, 2, false));
    EXPECT_INT(2, decides("for x in data:\n\tif f(x) > 1:\n\t\tg(x)\n", 3, 2, false));
    EXPECT_INT(2, decides("if f(x):\n    a()\nelif b:\n    c()\nelse:\n    g(x)\n", 6, 1, false));
    EXPECT_INT(2, decides("for x in d:\n    if f(x):\n        continue\n    g(x)\n", 4, 2, false));
    EXPECT_INT(0, decides("for x in d:\n    if f(x):\n        a()\n    g(x)\n", 4, 2, false));
    EXPECT_INT(0,
               decides("for x in d:\n    y = f(x)\n    if i == 6:\n        g(x)\n", 4, 2, false));
    /* the line below the condition reads */
    EXPECT_INT(0, decides("for x in d:\n    if k:\n        g(float(x))\n", 3, 3, false));
}

TEST(names_lead_from_a_read_to_a_condition)
{
    EXPECT_INT(1, decides("n = f(x)\nbig = n > 3\nif big:\n    g(x)\n", 4, 1, false));
    EXPECT_INT(1, decides("if (n := f(x)) is None:\n    pass\nif n > 2:\n    g(x)\n", 4, 1, false));
    EXPECT_INT(1, decides("self.n = f(x)\nif self.n:\n    g(x)\n", 3, 1, false));
    EXPECT_INT(1, decides("a, b = f(x)\ny = g(x) if b else x\n", 2, 1, false));
    EXPECT_INT(0, decides("n = f(x)\nm = 3\nif m:\n    g(x)\n", 4, 1, false));
}

TEST(the_condition_of_a_loop_counts_when_asked_for)
{
    static const char loop[] = "n = 9\nwhile n > 1:\n    n = f(x)\n    g(x)\n";

    EXPECT_INT(0, decides(loop, 4, 3, false));
    EXPECT_INT(1, decides(loop, 4, 3, true));
}

TEST(a_statement_may_read_what_its_own_call_returned)
{
    EXPECT_INT(2, decides("y = g(x) if f(x) else x\n", 1, 1, false));
    EXPECT_INT(0, decides("y = g(x) if f(x) else x\n", 1, 1, true));
}

TEST(a_selection_that_waits_for_its_count_decides_a_size_wherever_its_mask_was_made)
{
    expect("for i in range(9):\n    rows = jnp.nonzero(np.arange(8) < i)[0]  # reads # here\n"
           "    step(big[:rows.size])  # call\n",
           "x", PY_OF_SIZE, false);
    expect("for i in range(9):\n    rows = jnp.nonzero(np.arange(8) < i)[0]  # reads # here\n"
           "    step(big[rows])  # call\n",
           "x", PY_OF_SIZE, true);
    expect("for i in range(9):\n    rows = jnp.nonzero(np.arange(8) < i, size=8)[0]  # reads\n"
           "    step(big[:rows.size])  # call\n",
           "x", PY_OF_SIZE, false);
    expect("for i in range(9):\n    rows = np.nonzero(np.arange(8) < i)[0]  # reads\n"
           "    step(big[:rows.size])  # call\n",
           "x", PY_OF_SIZE, false);
}
