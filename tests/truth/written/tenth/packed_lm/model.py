from functools import partial

import jax
import jax.numpy as jnp
import optax


def init(key, vocab, dim, n_layers):
    ks = jax.random.split(key, 2 * n_layers + 1)
    return {
        "embed": jax.random.normal(ks[0], (vocab, dim)) * 0.02,
        "layers": {
            "qkv": jnp.stack([jax.random.normal(k, (dim, 3 * dim)) * dim**-0.5 for k in ks[1 : n_layers + 1]]),
            "out": jnp.stack([jax.random.normal(k, (dim, dim)) * dim**-0.5 for k in ks[n_layers + 1 :]]),
        },
    }


@partial(jax.jit, static_argnums=1)
def segment_layout(cu_seqlens, shape):
    pos = jnp.arange(shape[0] * shape[1])
    return jnp.searchsorted(cu_seqlens, pos, side="left").reshape(shape)


def forward(params, tokens, seg):
    x = params["embed"][tokens]
    t = tokens.shape[1]
    mask = jnp.tril(jnp.ones((t, t), bool)) & (seg[:, :, None] == seg[:, None, :])

    def block(x, w):
        q, k, v = jnp.split(x @ w["qkv"], 3, -1)
        att = jnp.where(mask, jnp.einsum("btd,bsd->bts", q, k) / q.shape[-1] ** 0.5, -1e9)
        return x + jax.nn.softmax(att) @ v @ w["out"], None

    x, _ = jax.lax.scan(block, x, params["layers"])
    return x @ params["embed"].T


def train_step(tx, state, batch):
    def loss_fn(p):
        logits = forward(p, batch["inputs"], batch["segments"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["targets"]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    upd, opt = tx.update(grads, state["opt"], state["params"])
    return {"params": optax.apply_updates(state["params"], upd), "opt": opt, "step": state["step"] + 1}, loss
