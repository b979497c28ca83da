import jax
import jax.numpy as jnp


def shape(theta, t):
    base, depth, width, soft = theta
    return base - depth * jax.nn.sigmoid((width - jnp.abs(t)) / soft)


@jax.jit
def lm_step(theta, damping, t, f, w):
    resid = lambda th: (shape(th, t) - f) * w * 1e3
    r, J = resid(theta), jax.jacfwd(resid)(theta)
    A = J.T @ J
    delta = jnp.linalg.solve(A + damping * jnp.diag(jnp.diagonal(A) + 1e-6), -J.T @ r)
    old, new = jnp.sum(r ** 2), jnp.sum(resid(theta + delta) ** 2)
    ok = new < old
    factor = jnp.where(ok, jnp.float32(0.3), jnp.float32(5.0))
    return jnp.where(ok, theta + delta, theta), damping * factor, jnp.minimum(old, new)


predict = jax.jit(shape)


def levenberg(theta, t, f, w, iters=10, damping=1e-2):
    damping = jnp.float32(damping)
    for _ in range(iters):
        theta, damping, chi2 = lm_step(theta, damping, t, f, w)
    return theta, float(chi2)
