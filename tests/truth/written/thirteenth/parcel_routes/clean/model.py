import jax
import jax.numpy as jnp
from flax import linen as nn


class RouteNet(nn.Module):
    dim: int = 16

    @nn.compact
    def __call__(self, xy, slots, traffic):
        tight = jnp.min(slots, axis=-1, keepdims=True)
        late = jnp.max(slots, axis=-1, keepdims=True)
        x = jnp.concatenate([xy, tight / 8, late / 8, jnp.full_like(tight, 1.0) * traffic], -1)
        x = nn.Dense(self.dim, name="embed")(x)
        causal = nn.make_causal_mask(jnp.ones(xy.shape[:2]))
        x = x + nn.MultiHeadDotProductAttention(2, name="mixer")(x, mask=causal)
        return jnp.cumsum(nn.softplus(nn.Dense(1, name="head")(nn.tanh(x)))[..., 0], axis=1)


@jax.jit
def update(state, sheet, gates):
    def loss(p):
        out = state.apply_fn({"params": p}, sheet["xy"], sheet["slots"], sheet["traffic"])
        return jnp.mean(jnp.abs(out - sheet["eta"]))

    val, g = jax.value_and_grad(loss)(state.params)
    stepped = state.apply_gradients(grads=g)
    blend = {k: jax.tree.map(lambda a, b: jnp.where(gates[k], b, a), state.params[k], stepped.params[k]) for k in gates}
    return stepped.replace(params=blend), val
