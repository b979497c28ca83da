from functools import partial

import jax
import jax.numpy as jnp
import optax

tx = optax.adam(0.02)


def init(key, width=12):
    a, b = jax.random.split(key)
    return {"w": jax.random.normal(a, (6, width)) * 0.3, "v": jax.random.normal(b, (width,)) * 0.3, "b": jnp.zeros(())}


def bid(params, lot):
    x = jnp.concatenate([lot["ctx"], lot["value"][:, None]], 1)
    shade = jax.nn.sigmoid(jnp.tanh(x @ params["w"]) @ params["v"] + params["b"])
    return lot["value"] * shade


def surplus(params, lot, fee):
    offer = bid(params, lot)
    bar = lot["rivals"].max(1)
    if "floor" in lot:
        bar = jnp.maximum(bar, lot["floor"])
    win = jax.nn.sigmoid((offer - bar) * 12.0)
    return -jnp.mean(win * (lot["value"] - offer * (1 + fee)))


def shade_step(params, opt, lot, fee):
    loss, g = jax.value_and_grad(surplus)(params, lot, fee)
    up, opt = tx.update(g, opt)
    return optax.apply_updates(params, up), opt, -loss


step_inplace = jax.jit(shade_step, donate_argnums=(0, 1))
step_keeping = jax.jit(shade_step)


@partial(jax.jit, static_argnums=2)
def clear(bids, rivals, slots):
    field = jnp.concatenate([bids[:, None], rivals], 1)
    tops, _ = jax.lax.top_k(field, slots + 1)
    cut = tops[:, -1]
    won = bids > cut
    return won.mean(), jnp.where(won, cut, 0.0).mean()


quote = jax.jit(lambda params, lot: bid(params, {k: lot[k] for k in ("ctx", "value")}))
