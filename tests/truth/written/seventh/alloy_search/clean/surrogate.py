import jax
import jax.numpy as jnp
import optax

_opt = optax.adam(0.05)


def _kernel(th, a, b):
    d = (a[:, None] - b[None]) / jnp.exp(th["ls"])
    return jnp.exp(th["amp"]) * jnp.exp(-0.5 * jnp.sum(d ** 2, -1))


def _gram(th, X, live):
    K = _kernel(th, X, X) + (jnp.exp(th["noise"]) + 1e-4) * jnp.eye(X.shape[0])
    return jnp.where(live[:, None] & live[None], K, jnp.eye(X.shape[0]))


def _nlml(th, X, y, live):
    L = jnp.linalg.cholesky(_gram(th, X, live))
    a = jax.scipy.linalg.cho_solve((L, True), y)
    return 0.5 * y @ a + jnp.log(jnp.diagonal(L)).sum()


@jax.jit
def fit(th, X, y, live):
    def one(carry, _):
        th, s = carry
        v, g = jax.value_and_grad(_nlml)(th, X, y, live)
        u, s = _opt.update(g, s)
        return (optax.apply_updates(th, u), s), v
    (th, _), vs = jax.lax.scan(one, (th, _opt.init(th)), None, length=15)
    return th, vs[-1]


@jax.jit
def acquire(th, X, y, live, cand, best, exploring):
    L = jnp.linalg.cholesky(_gram(th, X, live))
    ks = _kernel(th, X, cand) * live[:, None]
    mu = ks.T @ jax.scipy.linalg.cho_solve((L, True), y)
    v = jax.scipy.linalg.solve_triangular(L, ks, lower=True)
    sd = jnp.sqrt(jnp.maximum(jnp.exp(th["amp"]) - jnp.sum(v ** 2, 0), 1e-9))
    z = (mu - best) / sd
    improve = (mu - best) * jax.scipy.stats.norm.cdf(z) + sd * jax.scipy.stats.norm.pdf(z)
    score = jnp.where(exploring, mu + 2.5 * sd, improve)
    return jnp.argmax(score), score.max()
