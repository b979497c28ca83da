import equinox as eqx
import jax
import jax.numpy as jnp


class Mensaje(eqx.Module):
    emisor: eqx.nn.Linear
    receptor: eqx.nn.Linear
    n: int = eqx.field(static=True)

    def __init__(self, ancho, n, *, key):
        k1, k2 = jax.random.split(key)
        self.emisor = eqx.nn.Linear(ancho, ancho, key=k1)
        self.receptor = eqx.nn.Linear(2 * ancho, ancho, key=k2)
        self.n = n

    def __call__(self, h, tramos):
        m = jax.vmap(self.emisor)(h)[tramos[:, 0]]
        suma = jax.ops.segment_sum(m, tramos[:, 1], num_segments=self.n + 1)[: self.n]
        return h + jax.nn.relu(jax.vmap(self.receptor)(jnp.concatenate([h, suma], -1)))


class Pronostico(eqx.Module):
    entrada: eqx.nn.Linear
    capas: list
    salida: eqx.nn.Linear

    def __init__(self, rasgos, ancho, n, *, key):
        k = jax.random.split(key, 4)
        self.entrada = eqx.nn.Linear(rasgos, ancho, key=k[0])
        self.capas = [Mensaje(ancho, n, key=k[1]), Mensaje(ancho, n, key=k[2])]
        self.salida = eqx.nn.Linear(ancho, "scalar", key=k[3])

    def __call__(self, x, tramos):
        h = jax.vmap(self.entrada)(x)
        for capa in self.capas:
            h = capa(h, tramos)
        return jax.vmap(self.salida)(h)
