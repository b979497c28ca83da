/* Facts about which of the statements that a value passed is the line to edit. The marks are those
 * of test_python_trail.c. */
#include "trail_help.h"

TEST(a_setter_passes_what_is_assigned)
{
    expect("class Plan:\n    @property\n    def rate(self):\n        return self._rate\n"
           "    @rate.setter\n    def rate(self, rate):\n        self._rate = rate\n"
           "plan = Plan()\nfor i in range(6):\n    plan.rate = 0.5 ** i  # here\n"
           "    step(1.0, plan.rate)  # call\n",
           "n", PY_OF_VALUE);
}

TEST(an_array_that_is_joined_to_itself_grows_there)
{
    static const char *const bodies[] = {
        "kept = np.zeros((1, 3))\nfor i in range(6):\n"
        "    kept = np.concatenate([kept, np.zeros((1, 3))])  # here\n    step(kept)  # call\n",
        "class Cache:\n    def __init__(self):\n        self.keys = jnp.zeros((1, 3))\n"
        "    def push(self, row):\n        self.keys = jnp.vstack([self.keys, row])  # here\n"
        "cache = Cache()\nfor i in range(6):\n    step(cache.keys)  # call\n"
        "    cache.push(jnp.ones((1, 3)))\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(numbers_beside_a_shape_are_not_sizes)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    n = rng.integers(3, 9)  # here\n"
        "    x = rng.uniform(0.0, 1.0 + i, (n, 4))\n    step(x)  # call\n",
        "for i in range(6):\n    x = rng.normal(0.0, i, (8, 4))\n    step(x)  # call\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(the_function_of_a_tree_map_makes_the_leaves)
{
    expect("data = {'a': np.zeros((9, 3))}\nfor i in range(6):\n"
           "    n = rng.integers(3, 9)  # here\n"
           "    x = jax.tree.map(lambda leaf: leaf[:n], data)\n    step(x)  # call\n",
           "x['a']", PY_OF_SIZE);
}

TEST(a_padded_array_has_the_size_that_was_added)
{
    expect("for i in range(6):\n    rows = np.ones((4, 3))\n    more = 8 * i\n"
           "    x = np.pad(rows, ((0, more), (0, 0)))  # here\n    step(x)  # call\n",
           "x", PY_OF_SIZE);
}

TEST(a_comprehension_inside_another_is_followed)
{
    expect("texts = [[1, 2], [3]]\nfor i in range(6):\n"
           "    ids = [w for t in texts[:i] for w in t]  # here\n"
           "    x = np.array(ids)\n    step(x)  # call\n",
           "x", PY_OF_SIZE);
}

TEST(a_mask_in_a_field_selects_where_it_is_used)
{
    expect("class Env:\n    def __init__(self):\n        self.alive = np.ones(8, bool)\n"
           "    def turn(self):\n        self.alive = self.alive & (rng.random(8) > 0.2)\n"
           "env = Env()\nobs = np.zeros((8, 3))\nfor i in range(6):\n    env.turn()\n"
           "    x = obs[env.alive]  # here\n    step(x)  # call\n",
           "x", PY_OF_SIZE);
}

TEST(the_key_of_a_comprehension_is_the_key_that_is_looked_up)
{
    static const char *const bodies[] = {
        "for i in range(6):\n    n = rng.integers(3, 9)  # here\n"
        "    rows = {'a': np.zeros(4), 'b': np.zeros((n, 2)), 'c': np.zeros((i, 2))}\n"
        "    x = {k: jnp.asarray(rows[k]) for k in ('a', 'b')}\n    step(x)  # call\n",
        "@dataclasses.dataclass\nclass Rows:\n    a: object\n    b: object\n"
        "    def inputs(self):\n"
        "        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}\n"
        "for i in range(6):\n    n = rng.integers(3, 9)  # here\n"
        "    x = Rows(np.zeros((i, 3)), np.zeros((n, 2))).inputs()\n    step(x)  # call\n",
    };

    EACH(bodies, "x['b']", PY_OF_SIZE);
}

TEST(what_an_earlier_call_of_a_function_did_is_followed)
{
    static const char *const bodies[] = {
        "def make():\n    calls = [0]\n    def following():\n        i = calls[0]\n"
        "        calls[0] += 1\n        return 6 + 2 * (i % 3)  # here\n    return following\n"
        "schedule = make()\nfor k in range(6):\n    n = schedule()\n    step(1.0, n)  # call\n",
        "def make():\n    calls = 0\n    def following():\n        nonlocal calls\n"
        "        calls += 1\n        return 6 + 2 * (calls % 3)  # here\n    return following\n"
        "schedule = make()\nfor k in range(6):\n    n = schedule()\n    step(1.0, n)  # call\n",
    };

    EACH(bodies, "n", PY_OF_VALUE);
}

TEST(the_size_that_a_function_is_given_is_computed_for_the_call)
{
    static const char *const bodies[] = {
        "def make(rows):\n    return np.zeros((rows, 3))\ndef train():\n"
        "    for i in range(6):\n        n = 6 + 2 * (i % 3)  # here\n        x = make(n)\n"
        "        step(x)  # call\ntrain()  # call2\n",
        "def make(rows):\n    return [np.zeros((8, 3)) for _ in range(rows)]\ndef rows():\n"
        "    for k in range(6):\n        yield np.zeros((8, 3))[:k]  # here\ndef train():\n"
        "    data = list(rows())\n    for i in range(6):\n        x = data[i]\n"
        "        step(x)  # call\ntrain()  # call2\n",
    };

    EACH(bodies, "x", PY_OF_SIZE);
}

TEST(a_partial_passes_its_arguments_first)
{
    expect("def plan(unused, i):\n    return 0.5 if i % 4 == 3 else 1.0  # here\n"
           "rate = functools.partial(plan, None)\nfor i in range(6):\n    n = rate(i)\n"
           "    step(1.0, n)  # call\n",
           "n", PY_OF_VALUE);
}
