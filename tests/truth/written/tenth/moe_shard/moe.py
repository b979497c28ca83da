import functools

import jax
import jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P


def init(key, vocab, dim, experts, hidden):
    k = jax.random.split(key, 4)
    return {
        "emb": jax.random.normal(k[0], (vocab, dim)) * 0.5,
        "router": jax.random.normal(k[1], (dim, experts)) * 0.3,
        "up": jax.random.normal(k[2], (experts, dim, hidden)) * dim**-0.5,
        "down": jax.random.normal(k[3], (experts, hidden, dim)) * hidden**-0.5,
    }


SPECS = {"emb": P(), "router": P(), "up": P("ep"), "down": P("ep")}


def dispatch(gates, live, capacity):
    """One-hot (token, expert, place) tensor; tokens beyond capacity are dropped."""
    choice = jax.nn.one_hot(gates.argmax(-1), gates.shape[-1]) * live[:, None]
    place = (jnp.cumsum(choice, 0) - 1.0) * choice
    fits = choice * (place < capacity)
    return fits[..., None] * jax.nn.one_hot(place.sum(-1).astype(jnp.int32), capacity)[:, None, :]


def moe_layer(mesh, capacity):
    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("ep"), P("ep"), P()), out_specs=P("ep"))
    def experts(up, down, packed):
        i = jax.lax.axis_index("ep")
        mine = jax.lax.dynamic_slice_in_dim(packed, i * up.shape[0], up.shape[0], 0)
        return jnp.einsum("ech,ehd->ecd", jax.nn.gelu(jnp.einsum("ecd,edh->ech", mine, up)), down)

    def apply(params, x, live):
        gates = jax.nn.softmax(x @ params["router"])
        d = dispatch(gates, live, capacity)
        packed = jnp.einsum("tec,td->ecd", d, x)
        out = experts(params["up"], params["down"], packed)
        combine = d * gates[..., None]
        dropped = live.sum() - d.sum()
        return x + jnp.einsum("tec,ecd->td", combine, out), dropped

    return apply


def make_train_step(mesh, tx):
    @functools.partial(jax.jit, static_argnames=("layout",))
    def train_step(state, batch, layout):
        layer = moe_layer(mesh, layout.capacity)
        live = batch["live"].reshape(-1)

        def loss_fn(p):
            x = p["emb"][batch["tokens"].reshape(-1)]
            h, dropped = layer(p, x, live)
            ce = optax.softmax_cross_entropy_with_integer_labels(h @ p["emb"].T, batch["next"].reshape(-1))
            return (ce * live).sum() / live.sum(), (ce.reshape(batch["next"].shape), dropped)

        (loss, (ce, dropped)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"])
        upd, opt = tx.update(grads, state["opt"], state["params"])
        new = {"params": optax.apply_updates(state["params"], upd), "opt": opt}
        return new, {"loss": loss, "dropped": dropped, "hard": (ce * batch["live"]).sum(-1)}

    return train_step
