import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Critic(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(6, 16, rngs=rngs)
        self.drop = nnx.Dropout(0.3, rngs=rngs)
        self.b = nnx.Linear(16, 1, rngs=rngs)
        self.seen = 0

    def __call__(self, x):
        return self.b(self.drop(nnx.relu(self.a(x))))

    def note(self, n):
        self.seen = self.seen + n


@nnx.jit
def play(critic, x):
    def loss(c):
        return jnp.mean(c(x) ** 2)
    g = nnx.grad(loss)(critic)
    state = nnx.state(critic, nnx.Param)
    nnx.update(critic, jax.tree.map(lambda p, d: p - 0.01 * d, state, g))


@nnx.jit
def score(critic, x):
    return critic(x).mean()


def evaluate(critic, x):
    critic.eval()
    s = score(critic, x)
    critic.train()
    return s


def main():
    critic = Critic(nnx.Rngs(0))
    x = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)
    score(critic, x)
    for i in range(16):
        play(critic, x)
        if i in (4, 9):
            critic.note(2)
        if i == 12:
            evaluate(critic, x)


main()
