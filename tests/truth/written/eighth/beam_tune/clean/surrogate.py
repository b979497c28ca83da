import jax
import jax.numpy as jnp
import optax

TX = optax.adam(0.05)


@jax.jit
def amplitude(trace, start):
    part = jax.lax.dynamic_slice(trace, (start,), (64,))
    return jnp.sqrt(jnp.mean((part - part.mean()) ** 2))


def kernel(theta, a, b):
    d2 = jnp.sum((a[:, None] - b[None]) ** 2, -1)
    return jnp.exp(theta["amp"]) * jnp.exp(-d2 * jnp.exp(theta["scale"]))


def gram(theta, x, used):
    K = kernel(theta, x, x) * used[:, None] * used + jnp.diag(1.0 - used)
    return K + (1e-3 + jnp.exp(theta["noise"])) * jnp.diag(used)


@jax.jit
def fit_theta(theta, opt_state, x, y, used):
    def nll(t):
        L = jnp.linalg.cholesky(gram(t, x, used))
        a = jax.scipy.linalg.solve_triangular(L, y, lower=True)
        return 0.5 * a @ a + jnp.sum(jnp.log(jnp.diag(L)))

    def body(_, c):
        t, s = c
        u, s = TX.update(jax.grad(nll)(t), s)
        return optax.apply_updates(t, u), s

    return jax.lax.fori_loop(0, 10, body, (theta, opt_state))


@jax.jit
def acquisition(theta, x, y, used, cand, kappa):
    K = gram(theta, x, used)
    ks = kernel(theta, cand, x) * used
    sol = jnp.linalg.solve(K, jnp.concatenate([y[:, None], ks.T], 1))
    mean = ks @ sol[:, 0]
    var = jnp.exp(theta["amp"]) - jnp.sum(ks * sol[:, 1:].T, -1)
    return mean - kappa * jnp.sqrt(jnp.maximum(var, 1e-6))
