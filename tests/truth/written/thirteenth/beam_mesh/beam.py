import jax
import jax.numpy as jnp


def start(key, dishes=16, beams=8):
    return {"taps": jax.random.normal(key, (dishes, beams)) * 0.2, "mix": jnp.ones(beams) / beams}


def steer(weights, snap):
    return jnp.tanh(snap @ weights["taps"]) @ weights["mix"]


@jax.jit
def adapt(weights, snap, want, rate):
    def cost(w):
        out = steer(w, snap)
        return jnp.mean((jnp.abs(out) - want) ** 2) + 1e-3 * jnp.sum(w["taps"] ** 2)

    val, g = jax.value_and_grad(cost)(weights)
    return jax.tree.map(lambda w, d: w - rate * d, weights, g), val
