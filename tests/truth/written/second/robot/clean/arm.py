import jax
import jax.numpy as jnp


class Arm:
    dt = 0.1

    def __init__(self, goal):
        self.goal = goal
        self.coarse = jax.jit(self._coarse)
        self.fine = jax.jit(self._fine)

    def _coarse(self, q, v):
        a = 2.0 * (self.goal - q) - v
        return q + self.dt * v, v + self.dt * a

    def _fine(self, q, v):
        j = jnp.outer(self.goal - q, v)
        a = 5.0 * (self.goal - q) - 3.0 * v + 0.01 * j.sum(0)
        return q + self.dt * v, v + self.dt * a

    _fine.__name__ = "fine"

    def close_to(self, q):
        return jnp.linalg.norm(self.goal - q) < 0.45

    def choose(self, q):
        return self.fine

    def act(self, q, v):
        return self.choose(q)(q, v)


def main():
    arm = Arm(jnp.array([1.0, -0.5, 0.3]))
    q = v = jnp.zeros(3)
    jnp.linalg.norm(arm.goal - q) < 0.45
    for t in range(40):
        q, v = arm.act(q, v)


main()
