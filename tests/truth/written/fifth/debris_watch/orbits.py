"""Vectorised two-body propagation with a Newton while_loop for Kepler's equation."""
import jax
import jax.numpy as jnp
import numpy as np

MU = 398600.4418


def population(n, seed):
    rng = np.random.default_rng(seed)
    return {
        "a": rng.uniform(6900, 7100, n).astype(np.float32),
        "e": rng.uniform(0.0, 0.02, n).astype(np.float32),
        "inc": rng.uniform(0.9, 1.7, n).astype(np.float32),
        "raan": rng.uniform(0, 2 * np.pi, n).astype(np.float32),
        "argp": rng.uniform(0, 2 * np.pi, n).astype(np.float32),
        "m0": rng.uniform(0, 2 * np.pi, n).astype(np.float32),
    }


def eccentric_anomaly(m, e, tol=1e-5):
    def unfinished(s):
        return (s[1] > tol) & (s[2] < 20)

    def newton(s):
        x, _, i = s
        dx = (x - e * jnp.sin(x) - m) / (1 - e * jnp.cos(x))
        return x - dx, jnp.max(jnp.abs(dx)), i + 1

    return jax.lax.while_loop(unfinished, newton, (m, jnp.float32(1.0), 0))[0]


@jax.jit
def positions(el, t):
    m = jnp.mod(el["m0"] + jnp.sqrt(MU / el["a"] ** 3) * t, 2 * jnp.pi)
    x = eccentric_anomaly(m, el["e"])
    px = el["a"] * (jnp.cos(x) - el["e"])
    py = el["a"] * jnp.sqrt(1 - el["e"] ** 2) * jnp.sin(x)
    cw, sw = jnp.cos(el["argp"]), jnp.sin(el["argp"])
    u, v = cw * px - sw * py, sw * px + cw * py
    co, so = jnp.cos(el["raan"]), jnp.sin(el["raan"])
    ci, si = jnp.cos(el["inc"]), jnp.sin(el["inc"])
    return jnp.stack([co * u - so * ci * v, so * u + co * ci * v, si * v], -1)
