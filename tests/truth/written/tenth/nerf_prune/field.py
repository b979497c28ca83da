import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class Encoding:
    bands: int
    active: int

    @property
    def width(self):
        return 3 + 6 * self.bands

    def __call__(self, x):
        parts = [x]
        for b in range(self.bands):
            s, c = jnp.sin(2.0**b * jnp.pi * x), jnp.cos(2.0**b * jnp.pi * x)
            on = 1.0 if b < self.active else 0.0
            parts += [on * s, on * c]
        return jnp.concatenate(parts, -1)

    def widen(self):
        return dataclasses.replace(self, active=min(self.active + 1, self.bands))


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Field:
    weights: dict
    encoding: Encoding

    def __call__(self, pts):
        h = jax.nn.relu(self.encoding(pts) @ self.weights["a"] + self.weights["a_b"])
        h = jax.nn.relu(h @ self.weights["b"])
        out = h @ self.weights["c"]
        return jax.nn.softplus(out[..., 0] - 1.0), jax.nn.sigmoid(out[..., 1:])


def create(key, bands=4, active=1, hidden=24):
    enc = Encoding(bands, active)
    k = jax.random.split(key, 3)
    w = {
        "a": jax.random.normal(k[0], (enc.width, hidden)) * enc.width**-0.5,
        "a_b": jnp.zeros(hidden),
        "b": jax.random.normal(k[1], (hidden, hidden)) * hidden**-0.5,
        "c": jax.random.normal(k[2], (hidden, 4)) * hidden**-0.5,
    }
    return Field(w, enc)
