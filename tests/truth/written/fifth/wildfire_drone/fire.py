# wildfire cellular automaton + drone camera.  0 bare, 1 fuel, 2 burning, 3 burnt
import jax, jax.numpy as jnp, numpy as np
from functools import partial

N, W, T = 96, 24, 26


def terrain(seed):
    r = np.random.default_rng(seed)
    z = r.normal(size=(N, N))
    for _ in range(6): z = (z + np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1)) / 5
    g = (r.random((N, N)) < .85).astype(np.int32)
    g[4:7, N // 2 - 1:N // 2 + 2] = 2
    return g, z.astype(np.float32)


def gusts(seed):
    r = np.random.default_rng(seed)
    v = 6.
    for _ in range(T):
        v = .7 * v + .3 * r.uniform(0, 22)
        yield v, float(r.uniform(-.4, .4))


def nsub(v): return 1 + int(v // 4)      # CFL-ish: more sub-steps in strong wind


def spread(g, z, k, v, th):
    b = (g == 2).astype(jnp.float32)
    e = 0.
    for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        s = jnp.clip(1 + 3 * (z - jnp.roll(z, (dy, dx), (0, 1))), .2, 2.)
        a = 1 + .04 * v * (dy * jnp.cos(th) + dx * jnp.sin(th))
        e += jnp.roll(b, (dy, dx), (0, 1)) * s * a
    hit = jax.random.uniform(k, g.shape) < 1 - jnp.exp(-.35 * e)
    out = jax.random.uniform(jax.random.fold_in(k, 1), g.shape) < .25
    return jnp.where((g == 1) & hit, 2, jnp.where((g == 2) & out, 3, g))


@partial(jax.jit, static_argnames="n")
def burn(g, z, k, v, th, n):
    for i in range(n):
        g = spread(g, z, jax.random.fold_in(k, i), v, th)
    return g


@jax.jit
def stats(g):
    b = (g == 2)
    y = jnp.arange(N)
    return b.sum(), (g == 3).mean(), (b * y[:, None]).sum() / jnp.maximum(b.sum(), 1)


@partial(jax.jit, static_argnums=(2,))
def camera(g, z, y0):
    crop = g[y0:y0 + W]
    h = z[y0:y0 + W]
    heat = jnp.where(crop == 2, 1. + h, jnp.where(crop == 3, .2, 0.))
    return heat.sum(0) / W, y0


def run():
    g, z = terrain(1)
    k = jax.random.PRNGKey(0)
    log = []
    for t, (v, th) in enumerate(gusts(7)):
        g = burn(g, z, jax.random.fold_in(k, t), v, th, nsub(v))
        if t % 3 == 2:
            nb, ash, yc = stats(g)
            y0 = min(max(int(yc) - W // 2, 0), N - W)
            f, top = camera(g, z, y0)
            log.append((t, v, nb, ash, top, f))
    for t, v, *r, f in log: print("t=%d wind=%.1f burning=%d ash=%.3f row=%d peak=%.3f" % (t, v, *map(float, r), np.asarray(f).max()))


if __name__ == "__main__": run()
