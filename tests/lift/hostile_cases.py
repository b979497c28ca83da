"""Functions of JAX in which a drifting value meets what could make a lifted program wrong: ends of number types, values that a
compiler folds, operations that read values in a special way, effects, random state, donation, and executables that are
serialized. Each runs for $VALUES values (4).

usage: hostile_cases.py RESULTS.npz [FUNCTION…]"""
import concurrent.futures
import os
import pickle
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback, serialize_executable

FIRST, VALUES = int(os.environ.get("FIRST_VALUE", 0)), int(os.environ.get("VALUES", 4))
jax.config.update("jax_enable_x64", True)
X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
INTS = np.arange(-12, 12, dtype=np.int32).reshape(4, 6)
EFFECTS = []


# ---- numbers ----

def special(i):
    """Both zeros, infinities, NaNs with a payload, of which one signals, and a subnormal number."""
    bits = np.array([0x80000000, 0, 0x7F800000, 0xFF800000, 0x7FC00123, 0x7F800001, 1, 0x00400000][i % 8], np.uint32)
    c = bits.view(np.float32)

    def special(x):
        return jnp.where(x > 0, c, x), jax.lax.bitcast_convert_type(x * 0 + c, jnp.uint32), jnp.maximum(x, c), x / c

    return jax.jit(special)(X)


def folded(i):
    """What a compiler drops for one value and not for another."""
    c = (1.0, 0.0, -1.0, 2.0, 0.5, 3.0)[i % 6]

    def folded(x):
        return x * c, x + c, x - c, x / (c or 7.0), jnp.power(jnp.abs(x), jnp.float32(c)), jnp.float32(c) * jnp.float32(c) + x

    return jax.jit(folded)(X)


def overflow(i):
    c = (2147483647, -2147483648, 0, -1, 31, 33, 65536)[i % 7]

    def overflow(x):
        n = jnp.int32(c)
        return x + n, x * n, x // n, x % n, x << n, jax.lax.shift_right_logical(x, n), -n + x, jnp.abs(n) + x

    return jax.jit(overflow)(INTS)


def unsigned(i):
    def unsigned(x):
        return x.astype(jnp.uint8) * jnp.uint8(200 + i), x.astype(jnp.int8) + jnp.int8(120 + i), x.astype(jnp.int64) * (2**40 + i)

    return jax.jit(unsigned)(INTS)


def to_integer(i):
    """A float that no integer of the type can be."""
    c = (1.5, 3e10, -3e10, float("nan"), float("inf"))[i % 5]

    def to_integer(x):
        return x + jax.lax.convert_element_type(jnp.float32(c) * 1, jnp.int32)

    return jax.jit(to_integer)(INTS)


def narrow(i):
    def narrow(x):
        return (x.astype(jnp.bfloat16) * jnp.bfloat16(1.1 + i), x.astype(jnp.float16) + jnp.float16(0.1 * i),
                x.astype(jnp.float64) / (3.0 + i), x.astype(jnp.int4) + jnp.int4(i % 4))

    return [v.astype(jnp.float32) for v in jax.jit(narrow)(X)]


def imaginary(i):
    def imaginary(x):
        return jnp.abs(x * (1 + 2j * i)), jnp.real(x + 1j * i)

    return jax.jit(imaginary)(X)


# ---- operations ----

def initial(i):
    def initial(x):
        return jax.lax.reduce(x, np.float32(i), jax.lax.add, (1,)), jnp.sum(x, initial=float(i)), jnp.max(x, initial=float(i))

    return jax.jit(initial)(X)


def bodies(i):
    """Inside the functions of a reduction, a sort and a scan."""
    def bodies(x):
        reduced = jax.lax.reduce(x, np.float32(0), lambda a, b: a + b * (1 + i), (1,))
        scanned = jax.lax.scan(lambda carry, row: (carry * 0.5 + row + i, carry.sum() * (1 + i)), jnp.zeros(6), x)
        return reduced, scanned

    return jax.jit(bodies)(X)


def trips(i):
    def trips(x):
        fixed = jax.lax.fori_loop(0, 2 + i, lambda k, v: v * 0.9 + k, x)
        return jax.lax.while_loop(lambda s: s[0] < 3 + i, lambda s: (s[0] + 1, s[1] * 1.1), (0, fixed))

    return jax.jit(trips)(X)


def searching(i):
    """A loop that ends with its own value and its own argument, and with no other pair of them."""
    def searching(x):
        return jax.lax.while_loop(lambda v: (v != 10 * i).any(), lambda v: v + 1, x)

    return jax.jit(searching)(np.full(3, 10 * i - 5, np.float32))


def indexing(i):
    rows = np.array([[0, 3, 1], [2, 2, 5], [-1, 0, 9], [3, 1, 0]][i % 4])

    def indexing(x):
        clipped = jnp.take(x, rows, axis=0, mode="clip")
        filled = jnp.take(x, rows, axis=0, mode="fill", fill_value=7.0 + i)
        added = x.at[rows % 4].add(1.0 + i)
        moved = jax.lax.dynamic_update_slice(x, x[:2] * 2, (i, -i))
        return clipped, filled, added, moved, jax.lax.dynamic_slice(x, (i, i - 1), (2, 3))

    return jax.jit(indexing)(X)


def ordered(i):
    key = np.random.default_rng(i).permutation(24).reshape(4, 6)

    def ordered(x):
        return jax.lax.sort((jnp.asarray(key), x), dimension=1, num_keys=1)[1], jnp.argmax(x * key), jax.lax.top_k(x * (1 + i), 2)

    return jax.jit(ordered)(X)


def matrices(i):
    """A custom call and a convolution that read the value itself."""
    spd = (np.eye(6) * (2 + i) + 0.1).astype(np.float32)
    kernel = np.random.default_rng(i).standard_normal((1, 1, 3)).astype(np.float32)

    def matrices(x):
        return (x @ jnp.linalg.cholesky(spd), jnp.linalg.solve(spd, x.T), jnp.linalg.qr(x * (1 + i))[1],
                jax.lax.conv_general_dilated(x[:, None], kernel, (1,), "SAME"), jnp.abs(jnp.fft.fft(x * (1 + i))))

    return jax.jit(matrices)(X)


def empty(i):
    def empty(x):
        return x[:0] * i, jnp.float32(i) + x.sum(), jnp.zeros((0, 3)) + i

    return jax.jit(empty)(X)


def returned(i):
    """The value itself is a result, of the program and of a branch; a part of a step's metrics, for example."""
    def returned(x):
        chosen = jax.lax.cond(x.sum() > i, lambda: jnp.float32(i / 3), lambda: jnp.float32(-1))
        return x * (1 + i), jnp.float32(i / 7), {"rate": jnp.full((2, 3), 1e-3 * i), "chosen": chosen}

    return jax.jit(returned)(X)


def large(i):
    table = np.random.default_rng(i).standard_normal((6, 60000)).astype(np.float32)

    def large(x):
        return (x @ table).sum(1), table[:, i] + x[0]

    return jax.jit(large)(X)


def rematerialized(i):
    def rematerialized(x):
        layer = jax.checkpoint(lambda v: jnp.sin(jnp.sin(v * (1 + i))))
        return jax.grad(lambda v: layer(layer(v)).sum())(x)

    return jax.jit(rematerialized)(X)


def shapes(i):
    """The value is a size as well."""
    def shapes(x):
        return jnp.arange(i + 1) * i, jnp.repeat(x[0], i + 1), jnp.zeros((2, i + 1)) + i

    return jax.jit(shapes)(X)


# ---- state and effects ----

def seeds(i):
    def seeds(x):
        key = jax.random.fold_in(jax.random.key(i), 7)
        return jax.random.normal(key, x.shape) + x, jax.random.permutation(jax.random.key(i), 5), jax.random.key_data(key)

    return jax.jit(seeds)(X)


def device_random(i):
    def device_random(x):
        return jax.random.uniform(jax.random.key(i, impl="rbg"), x.shape) * (1 + i)

    return jax.jit(device_random)(X)


def effects(i):
    """Each call must happen exactly once, with its own number."""
    def effects(x):
        io_callback(lambda v: EFFECTS.append(float(v)), None, x.sum() + i, ordered=True)
        return x * (1 + i)

    y = jax.jit(effects)(X)
    jax.effects_barrier()
    return y, np.array(EFFECTS)


def donated(i):
    """Which argument is donated, and to which result, changes with the value."""
    def donated(x, y):
        return x * (1 + i), y + i

    return jax.jit(donated, donate_argnums=((0,), (1,), (0, 1), ())[i % 4])(jnp.array(X), jnp.array(X))


def donated_in_a_loop(i):
    def donated_in_a_loop(x):
        return x * (1 + i / 7)

    step, x = jax.jit(donated_in_a_loop, donate_argnums=0), jnp.array(X)
    for _ in range(3):
        x = step(x)
    return x


# ---- executables ----

def serialized(i):
    def serialized(x):
        return x * (1 + i / 3) + i

    compiled = jax.jit(serialized).lower(X).compile()
    parts = pickle.loads(pickle.dumps(serialize_executable.serialize(compiled)[0]))
    again = serialize_executable.deserialize_and_load(parts, *serialize_executable.serialize(compiled)[1:])
    return compiled(X), again(X)


def asked(i):
    """What a framework asks of an executable, and what does not depend on the value."""
    def asked(x):
        return x @ x.T * (1 + i)

    compiled = jax.jit(asked).lower(X).compile()
    memory = compiled.memory_analysis()
    return compiled(X), np.array(str(compiled.output_shardings)), np.array(memory.output_size_in_bytes if memory else 0)


def cleared(i):
    def cleared(x):
        return jnp.tanh(x * (1 + i / 5))

    y = jax.jit(cleared)(X)
    jax.clear_caches()
    return y, jax.jit(cleared)(X)


def threads(i):
    """Eight threads compile programs of one family at the same time."""
    def make(k):
        def in_thread(x):
            return jnp.sin(x * (1 + k)) + k

        return jax.jit(in_thread)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda k: make(k)(X), range(8 * i, 8 * i + 8)))


CASES = [special, folded, overflow, unsigned, to_integer, narrow, imaginary, initial, bodies, trips, searching, indexing, ordered, matrices,
         empty, returned, large, rematerialized, shapes, seeds, device_random, effects, donated, donated_in_a_loop, serialized, asked,
         cleared, threads]


def main():
    results = {}
    for case in [c for c in CASES if not sys.argv[2:] or c.__name__ in sys.argv[2:]]:
        for i in range(FIRST, FIRST + VALUES):
            for k, leaf in enumerate(jax.tree.leaves(case(i))):
                results[f"{case.__name__}.{i}.{k}"] = np.asarray(leaf)
    np.savez(sys.argv[1], **results)


if __name__ == "__main__":
    main()
