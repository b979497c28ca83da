# trap: none
# recompiles: 0
"""A generator and a critic train in turn, an average of the weights is kept: four jitted functions."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


def generate(gen, noise):
    return jnp.tanh(noise @ gen["a"]) @ gen["b"]


def judge(critic, x):
    return jax.nn.softplus(x @ critic["a"]) @ critic["b"]


@jax.jit
def critic_step(critic, gen, noise, real):
    def loss_of(c):
        return jnp.mean(judge(c, generate(gen, noise)) - judge(c, real))

    return jax.tree.map(lambda p, g: p - 0.01 * g, critic, jax.grad(loss_of)(critic))


@jax.jit
def generator_step(gen, critic, noise):
    def loss_of(g):
        return -jnp.mean(judge(critic, generate(g, noise)))

    return jax.tree.map(lambda p, g: p - 0.01 * g, gen, jax.grad(loss_of)(gen))


@jax.jit
def average(kept, fresh):
    return jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, kept, fresh)


@jax.jit
def spread(gen, noise):
    return jnp.std(generate(gen, noise), axis=0)


def main():
    rng = np.random.default_rng(29)
    gen = {
        "a": rng.normal(size=(4, WIDTH)).astype(np.float32) * 0.3,
        "b": rng.normal(size=(WIDTH, 3)).astype(np.float32) * 0.3,
    }
    critic = {
        "a": rng.normal(size=(3, WIDTH)).astype(np.float32) * 0.3,
        "b": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    kept = gen
    for step in range(10):
        noise = rng.normal(size=(BATCH, 4)).astype(np.float32)
        real = rng.normal(size=(BATCH, 3)).astype(np.float32)
        critic = critic_step(critic, gen, noise, real)
        gen = generator_step(gen, critic, noise)
        kept = average(kept, gen)
    print("spread", np.asarray(spread(kept, noise)))


if __name__ == "__main__":
    main()
