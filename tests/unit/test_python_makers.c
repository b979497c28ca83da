/* Facts about the line that made a value. A script marks the line that a question is about with
 * `# ask`, and the line of the answer with `# here`. */
#include "python_help.h"

static const char head[] = "import collections, queue, threading\n"
                           "import jax\n"
                           "import jax.numpy as jnp\n"
                           "import numpy as np\n"
                           "def make(rows):\n"
                           "    data = np.zeros(rows)\n"
                           "    return data\n";

static void expect_maker(const char *body, bool sizes)
{
    begin(head, body);
    expect_here(body, followed(PY_HELD_LINE, "", sizes ? PY_OF_SIZE : PY_OF_TYPE));
}

TEST(an_item_of_an_iterator_is_made_by_what_yields_it)
{
    expect_maker("def cut():\n    for i in range(3):\n        yield make(i)  # here\n"
                 "kept = list(cut())\nfor i in range(3):\n    batch = kept[i]  # ask\n",
                 true);
    expect_maker("class Rows:\n    def __getitem__(self, i):\n        return make(i)  # here\n"
                 "for batch in Rows():  # ask\n    pass  # call\n",
                 true);
    expect_maker("it = iter([make(i) for i in range(9)])  # here\n"
                 "while True:\n    batch = next(it)  # ask\n",
                 true);
}

TEST(a_generator_that_reads_ahead_is_looked_through)
{
    expect_maker("def ahead(stream, depth):\n    waiting = collections.deque()\n"
                 "    for one in stream:\n        waiting.append(one)\n"
                 "        if len(waiting) > depth:\n            yield waiting.popleft()\n"
                 "    yield from waiting\n"
                 "def batches():\n"
                 "    return ahead((make(i) for i in range(9)), 2)  # here\n"
                 "def main():\n    it = iter(list(batches()))\n    while True:\n"
                 "        batch = next(it)\n"
                 "        batch = jax.tree.map(jnp.asarray, batch)  # ask\n",
                 true);
}

TEST(what_a_thread_puts_into_a_queue_is_made_there)
{
    expect_maker("def produce(into):\n    for i in range(9):\n"
                 "        into.put(make(i))  # here\n    into.put(None)\n"
                 "def batches():\n    ready = queue.Queue(2)\n"
                 "    threading.Thread(target=produce, args=(ready,)).start()\n"
                 "    return iter(ready.get, None)\n"
                 "for batch in batches():  # ask\n    pass  # call\n",
                 true);
}

TEST(a_copy_to_a_device_makes_no_size)
{
    static const char *const bodies[] = {
        "for i in range(9):\n    batch = make(i)  # here\n    batch = jnp.asarray(batch)  # ask\n",
        "for i in range(9):\n    batch = make(i)  # here\n"
        "    batch = jax.tree.map(jnp.asarray, batch)  # ask\n",
        "for i in range(9):\n    batch = make(i)  # here\n"
        "    batch = jax.tree.map(lambda v: jax.device_put(v), batch)  # ask\n",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        expect_maker(bodies[i], true);
    expect_maker("for i in range(9):\n    batch = make(i)  # here\n"
                 "    batch = jax.make_array_from_process_local_data(place, batch)  # ask\n",
                 true);
    expect_maker("batch = make(3)\nbatch = jnp.asarray(batch, jnp.int8)  # ask # here\n", false);
}

TEST(a_function_that_gives_its_argument_back_may_change_it_in_one_place)
{
    expect_maker("def widen(batch, i):\n    if i > 5:\n        batch = batch[None]  # here\n"
                 "    return batch\n"
                 "for i in range(9):\n    batch = make(8)\n    batch = widen(batch, i)  # ask\n",
                 true);
    expect_maker(
        "def watch(batch):\n    print(1)\n    return batch\n"
        "for i in range(9):\n    batch = make(i)  # here\n    batch = watch(batch)  # ask\n",
        true);
    expect_maker("def watch(log, batch):\n    log(1)\n    return batch\n"
                 "for i in range(9):\n    batch = make(i)  # here\n"
                 "    batch = watch(batch=batch, log=print)  # ask\n",
                 true);
    /* Two places: it is not known which one, but what chooses between them. */
    expect_maker("def fit(batch, i):\n    if i > 5:  # here\n        batch = batch[None]\n"
                 "    elif i > 3:\n        batch = batch[0]\n    return batch\n"
                 "for i in range(9):\n    batch = make(8)\n"
                 "    batch = fit(batch, i)  # ask\n",
                 true);
}

TEST(an_expression_that_cuts_or_computes_makes_the_value)
{
    expect_maker("whole = make(9)\nfor i in range(9):\n    batch = whole[:i]  # ask # here\n",
                 true);
    expect_maker("for i in range(9):\n    batch = make(i)  # ask # here\n", true);
    expect_maker("rows = [make(1)]\nbatch = np.concatenate(rows)  # ask # here\n", true);
}
