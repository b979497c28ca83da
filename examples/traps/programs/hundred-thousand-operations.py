# trap: baked-constant
# function: rollout
# recompiles: 1
# fix: argument
# variants: no
"""A simulation unrolled into a hundred thousand operations; one number in the middle of it changes."""

import jax
import numpy as np
from jax import lax

STEPS = 25000
PROBES = 20


def advance(position, force):
    return lax.sub(lax.tanh(lax.add(lax.mul(position, force), force)), force)


def make_rollout(damping):
    @jax.jit
    def rollout(position, force):
        for step in range(STEPS):
            position = advance(position, force)
            if step == STEPS // 2:
                position = position * damping  # origin
        return position

    return rollout


def main():
    force = np.linspace(0.1, 0.4, 4, dtype=np.float32)
    for damping in (0.75, 0.6):
        rollout = make_rollout(damping)
        for _ in range(PROBES):
            end = rollout(np.ones(4, np.float32), force)  # trigger
        print("end", np.asarray(end))


if __name__ == "__main__":
    main()
