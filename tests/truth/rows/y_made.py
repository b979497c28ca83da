"""Y: functions that are made anew, one for each item of a list and one out of a table; and items of a list, of which
some are numbers and some lists."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

KINDS = {}
MOODS = {
    "calm": {"width": 3},
    "storm": {"width": 5},
}
BUOYS = [(0.2, 1.5), (0.4, 1.1), (0.7, 0.6)]


def kind(name):
    def keep(make):
        KINDS[name] = make
        return make

    return keep


@kind("swell")
def make_swell(base):
    def swell(heights):
        return jnp.sum(jnp.sqrt(heights + base))

    return jax.jit(swell)


def fitted(place, weight):
    def fit(height):
        return height + 0.1 * (weight - place * height)

    return jax.jit(fit)


@functools.partial(jax.jit, static_argnames="width")
def smooth(heights, width):
    return jnp.convolve(heights, jnp.ones(width) / width, mode="same")


@jax.jit
def ask(heights, where):
    return jnp.sum(heights[where])


def measured(names, base):
    return {name: KINDS[name](base) for name in names}


def watch(heights):
    total = 0.0
    for turn in range(8):
        mood = MOODS["storm" if turn == 5 else "calm"]
        heights = smooth(heights, width=mood["width"])
        total += sum(float(f(heights)) for f in measured(["swell"], 1.0).values())
        for where in [2, 3, [1, 4]] if turn == 6 else ():
            total += float(ask(heights, np.asarray(where, np.int32)))
    for place, weight in BUOYS:
        fit, level = fitted(place, weight), jnp.float32(0.0)
        for _ in range(4):
            level = fit(level)
        total += float(level)
    return total


print(watch(jnp.linspace(0.0, 1.0, 24)))
