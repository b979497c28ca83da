import jax
import jax.numpy as jnp
import optax

VOCAB = 200
DIM = 24
tx = optax.lamb(2e-2)


def init(key):
    a, b, c = jax.random.split(key, 3)
    return {"emb": jax.random.normal(a, (VOCAB, DIM)) * 0.3,
            "q": jax.random.normal(b, (DIM, DIM)) / DIM ** 0.5,
            "d": jax.random.normal(c, (DIM, DIM)) / DIM ** 0.5}


def _bag(emb, flat, rows, n):
    total = jax.ops.segment_sum(emb[flat], rows, num_segments=n)
    count = jax.ops.segment_sum(jnp.ones(rows.shape), rows, num_segments=n)
    return total / jnp.maximum(count, 1.0)[:, None]


def _unit(x):
    return x / (1e-6 + jnp.linalg.norm(x, axis=-1, keepdims=True))


def query_tower(p, flat, rows, n):
    return _unit(_bag(p["emb"], flat, rows, n) @ p["q"])


def doc_tower(p, docs):
    return _unit(p["emb"][docs].mean(1) @ p["d"])


def nll(p, queries, pos, neg, live, n):
    q = query_tower(p, queries.flat, queries.rows, n)
    pos_s = jnp.sum(q * doc_tower(p, pos), -1, keepdims=True)
    neg_s = jnp.where(live, q @ doc_tower(p, neg).T, -1e9)
    return -jax.nn.log_softmax(jnp.concatenate([pos_s, neg_s], -1) / 0.1)[:, 0].mean()


def make_train_step(n):
    @jax.jit
    def train_step(p, s, queries, pos, neg, live):
        loss, g = jax.value_and_grad(nll)(p, queries, pos, neg, live, n)
        u, s = tx.update(g, s, p)
        return optax.apply_updates(p, u), s, loss
    return train_step


embed_docs = jax.jit(doc_tower)
