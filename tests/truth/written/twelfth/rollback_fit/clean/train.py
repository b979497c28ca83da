import jax
import jax.numpy as jnp
import numpy as np
import optax

tx = optax.chain(optax.clip_by_global_norm(5.0), optax.sgd(0.03))


@jax.jit
def train_step(params, opt, x, y):
    def loss_fn(p):
        return jnp.mean((jnp.tanh(x @ p["w1"]) @ p["w2"] - y) ** 2)

    loss, g = jax.value_and_grad(loss_fn)(params)
    upd, opt = tx.update(g, opt)
    return jax.tree.map(lambda p, u: (p + u).astype(jnp.float32), params, upd), opt, loss.astype(jnp.float32)


@jax.jit
def trend(y, n):
    i = jnp.arange(y.shape[0])
    t = jnp.where(i < n, i - (n - 1) / 2, 0.0)
    return (t * y).sum() / (t * t).sum()


class Trainer:
    def __init__(self, seed=0):
        r = np.random.default_rng(seed)
        self.params = {"w1": (0.4 * r.normal(size=(6, 20))).astype(np.float32),
                       "w2": (0.4 * r.normal(size=(20,))).astype(np.float32)}
        self.opt = tx.init(self.params)

    def run(self, batches, guard, snapshots):
        for i, (x, y) in enumerate(batches):
            with jax.default_matmul_precision("highest"):
                self.params, self.opt, loss = train_step(self.params, self.opt, x, y)
            note = guard.inspect(self, loss)
            if i % 3 == 0:
                snapshots.write(self.params)
            print(i, f"{float(loss):.4f}", note)
