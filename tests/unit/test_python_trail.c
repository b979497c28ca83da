/* Facts about the line that makes a value differ from turn to turn. A script marks the line that
 * waits with `# call`, its callers with `# call2` and `# call3`, and the line of the answer with
 * `# here`; without that mark there is no answer. The called function is `step`. */
#include "trail_help.h"

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
        "sizes = [4, 6, 8]\nfor i in range(3):\n    x = torch.ones(sizes[i])  # here\n"
        "    step(x)  # call\n",
        "def batches():\n    for k in range(6):\n        yield torch.ones(4 + k)  # here\n"
        "for x in batches():\n    step(x)  # call\n",
        "whole = torch.ones(21, 3)\nfor start in range(0, 21, 8):\n"
        "    part = whole[start:start + 8]  # here\n    step(part)  # call\n",
        "tokens = torch.ones(1)\nfor i in range(6):\n    step(tokens)  # call\n"
        "    tokens = torch.cat([tokens, torch.ones(1)])  # here\n",
        "def train(x):\n    return step(x)  # call\n"
        "for i in range(6):\n    train(torch.ones(4 + i))  # here # call2\n",
        "x = torch.ones(4)\nfor i in range(6):\n    x.resize_(i + 1)  # here\n    step(x)  # "
        "call\n",
        "for i in range(9):\n    n = rng.integers(3, 9)\n    m = n + 2  # here\n"
        "    x = np.zeros((4, m))\n    step(jnp.asarray(x))  # call\n",
        "def clips():\n    while True:\n        pairs = [rng.normal(size=5) for _ in range(3)]\n"
        "        width = max(p.size for p in pairs)  # here\n"
        "        out = np.zeros((3, width))\n        yield out, 3\n"
        "for x, n in clips():\n    step(x)  # call\n",
        "class Pad:\n    def __call__(self, rows):\n        top = max(map(len, rows))  # here\n"
        "        return np.stack([np.pad(r, (0, top - len(r))) for r in rows])\n"
        "pad = Pad()\nfor i in range(3):\n    step(pad(load(i)))  # call\n",
        "def pick(mask):\n    rows, cols = np.nonzero(mask)  # here\n    return rows\n"
        "def stream():\n    for i in range(3):\n        yield {'a': pick(i), 'b': 3}\n"
        "for batch in stream():\n    step(batch['a'])  # call\n",
        "def produce(q):\n    for i in range(9):\n        n = random.randint(1, 5)  # here\n"
        "        q.put(np.zeros(n))\n    q.put(None)\n"
        "ready = queue.Queue()\nthreading.Thread(target=produce, args=(ready,)).start()\n"
        "while True:\n    x = ready.get()\n    step(x)  # call\n",
        "class Env:\n    def reset(self):\n        self.limit = int(rng.integers(6, 9))  # here\n"
        "        self.t = 0\n    def step(self):\n        self.t += 1\n"
        "        return self.t >= self.limit\n"
        "def episodes(env):\n    while True:\n        rows, done = [], False\n        env.reset()\n"
        "        while not done:\n            rows.append(1)\n            done = env.step()\n"
        "        yield np.stack(rows)\n"
        "for x in episodes(Env()):\n    step(x)  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(what_a_table_gives_is_decided_where_it_is_computed)
{
    static const char *const bodies[] = {
        "tokens = [18, 24, 30]\nfor i in range(3):\n    room = int(-(-tokens[i] * 1.25 // 4))  # "
        "here\n"
        "    step(1, n=room)  # call\n",
        "table = {i: 2 + i % 3 for i in range(9)}\n"
        "def make(size):\n    return rng.normal(size=size)\n"
        "def batches():\n    for i in range(9):\n        yield make(8)\n"
        "def main():\n    for i, batch in enumerate(batches()):\n"
        "        n = table[i]  # here\n        step(batch, n)  # call\n"
        "main()\n",
    };

    EACH(bodies, "n", PY_OF_VALUE);
}

TEST(a_mask_of_a_librarys_test_selects_where_it_is_used)
{
    expect("hours = np.arange(90)\nlevel = rng.normal(size=90)\n"
           "def weeks():\n    for w in range(9):\n        cut = slice(w * 10, (w + 1) * 10)\n"
           "        t, h = hours[cut], level[cut]\n        good = np.isfinite(h)\n"
           "        yield t[good]  # here\n"
           "for x in weeks():\n    step(x)  # call\n",
           "x", PY_OF_SIZE);
}

TEST(the_length_of_a_container_that_grows_decides_where_it_is_used)
{
    static const char *const bodies[] = {
        "class Memory:\n    def __init__(self):\n        self.rows = []\n"
        "    def push(self, row):\n        self.rows.append(row)\n"
        "    def draw(self, most):\n        n = min(most, len(self.rows))  # here\n"
        "        return np.zeros(n)\n"
        "memory = Memory()\nfor i in range(9):\n    memory.push(i)\n"
        "    step(memory.draw(6))  # call\n",
        "class Memory:\n    def __init__(self):\n        self.rows = []\n"
        "        self.luck = random.Random(0)\n"
        "    def __len__(self):\n        return len(self.rows)\n"
        "    def push(self, row):\n        self.rows.append(row)\n"
        "    def draw(self, most):\n"
        "        rows = self.luck.sample(self.rows, min(most, len(self)))  # here\n"
        "        return np.asarray(rows)\n"
        "memory = Memory()\nfor i in range(9):\n    memory.push(i)\n"
        "    step(memory.draw(6))  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(what_comes_in_a_request_is_followed_to_where_it_enters)
{
    expect("class Server:\n    def __init__(self):\n        self.waiting = collections.deque()\n"
           "    def submit(self, *requests):\n        self.waiting.extend(requests)\n"
           "    def serve(self):\n        while self.waiting:\n"
           "            text = self.waiting.popleft()\n"
           "            ids = np.asarray(text, np.int32)  # here\n            step(ids)  # call\n"
           "server = Server()\nserver.submit(*load())\nserver.serve()  # call2\n",
           "x", PY_OF_SIZE);
    expect("rows = collections.deque(load())\nwhile rows:\n    row = rows.popleft()\n"
           "    step(np.zeros(3), row.heat)  # here # call\n",
           "n", PY_OF_TYPE);
}

TEST(an_item_that_is_taken_out_by_its_key_is_that_item)
{
    expect("def rows():\n    for i in range(6):\n        ids = rng.integers(1, 9, 32)\n"
           "        yield {'ids': ids, 'count': int((ids > 3).sum())}  # here\n"
           "for row in rows():\n    n = row.pop('count')\n    step(row['ids'], n)  # call\n",
           "n", PY_OF_VALUE);
}

TEST(what_a_jitted_function_returns_is_decided_where_it_is_used)
{
    expect("@jax.jit\ndef learn(x):\n    worst = abs(x).max()\n    return x, worst\n"
           "class Agent:\n    def __init__(self):\n        self.worst = 0.0\n"
           "    def improve(self, x):\n        bad = self.worst > 3.0  # here\n"
           "        step(x, bool(bad))  # call\n        _, self.worst = learn(x)\n"
           "agent = Agent()\nfor i in range(9):\n    agent.improve(jnp.ones(3))  # call2\n",
           "n", PY_OF_VALUE);
}

TEST(a_schedule_that_is_indexed_is_computed_where_it_is_indexed)
{
    expect("class Schedule:\n    def __getitem__(self, i):\n        return 0.5 ** i\n"
           "rates = Schedule()\nfor i in range(9):\n    rate = rates[i]  # here\n"
           "    step(jnp.ones(3), rate)  # call\n",
           "n", PY_OF_VALUE);
}

TEST(a_placement_that_a_later_turn_meets_is_where_it_was_placed)
{
    expect("class Vault:\n    def load(self):\n        where = jax.devices()[0]\n"
           "        return 3, jax.device_put(self.kept, where)  # here\n"
           "vault = Vault()\nx = jnp.ones(3)\ni = 0\nwhile i < 9:\n"
           "    x = step(x)  # call\n    i += 1\n    if i == 5:\n        i, x = vault.load()\n",
           "x", PY_OF_PLACE);
}

TEST(an_argument_that_comes_and_goes_is_decided_by_the_line_that_takes_it_away)
{
    struct stet_python_followed what = {.held = PY_HELD_ARGUMENT,
                                        .path = STET_VIEW("extra"),
                                        .aspect = PY_OF_VALUE,
                                        .presence = true};
    struct stet_python_stack stack;
    const char *body = "for epoch in range(3):\n    kept = None\n    for i in range(8):\n"
                       "        kept = step(jnp.ones(3), 1, kept)  # call\n"
                       "        if i % 4 == 3:\n            kept = None  # here\n";

    begin(HEAD, body);
    stack = stack_of();
    what.file = here();
    what.line = line_of("# def");
    expect_here(body, stet_python_follow(&sources, &stack, &what));
}

TEST(what_chooses_between_jitted_functions_is_followed)
{
    const char *body = "table = {'a': step, 'b': jax.jit(step)}\nfor i in range(9):\n"
                       "    kind = 'a' if i < 5 else 'b'  # here\n"
                       "    table[kind](jnp.ones(3))  # call\n";

    begin(HEAD, body);
    expect_here(body, followed(PY_HELD_CALLEE, "", PY_OF_VALUE));
}

TEST(the_arguments_of_the_waiting_call_are_followed_together)
{
    const char *body = "def load(i):\n    return jnp.ones(4 + i)  # here\n"
                       "run = eqx.filter_jit(step)\nw = jnp.ones(3)\n"
                       "for i in range(9):\n    run(w, load(i))  # call\n";

    begin(HEAD "import equinox as eqx\n", body);
    expect_here(body, followed(PY_HELD_CALL, "", PY_OF_SIZE));
}

TEST(what_cannot_change_a_size_gives_no_answer)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    x = torch.ones(4) * i\n    step(x)  # call\n",
        ("for i in range(6):\n    x = torch.ones(4)\n    x.requires_grad_(i > 2)\n"
         "    step(x)  # call\n"),
        "def run(x):\n    step(x)  # call\n",
        "step(torch.ones(4))  # call\n",
        "for x in load():\n    pass\nfor i in range(6):\n    step(torch.ones(4))  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(types_and_layouts_are_followed)
{
    expect("for i in range(6):\n    x = torch.ones(4)\n"
           "    x = x.to(torch.float64 if i > 2 else torch.float32)  # here\n    step(x)  # call\n",
           "x", PY_OF_TYPE);
    expect("for i in range(6):\n    x = np.ones(4)\n    if i > 2:\n"
           "        x = x.astype(np.float32)  # here\n    step(x)  # call\n",
           "x", PY_OF_TYPE);
    expect("for i in range(6):\n    x = torch.ones(4)\n    x = x[None] if i > 2 else x  # here\n"
           "    x = x.contiguous()\n    step(x)  # call\n",
           "x", PY_OF_RANK);
    expect(
        "for i in range(6):\n    x = torch.ones(4, 4)\n    if i > 2:\n        x = x.t()  # here\n"
        "    step(x)  # call\n",
        "x", PY_OF_PLACE);
    expect("for i in range(6):\n    x = torch.ones(4)\n    x.requires_grad_(i > 2)  # here\n"
           "    step(x)  # call\n",
           "x", PY_OF_GRADIENT);
}

TEST(what_fills_an_array_does_not_decide_its_number_of_dimensions)
{
    expect("for i in range(6):\n    how = 3 if i > 2 else 1  # here\n    score = rng.normal()\n"
           "    x = np.full(how, score, np.float32)\n    step(np.squeeze(x))  # call\n",
           "x", PY_OF_RANK);
}

TEST(listed_data_gets_its_size_where_it_becomes_an_array)
{
    expect("WORDS = ['moon', 'tide', 'a lamp']\ndef encode(text):\n"
           "    return [0] + [ord(c) for c in text]\nfor word in WORDS:\n"
           "    ids = np.asarray(encode(word))  # here\n    step(ids)  # call\n",
           "x", PY_OF_SIZE);
}

TEST(what_puts_the_leaves_of_a_tree_in_place_is_found)
{
    expect("def put(a):\n    return jax.device_put(a, everywhere)  # here\n"
           "state = fresh()\nfor i in range(6):\n    step(state)  # call\n    if i == 3:\n"
           "        state = jax.tree.map(put, kept)\n",
           "x", PY_OF_PLACE);
}

TEST(a_file_is_read_where_an_item_of_it_is_taken)
{
    expect("import io\nclass Archive:\n    def __init__(self):\n        self.blobs = {}\n"
           "    def open(self, year):\n        with np.load(io.BytesIO(self.blobs[year])) as z:\n"
           "            return z['tile'], z['thick']  # here\narchive = Archive()\n"
           "for year in range(6):\n    x, y = archive.open(year)\n    step(x)  # call\n",
           "x", PY_OF_TYPE);
}

TEST(a_part_of_what_it_was_has_another_size)
{
    expect("class Rows:\n    def __init__(self, x):\n        self.x = x\n"
           "    def keep(self, which):\n        return Rows(self.x[which])  # here\n"
           "good = np.ones(9) > 0\nrows = Rows(np.ones((9, 3)))\nfor i in range(6):\n    "
           "step(rows.x)  # call\n"
           "    rows = rows.keep(good)\n",
           "x", PY_OF_SIZE);
}

TEST(axes_of_size_one_are_dropped_where_nobody_says_which)
{
    expect("def sheet(k):\n    rows = [[w[:k] for w in van] for van in vans]\n"
           "    return np.array(rows).squeeze()  # here\n"
           "for k in sizes():\n    step(sheet(k))  # call\n",
           "x", PY_OF_RANK);
}

TEST(a_list_is_as_long_as_its_loop_runs)
{
    expect("def deal():\n    streets = [np.ones(3)]\n    for shown in (3, 4, 5):\n"
           "        if rng.random() < 0.2:  # here\n            break\n"
           "        streets.append(np.ones(3))\n    return streets\n"
           "first = deal()\nfor s in itertools.chain([first], (deal() for _ in range(9))):\n"
           "    step(s)  # call\n",
           "x", PY_OF_SIZE);
}

/* What a variable was before the loop whose turns take the result of the turn before. */
static void expect_beginning(const char *body, const char *part)
{
    struct stet_python_stack stack;

    begin(HEAD, body);
    stack = stack_of();
    expect_here(body, stet_python_follow(&sources, &stack,
                                         &(struct stet_python_followed){.held = PY_HELD_ARGUMENT,
                                                                        .path = stet_view_str(part),
                                                                        .aspect = PY_OF_TYPE,
                                                                        .file = here(),
                                                                        .line = line_of("# def"),
                                                                        .began = true}));
}

TEST(the_number_that_a_state_begins_with_is_found)
{
    expect_beginning("x = 0.0  # here\nfor i in range(6):\n    x = step(x)  # call\n", "x");
    expect_beginning("Carry = collections.namedtuple('Carry', 'w mean')\nstart = 0.0  # here\n"
                     "carry = Carry(np.ones(3), start)\nfor i in range(6):\n"
                     "    carry = step(carry)  # call\n",
                     "x.mean");
    expect_beginning("def fresh():\n    return {'w': np.ones(3), 'mean': 0.0}  # here\n"
                     "x = fresh()\nfor i in range(6):\n    x = step(x)  # call\n",
                     "x['mean']");
    expect_beginning("class Run:\n    def __init__(self):\n        self.level = 0.35  # here\n"
                     "    def push(self):\n        self.level = step(self.level)  # call\n"
                     "run = Run()\nfor i in range(6):\n    run.push()  # call2\n",
                     "x");
}

TEST(numbers_are_followed)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    step(torch.ones(3), 2 + i)  # here # call\n",
        "for i in range(6):\n    step(torch.ones(3), n=i)  # here # call\n",
        "count = 0\nwhile count < 6:\n    step(torch.ones(3), count)  # call\n"
        "    count += 1  # here\n",
        "for i in range(6):\n    step(torch.ones(3), (k := 2 * i))  # here # call\n",
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
        "class Schedule:\n    def __init__(self, hi):\n        self.hi = hi\n        self.calls = "
        "0\n"
        "    def __call__(self):\n        self.calls += 1\n        k = self.calls // 6\n"
        "        return round(self.hi * 0.5 ** k, 3)  # here\n"
        "rate = Schedule(0.5)\nfor i in range(6):\n    step(torch.ones(3), n=rate())  # call\n",
        "class Clock:\n    def __init__(self):\n        self.n = 0\n    @property\n"
        "    def late(self):\n        return self.n > 3  # here\n"
        "    def tick(self):\n        self.n += 1\n"
        "clock = Clock()\nfor i in range(6):\n    step(torch.ones(3), clock.late)  # call\n"
        "    clock.tick()\n",
        "@dataclasses.dataclass\nclass Plan:\n    low: int = 1\n    def draw(self):\n"
        "        return random.randint(self.low, 3)  # here\n"
        "@dataclasses.dataclass\nclass Settings:\n    plan: Plan = None\n"
        "def main(cfg):\n    for i in range(6):\n        r = cfg.plan.draw()\n"
        "        step(torch.ones(3), r)  # call\n"
        "main(Settings(plan=Plan()))  # call2\n",
        "def smooth(i):\n    if i >= 5:\n        return 0.1  # here\n    return 0.0\n"
        "for i in range(6):\n    step(torch.ones(3), smooth(i))  # call\n",
        "rate = 0.5\nfor i in range(6):\n    step(torch.ones(3), rate)  # call\n"
        "    if i % 2:\n        rate = rate * 0.5  # here\n",
    };

    EACH(bodies, "n", PY_OF_VALUE);
}

TEST(containers_are_followed)
{
    expect("for i in range(6):\n    given = {'a': 1}\n    if i % 3 == 2:\n"
           "        given['mask'] = 2  # here\n    step(torch.ones(3), 1, given)  # call\n",
           "extra['mask']", PY_OF_VALUE);
    expect("for i in range(6):\n    given = [torch.ones(2) for _ in range(1 + i % 3)]  # here\n"
           "    step(torch.ones(3), extra=given)  # call\n",
           "extra", PY_OF_SIZE);
    expect("for i in range(6):\n    given = []\n    if i > 2:\n        given.append(1)  # here\n"
           "    step(torch.ones(3), extra=given)  # call\n",
           "extra", PY_OF_SIZE);
    expect("def rows(n):\n    for i in range(n):\n        yield {'a': i}\n"
           "def priced(rows):\n    for i, b in enumerate(rows):\n        if i % 5 == 4:\n"
           "            b['price'] = 1  # here\n        yield b\n"
           "for b in priced(rows(9)):\n    step(torch.ones(3), extra=b)  # call\n",
           "extra['price']", PY_OF_VALUE);
}

TEST(the_turns_of_a_loop_decide_before_what_ran_around_it)
{
    /* cut from itself in each turn; how many rows there were is the same for all batches */
    expect("class Rows:\n    def __init__(self, rows):\n        self.x = rows[:rng.integers(9)]\n"
           "class Loader:\n    def __init__(self, rows, size):\n"
           "        self.rows, self.size = rows, size\n"
           "    def __iter__(self):\n        index = np.arange(len(self.rows.x))\n"
           "        while index.size:\n"
           "            head, index = index[:self.size], index[self.size:]  # here\n"
           "            yield self.rows.x[head]\n"
           "def total(loader):\n    return sum(step(x) for x in loader)  # call\n"
           "rows = Rows(np.zeros(20))\nfor i in range(3):\n"
           "    total(Loader(rows, 8))  # call2\n",
           "x", PY_OF_SIZE);
    /* the inner loop waits, and the outer one changes the value after it */
    expect(
        "@dataclasses.dataclass(frozen=True)\nclass Plan:\n    rate: float = 0.5\n"
        "plan = Plan()\nfor i in range(3):\n    for x in load():\n        step(x, plan)  # call\n"
        "    plan = dataclasses.replace(plan, rate=plan.rate * 0.7)  # here\n",
        "n", PY_OF_VALUE);
    expect("rate = random.random()\nfor i in range(3):\n    for x in load():\n"
           "        step(x, rate)  # call\n    rate = rate / 2  # here\n",
           "n", PY_OF_VALUE);
    expect("rate = 2\nfor i in range(3):\n    rate = 7 - i  # here\n    for x in load():\n"
           "        step(x, rate)  # call\n    rate = 1\n",
           "n", PY_OF_VALUE);
}

TEST(a_mask_decides_how_many_it_selects)
{
    static const char *const bodies[] = {
        "for rows in load():\n    keep = rows > 3\n    x = rows[keep]  # here\n"
        "    step(x)  # call\n",
        "for rows in load():\n    x = rows[(rows > 3) & ~(rows > 9)]  # here\n"
        "    step(x)  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
    /* a line that makes a container is asked about the arrays in it */
    static const char *const lines[] = {
        "for i in range(9):\n    rows = load(rng)\n    keep = np.arange(8) < 3 + i % 4\n"
        "    rows = {k: jnp.asarray(v)[keep] for k, v in rows.items()}  # here # ask\n"
        "    step(rows)  # call\n",
        "for i in range(9):\n    n = 3 + i % 4  # here\n    rows = load(rng)\n"
        "    rows = [np.ones(n), 3]  # ask\n    step(rows)  # call\n",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin(HEAD, lines[i]);
        expect_here(lines[i], followed(PY_HELD_LINE, "", PY_OF_SIZE));
    }
}

TEST(what_a_partial_was_given_is_followed)
{
    static const char *const keywords[] = {
        "@functools.lru_cache(maxsize=None)\ndef made(k):\n"
        "    return jax.jit(functools.partial(step, n=k))\n"
        "for i in range(9):\n    rate = 0.1 * 0.5 ** (i // 3)  # here\n"
        "    out.append(made(rate)(torch.ones(3)))  # call\n",
        "for i in range(9):\n    run = jax.jit(functools.partial(step, n=i // 3))  # here\n"
        "    run(torch.ones(3))  # call\n",
    };
    static const char place[] = "for i in range(9):\n    first = 2 + i // 3  # here\n"
                                "    jax.jit(functools.partial(step, first))(3)  # call\n";

    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        begin(HEAD, keywords[i]);
        expect_here(keywords[i], followed(PY_HELD_FIELD, "keywords['n']", PY_OF_VALUE));
    }
    begin(HEAD, place);
    expect_here(place, followed(PY_HELD_FIELD, "args[0]", PY_OF_VALUE));
}

TEST(an_argument_is_followed_through_the_lines_that_wait)
{
    static const char *const bodies[] = {
        "for x in d:\n    x = put(x)  # here\n    step(x)  # call\n",
        "for x in d:\n    x = put(x)  # here\n    step(n=2, x=x)  # call\n",
        "def g(y):\n    return step(y)  # call\n"
        "for i in range(9):\n    x = np.zeros(i)  # here\n    g(x)  # call2\n",
        "def g(*a, **k):\n    return step(*a, **k)  # call\n"
        "for i in range(9):\n    x = np.zeros(i)  # here\n    g(x)  # call2\n",
        "def g(*a, **k):\n    return step(*a, **k)  # call\n"
        "for i in range(9):\n    x = np.zeros(i)  # here\n    g(x=x)  # call2\n",
        "def g(first, *a):\n    return step(*a)  # call\n"
        "for i in range(9):\n    x = np.zeros(i)  # here\n    g(0, x)  # call2\n",
        "class T:\n    def g(self, w, b):\n        return step(b)  # call\nt = T()\n"
        "def main():\n    for i in range(9):\n        x = np.zeros(i)  # here\n"
        "        t.g(0, x)  # call2\nmain()  # call3\n",
        "from torch.utils.data import DataLoader\n"
        "def learn(parts):\n    for p in parts:\n        step(p)  # call\n"
        "learn(DataLoader(rows, 4))  # here # call2\n",
        "class Rows:\n    def __iter__(self):\n        for i in range(3):\n"
        "            yield rows[:i]  # here\n"
        "def total(rows):\n    return sum(step(r) for r in rows)  # call\n"
        "total(Rows())  # call2\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(a_line_that_gives_one_of_several_values_is_not_certain)
{
    static const char *const bodies[] = {
        "def pick(i):\n    match i % 4:\n        case 0:\n            return 1\n"
        "        case 1 | 2:\n            return 2  # here\n        case k:\n"
        "            return k + 1\n"
        "for i in range(9):\n    step(torch.ones(3), pick(i))  # call\n",
        "def pick(i):\n    if i > 5:\n        return 2  # here\n    return 1\n"
        "for i in range(9):\n    step(torch.ones(3), pick(i))  # call\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct stet_python_made made;
        struct stet_python_stack stack;

        begin(HEAD, bodies[i]);
        stack = stack_of();
        made = stet_python_follow(&sources, &stack,
                                  &(struct stet_python_followed){.held = PY_HELD_ARGUMENT,
                                                                 .path = STET_VIEW("n"),
                                                                 .aspect = PY_OF_VALUE,
                                                                 .file = here(),
                                                                 .line = line_of("# def"),
                                                                 .numbers = true,
                                                                 .from = 1,
                                                                 .to = 2});
        EXPECT(made.sure == (i == 1));
        expect_here(bodies[i], made);
    }
}

TEST(the_object_of_a_method_is_known_in_the_functions_inside_it)
{
    static const char body[] =
        "class Engine:\n    def __init__(self, rate):\n        self.configure(rate)\n"
        "    def configure(self, rate):\n        self.rate = rate\n"
        "        self.run = jax.jit(self.make())\n"
        "    def make(self):\n        def advance(x):  # def\n            return x * self.rate\n"
        "        return advance\n"
        "engine = Engine(0.5)\nfor i in range(9):\n    engine.run(2)  # call\n"
        "    if i % 3 == 2:\n        engine.configure(engine.rate * 0.5)  # here\n";

    begin("import jax\n", body);
    expect_here(body, followed(PY_HELD_CLOSURE, "self.rate", PY_OF_VALUE));
}

TEST(a_decorator_passes_the_object_of_a_method_itself)
{
    expect("def moved(fn):\n    def inner(self, rows, *rest):\n"
           "        return fn(self, {k: put(v) for k, v in rows.items()}, *rest)  # call2\n"
           "    return inner\n"
           "class Learner:\n    @moved\n    def learn(self, rows):\n"
           "        return step(1, extra=rows)  # call\n"
           "learner = Learner()\nfor i in range(9):\n    rows = {'x': 1}\n    if i > 4:\n"
           "        rows['mask'] = 2  # here\n    learner.learn(rows)  # call3\n",
           "extra['mask']", PY_OF_VALUE);
}

TEST(a_value_in_an_expression_is_followed)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    k = i * 2  # here\n    step(1, Options(size=k))  # call\n",
        "for i in range(6):\n    o.k = i * 2  # here\n    step(1, Options(size=o.k))  # call\n",
        "for i in range(6):\n    print(step(1, sizes[i]))  # here # call\n",
    };

    EACH(bodies, "n", PY_OF_VALUE);
    expect("for i in range(6):\n    b = load()\n    if i > 2:\n"
           "        b = dict(b, mask=1)  # here\n    b = put(b)\n    step(1, extra=b)  # call\n",
           "extra['mask']", PY_OF_VALUE);
}

TEST(next_takes_from_its_own_name_and_not_from_the_loop_around_it)
{
#define ROWS  "def rows(n):\n    for k in range(n):\n        yield rng.normal(size=(8, 3))"
#define MODES "def modes(n):\n    for k in range(n):\n        yield 'fit' if k % 4 else 'test'"
    expect(ROWS "  # looped\n" MODES "  # here\nword = modes(9)\n"
                "for i, x in enumerate(rows(9)):\n    n = next(word)\n    step(x, n)  # call\n",
           "n", PY_OF_VALUE);
    expect(MODES "  # looped # here\nword = modes(9)\n"
                 "for first in word:\n    step(data, next(word))  # call\n",
           "n", PY_OF_VALUE);
}
