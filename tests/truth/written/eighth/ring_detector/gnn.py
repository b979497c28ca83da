from functools import partial

import haiku as hk
import jax
import jax.numpy as jnp
import optax


def network(g):
    n = g["accounts"].shape[0]
    h = jax.nn.relu(hk.Linear(16, name="encode")(g["accounts"]))
    for name in ("hop_a", "hop_b"):
        padded = jnp.concatenate([h, jnp.zeros((1, 16))])
        msg = padded[g["sender"]] * jnp.log1p(g["amount"])[:, None]
        inbox = jax.ops.segment_sum(msg, g["receiver"], num_segments=n + 1)[:n]
        h = jax.nn.relu(hk.Linear(16, name=name)(jnp.concatenate([h, inbox], -1)))
    return hk.Linear(2, name="verdict")(h)


net = hk.without_apply_rng(hk.transform(network))
tx = optax.adam(1e-2)


@partial(jax.jit, static_argnames=("open_modules", "details"))
def fit(params, opt_state, g, open_modules, details):
    def loss_fn(p):
        logits = net.apply(p, g)
        return optax.softmax_cross_entropy_with_integer_labels(logits, g["label"]).mean(), logits

    (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    grads = {m: v if m in open_modules else jax.tree.map(jnp.zeros_like, v) for m, v in grads.items()}
    upd, opt_state = tx.update(grads, opt_state, params)
    out = {"loss": loss}
    if details:
        out["norms"] = {m: optax.global_norm(v) for m, v in grads.items()}
        out["recall"] = jnp.sum((logits.argmax(-1) == 1) & (g["label"] == 1)) / jnp.sum(g["label"])
    return optax.apply_updates(params, upd), opt_state, out
