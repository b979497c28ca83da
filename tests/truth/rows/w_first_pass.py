"""The first pass of training meets every length once, through a function that is also called after the training."""
import jax
import jax.numpy as jnp
import numpy as np

advance = jax.jit(lambda state, notes: state * 0.9 + jnp.sin(notes).mean(axis=0))


def follow(state, melody):
    return np.asarray(advance(state, melody))


def practise(state):
    melodies = [np.full((bars, 4), 0.1, np.float32) for bars in (3, 7, 11, 15)]
    for _ in range(9):
        for melody in melodies:
            state = follow(state, melody)
    return state


state = practise(np.zeros(4, np.float32))
for _ in range(5):
    state = follow(state, np.zeros((7, 4), np.float32))
print(state.sum())
