import jax
import jax.numpy as jnp

DT = 0.1
DRAG = 0.15


def f(x, u):
    """Planar point mass: x = [px, py, vx, vy], u = [ax, ay]."""
    p, v = x[:2], x[2:]
    a = jnp.tanh(u) * 4.0 - DRAG * v * jnp.abs(v)
    return jnp.concatenate([p + DT * v, v + DT * a])


def rollout(x0, plan):
    def body(x, u):
        x = f(x, u)
        return x, x
    _, xs = jax.lax.scan(body, x0, plan)
    return xs


step = jax.jit(f)
