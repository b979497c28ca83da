import contextlib
import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from graphs import GraphLoader, molecule


def graph_ids(g, total):
    return jnp.repeat(jnp.arange(g.n_node.shape[0]), g.n_node, total_repeat_length=total)


def net_fn(g):
    n = g.nodes.shape[0]
    h = hk.Linear(24)(g.nodes)
    e = hk.Linear(24)(g.edges)
    for i in range(2):
        msg = jax.nn.relu(hk.Linear(24, name=f"msg_{i}")(jnp.concatenate([h[g.senders], e], -1)))
        agg = jax.ops.segment_sum(msg, g.receivers, n)
        h = h + jax.nn.relu(hk.Linear(24, name=f"upd_{i}")(jnp.concatenate([h, agg], -1)))
    pooled = jax.ops.segment_sum(h, graph_ids(g, n), g.n_node.shape[0])
    return hk.Linear(1)(pooled)


net = hk.without_apply_rng(hk.transform(net_fn))


def masked_bce(params, g):
    logits = net.apply(params, g._replace(globals=None))
    real = jnp.arange(g.n_node.shape[0]) < g.n_node.shape[0] - 1
    ce = optax.sigmoid_binary_cross_entropy(logits, g.globals)[:, 0]
    return jnp.where(real, ce, 0.0).sum() / real.sum()


class Optimiser:
    def __init__(self, lr):
        self.tx = optax.adam(lr)

    @functools.partial(jax.jit, static_argnums=0)
    def update(self, params, opt_state, g):
        loss, grads = jax.value_and_grad(masked_bce)(params, g)
        upd, opt_state = self.tx.update(grads, opt_state, params)
        return optax.apply_updates(params, upd), opt_state, loss, optax.global_norm(grads)


@contextlib.contextmanager
def numerics(epoch, polish_from):
    if epoch < polish_from:
        yield
        return
    with jax.default_matmul_precision("highest"):
        yield


@jax.jit
def grad_ema(old, new):
    return 0.9 * old + 0.1 * new


def train(epochs=4, batch_size=6):
    rng = np.random.default_rng(0)
    loader = GraphLoader([molecule(rng) for _ in range(24)], batch_size, seed=1)
    opt = Optimiser(5e-3)
    params = net.init(jax.random.PRNGKey(0), next(iter(loader)))
    opt_state = opt.tx.init(params)
    smooth = jnp.zeros(())
    for epoch in range(epochs):
        with numerics(epoch, polish_from=epochs - 1):
            losses = []
            for g in loader:
                params, opt_state, loss, norm = opt.update(params, opt_state, g)
                losses.append(float(loss))
        smooth = grad_ema(smooth, norm)
        print(f"epoch {epoch} loss {np.mean(losses):.4f} norm {float(smooth):.3f}")


if __name__ == "__main__":
    train()
