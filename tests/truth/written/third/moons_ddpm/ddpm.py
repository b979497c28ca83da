# two-moons DDPM, class conditional, classifier-free guidance. scratch script, cleaned up a bit
from functools import lru_cache, partial
import jax, jax.numpy as jnp, numpy as np, optax

T      = 20
HIDDEN = 48
BATCH  = 96
STEPS  = 40
EMA_FROM = 14

betas = jnp.linspace(1e-3, 0.25, T)
abar  = jnp.cumprod(1 - betas)


def moons(rng, n):
    y = rng.integers(0, 2, n)
    th = rng.uniform(0, np.pi, n)
    x = np.where(y[:, None] == 0,
                 np.c_[np.cos(th), np.sin(th)],
                 np.c_[1 - np.cos(th), .5 - np.sin(th)])
    return (x + .05 * rng.normal(size=(n, 2))).astype(np.float32), y.astype(np.int32)


def init(rng):
    sizes = [2 + 3 + 8, HIDDEN, HIDDEN, 2]
    return [{"w": jnp.asarray(rng.normal(size=(a, b)) / np.sqrt(a), jnp.float32), "b": jnp.zeros(b)}
            for a, b in zip(sizes[:-1], sizes[1:])]


def eps_net(p, x, t, y):
    # y == 2 is the null class
    f = 2. ** jnp.arange(4) * (t[:, None] / T)
    h = jnp.concatenate([x, jax.nn.one_hot(y, 3), jnp.sin(f), jnp.cos(f)], -1)
    for i, l in enumerate(p):
        h = h @ l["w"] + l["b"]
        if i < len(p) - 1:
            h = jax.nn.silu(h)
    return h


tx = optax.chain(optax.clip_by_global_norm(1.), optax.adam(2e-3))


@jax.jit
def update(params, opt, ema, key, x, y):
    kt, ke, kd = jax.random.split(key, 3)
    t = jax.random.randint(kt, (x.shape[0],), 0, T)
    e = jax.random.normal(ke, x.shape)
    y = jnp.where(jax.random.bernoulli(kd, .15, y.shape), 2, y)

    def loss(p):
        a = abar[t][:, None]
        return jnp.mean((eps_net(p, jnp.sqrt(a) * x + jnp.sqrt(1 - a) * e, t, y) - e) ** 2)

    l, g = jax.value_and_grad(loss)(params)
    up, opt = tx.update(g, opt, params)
    params = optax.apply_updates(params, up)
    if ema is not None:
        ema = jax.tree.map(lambda m, p: .98 * m + .02 * p, ema, params)
    return params, opt, ema, l


@lru_cache(maxsize=None)
def sampler(guidance):
    @partial(jax.jit)
    def draw(params, key, y):
        null = jnp.full_like(y, 2)

        def back(i, c):
            x, k = c
            t = T - 1 - i
            tt = jnp.full(y.shape, t)
            cond, unc = eps_net(params, x, tt, y), eps_net(params, x, tt, null)
            e = (1 + guidance) * cond - guidance * unc
            k, s = jax.random.split(k)
            mu = (x - betas[t] / jnp.sqrt(1 - abar[t]) * e) / jnp.sqrt(1 - betas[t])
            return mu + jnp.where(t > 0, jnp.sqrt(betas[t]), 0.) * jax.random.normal(s, x.shape), k

        x0 = jax.random.normal(key, (*y.shape, 2))
        return jax.lax.fori_loop(0, T, back, (x0, key))[0]
    return draw


def main():
    rng = np.random.default_rng(0)
    key = jax.random.PRNGKey(0)
    params = init(rng)
    opt = tx.init(params)
    ema = None
    labels = np.arange(64, dtype=np.int32) % 2
    spread = []
    for s in range(STEPS):
        if s == EMA_FROM:
            ema = params
        key, k = jax.random.split(key)
        params, opt, ema, l = update(params, opt, ema, k, *moons(rng, BATCH))
        if s % 8 == 0:
            # walk the guidance up as the model gets better
            w = .25 * (s // 8)
            pts = np.asarray(sampler(w)(params, k, labels))
            spread.append(pts.std())
    print("loss %.3f  spread %.2f -> %.2f" % (l, spread[0], spread[-1]))


main()
