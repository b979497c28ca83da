import jax
import jax.numpy as jnp
import numpy as np

DIM, CLASSES, BATCH = 10, 4, 8


def apply(p, x):
    return jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"]


def init(key, hidden=16):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (DIM, hidden)) * 0.3, "b1": jnp.zeros(hidden), "w2": jax.random.normal(k2, (hidden, CLASSES)) * 0.3}


def nll(p, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(apply(p, x)), y[:, None], 1).mean()


@jax.jit
def local_update(global_params, xs, ys, lr, mu):
    def objective(p, x, y):
        loss = nll(p, x, y)
        if mu is not None:
            gap = jax.tree.map(lambda a, b: jnp.square(a - b).sum(), p, global_params)
            loss = loss + 0.5 * mu * sum(jax.tree.leaves(gap))
        return loss

    def body(p, xy):
        loss, g = jax.value_and_grad(objective)(p, *xy)
        return jax.tree.map(lambda a, b: a - lr * b, p, g), loss

    p, losses = jax.lax.scan(body, global_params, (xs, ys))
    return jax.tree.map(lambda a, b: a - b, p, global_params), losses.mean()


class Client:
    def __init__(self, cid, x, y, reliability):
        self.cid, self.reliability = cid, reliability
        full = len(x) // BATCH
        self.xs = x[: full * BATCH].reshape(full, BATCH, DIM)
        self.ys = y[: full * BATCH].reshape(full, BATCH)

    @property
    def num_examples(self):
        return self.ys.size

    def fit(self, params, cfg):
        delta, loss = local_update(params, self.xs, self.ys, np.float32(cfg["lr"]), cfg["mu"])
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
