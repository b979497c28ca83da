import jax
import jax.numpy as jnp
import numpy as np

DIM, CLASSES, BATCH, MAX_BATCHES = 10, 4, 8, 8


def apply(p, x):
    return jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"]


def init(key, hidden=16):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (DIM, hidden)) * 0.3, "b1": jnp.zeros(hidden), "w2": jax.random.normal(k2, (hidden, CLASSES)) * 0.3}


def nll(p, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(apply(p, x)), y[:, None], 1).mean()


@jax.jit
def local_update(global_params, xs, ys, n_batches, lr, mu):
    def objective(p, x, y):
        gap = jax.tree.map(lambda a, b: jnp.square(a - b).sum(), p, global_params)
        return nll(p, x, y) + 0.5 * mu * sum(jax.tree.leaves(gap))

    def body(p, row):
        i, x, y = row
        loss, g = jax.value_and_grad(objective)(p, x, y)
        on = (i < n_batches).astype(jnp.float32)
        return jax.tree.map(lambda a, b: a - on * lr * b, p, g), on * loss

    p, losses = jax.lax.scan(body, global_params, (jnp.arange(MAX_BATCHES), xs, ys))
    return jax.tree.map(lambda a, b: a - b, p, global_params), losses.sum() / n_batches


class Client:
    def __init__(self, cid, x, y, reliability):
        self.cid, self.reliability = cid, reliability
        self.full = len(x) // BATCH
        rows = self.full * BATCH
        self.xs = np.zeros((MAX_BATCHES * BATCH, DIM), np.float32)
        self.ys = np.zeros(MAX_BATCHES * BATCH, np.int32)
        self.xs[:rows], self.ys[:rows] = x[:rows], y[:rows]
        self.xs = self.xs.reshape(MAX_BATCHES, BATCH, DIM)
        self.ys = self.ys.reshape(MAX_BATCHES, BATCH)

    @property
    def num_examples(self):
        return self.full * BATCH

    def fit(self, params, cfg):
        delta, loss = local_update(params, self.xs, self.ys, np.int32(self.full), np.float32(cfg["lr"]), cfg["mu"])
        return {"delta": jax.tree.map(np.asarray, delta), "n": self.num_examples, "loss": float(loss)}


def make_federation(n_clients, seed):
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 1.5, (CLASSES, DIM))
    sizes = np.clip((rng.dirichlet([1.2] * n_clients) * 240).astype(int), 16, 64)
    out = []
    for cid, n in enumerate(sizes):
        skew = rng.dirichlet([0.6] * CLASSES)
        y = rng.choice(CLASSES, n, p=skew).astype(np.int32)
        x = (centers[y] + rng.normal(0, 1, (n, DIM))).astype(np.float32)
        out.append(Client(cid, x, y, rng.uniform(0.6, 1.0)))
    return out, centers
