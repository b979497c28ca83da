"""Values of Python in compiled code of JAX, and settings that do not change."""
import functools
import warnings

import flax
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

_warned = False
_kinds = []
_plain = False
_depth = 1


def widened(x, sizes):
    if sizes[0] > 1:  # clean: value-branch
        x = x + 1
    return x


@jax.jit
def halves(x, sizes=(4, 2)):
    x = widened(x, jax.tree.map(lambda n: n // 2, sizes))
    scaled = jax.tree.map(lambda n: jnp.float32(n), sizes)
    doubled = jax.tree.map(lambda leaf: leaf * 2, x)
    if doubled > 1:  # expect: value-branch
        x = x - 1
    return x, scaled


@jax.jit
def groups(operators, x, records):
    acting, bases = operators
    for k in range(len(acting)):  # clean: python-loop
        x = x + jnp.sum(acting[k]) * bases[k]
    parts = jax.tree.map(jnp.sin, operators)
    for k in range(len(parts)):  # clean: python-loop
        x = x + jnp.sum(parts[k])
    for k in range(len(records)):  # clean: python-loop
        if "scale" in records[k]:
            x = x * records[k]["scale"]
    for k in range(len(x)):  # expect: python-loop
        x = x * x[k]
    return x


def neighbors(positions, known=None):
    def search(carry):
        if known is None:
            if jnp.all(carry < 3):  # clean: value-branch
                carry = carry + 1
        return carry

    def always(carry):
        if jnp.all(carry < 3):  # expect: value-branch
            carry = carry + 1
        return carry

    return jax.lax.cond(True, search, always, positions)


def gathered(x):
    """Far from the compiled function: where tracing would fail, the code does not come."""
    return between(x)


def between(x):
    return jnp.delete(x, jnp.argwhere(x == 1))  # clean: mask-gather


@jax.jit
def outer(x, y):
    kept = y[y > 0]  # expect: mask-gather
    return gathered(x) + jnp.sum(kept)


def padded(rows):
    """A loop of its own: one number for the caller."""
    size = 1
    while size < rows:
        size *= 2
    return size


@functools.partial(jax.jit, static_argnums=1)
def resized(x, rows):
    return jnp.zeros((rows,)) + x


def chunks(x, rows):
    wide = padded(rows)
    for at in range(0, 8):
        resized(x[at], wide)  # clean: static-argument
        resized(x[at], at)  # expect: static-argument


def curve(x, degree):
    if degree == 0:  # clean: late-branch
        return x
    return x**degree


curves = jax.vmap(curve, in_axes=(0, None))


def evaluate(x):
    total = x
    for degree in range(4):
        total = total + curve(x, degree)
    return total + jnp.sum(curves(x, 2))


@functools.partial(jax.jit, static_argnums=1)
def branching(x, degree):
    if degree == 0:  # expect: late-branch
        return x
    return x**degree


def train(x):
    for degree in range(4):
        x = branching(x, degree)  # expect: static-argument
    return x


def warn_once():
    global _warned
    if _warned:  # clean: global-value
        return
    _warned = True
    warnings.warn("slow path")


def register(kind):
    global _kinds
    _kinds += [kind]


def without_primitives(f, x):
    global _plain
    before = _plain
    try:
        _plain = True
        return f(x)
    finally:
        _plain = before


def set_depth(depth):
    global _depth
    _depth = depth


@jax.jit
def settings(x):
    warn_once()
    if type(x) in _kinds:  # clean: global-value
        raise TypeError("registered")
    if _plain:  # clean: global-value
        return x
    return x * _depth  # expect: global-value (note)


@jax.jit
def residual(x):
    return x - 1


def newton(x, steps):
    error = float(jnp.linalg.norm(residual(x)))
    for _ in range(steps):
        r = residual(x)
        error = float(jnp.linalg.norm(r))  # expect: host-sync (note)
        if error < 1e-6:
            break
        x = x - r
    return x, error


def descent(x, steps):
    history = []
    for _ in range(steps):
        r = residual(x)
        history.append(float(jnp.linalg.norm(r)))  # expect: host-sync (warning)
        x = x - r
    return x, history


def measured(make, sizes, x):
    for size in sizes:
        measure(make, size, x)


def measure(make, size, x):
    kernel = make(size)
    run = jax.jit(lambda v: kernel(v).sum())  # expect: fresh-jit (note)
    return run(x)


def validated(model, batches):
    for batch in batches:
        validate(model, batch)


def validate(model, batch):
    loss = jax.jit(lambda b: jnp.sum(b * model.scale))  # expect: fresh-jit (error)
    return loss(batch)


@flax.struct.dataclass
class Fixed:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # clean: static-self
        return x * self.width


@flax.struct.dataclass(frozen=False)
class Open:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x * self.width


@flax.struct.dataclass(eq=False)
class Distinct:
    width: int

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):  # expect: static-self
        return x * self.width


@jax.jit
def failing(x, table):
    try:
        y = jnp.take(table, x)
    except TypeError as error:
        print("table", np.asarray(table))  # clean: traced-print
        raise ValueError("no table") from error
    print("x", x)  # expect: traced-print
    return y


@jax.tree_util.register_pytree_node_class
class Lens:
    """An object that is an argument: nothing of it is baked in."""

    def __init__(self, radius=1.0, fixed=False):
        self.radius = radius
        self.fixed = fixed

    def tree_flatten(self):
        return (self.radius,), self.fixed

    def fix(self, radius):
        self.fixed = True
        self.radius = radius

    @jax.jit
    def bend(self, x):
        return x * self.radius if self.fixed else x  # clean: self-value

    @functools.partial(jax.jit, static_argnums=0)
    def turn(self, x):  # expect: static-self
        return x * self.radius  # expect: self-value


@functools.partial(jax.jit, static_argnums=1)
def plane(x, i):
    return x * i


@jax.jit
def planes(x):
    for i in range(4):
        x = plane(x, i)  # clean: static-argument
    return x


def separate(x):
    for i in range(4):
        x = plane(x, i)  # expect: static-argument
    return x


def stacked(params, shardings, groups):
    for name, count in groups:

        def stack(*layers):
            return jnp.stack(layers)

        run = jax.jit(stack, out_shardings=shardings[name])  # expect: fresh-jit (note)
        params[name] = run(*params[name][:count])


@functools.partial(jax.jit, static_argnums=1)
def cleared(x, rows):
    @pl.kernel(out_shape=x)
    def clear(source, target):
        for i in range(rows):  # clean: python-loop
            target[i] = jnp.zeros_like(source[i])

    def copy(source, target):
        for i in range(rows):  # clean: python-loop
            target[i] = source[i] * 2

    y = clear(x) + pl.pallas_call(copy, out_shape=x)(x)
    for i in range(rows):  # expect: python-loop (note)
        y = y + jnp.sin(x * i)
    return y


class Likelihood:
    """What a setter compiles anew is compiled anew on purpose."""

    def __init__(self, data):
        self.data = data
        self.inner = jax.jit(self._inner)
        self.outer = jax.jit(self._outer)

    def update(self, data):
        self.data = data
        self.inner = jax.jit(self._inner)
        self.outer = jax.jit(self._outer)

    def _inner(self, x):
        return x - self.data  # expect: self-value (note)

    def _outer(self, x):
        return self.inner(x)  # clean: self-value


TRACED = False


def batched(x):
    if TRACED:
        return jax.vmap(batched)(x)
    return np.linalg.inv(x)  # clean: host-sync


if TRACED:
    def drawn(x):
        def body(carry, _):
            return np.log(carry), None  # clean: host-sync

        return jax.lax.scan(body, x, None, length=3)


def rated(x, rows):
    rates = np.zeros(len(rows))
    for i, row in enumerate(rows):
        rates[i] = float(jnp.mean(residual(x) - row))  # expect: host-sync (note)
    return rates


def lagged(x, steps):
    for _ in range(steps):
        r = residual(x)
        norm = float(jnp.linalg.norm(r))  # expect: host-sync (note)
        ratio = norm / steps
        if ratio > 0.5:
            solver = jnp.linalg.inv(x)
        x = x - solver @ r
    return x


def kept(x, steps):
    best = 1e9
    for _ in range(steps):
        x = residual(x)
        norm = float(jnp.linalg.norm(x))  # expect: host-sync (warning)
        if norm < best:
            best = norm
    return x, best
