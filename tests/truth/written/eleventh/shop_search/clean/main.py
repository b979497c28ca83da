import argparse
import functools
import itertools
import zlib

import jax
import jax.numpy as jnp
import numpy as np

from index import ProductIndex
from traffic import new_arrivals, stream


def embed_words(text, dim, width=6):
    ids = [zlib.crc32(w.encode()) % 97 for w in text.split()][:width]
    return np.array(ids + [0] * (width - len(ids)), np.int32)


@jax.jit
def encode(table, ids):
    e = table[ids].sum(axis=1)
    return e / jnp.linalg.norm(e, axis=-1, keepdims=True)


@functools.partial(jax.jit, static_argnames=("k",))
def retrieve(queries, items, boost, live, alpha, *, k):
    scores = jnp.where(live, queries @ items.T + alpha * boost, -jnp.inf)
    return jax.lax.top_k(scores, k)


class SearchService:
    def __init__(self, index, dim, batch):
        self.index = index
        self.batch = batch
        self.table = jax.random.normal(jax.random.key(0), (97, dim))
        self.alpha = np.float32(0.02)
        self.served = 0

    def depth(self, group):
        return 24

    def answer(self, group):
        ids = np.zeros((self.batch, 6), np.int32)
        for i, r in enumerate(group):
            ids[i] = embed_words(r.text, self.index.dim)
        q = encode(self.table, ids)
        items, boost, live = self.index.snapshot()
        scores, rows = retrieve(q, items, boost, live, self.alpha, k=self.depth(group))
        scores, rows = np.asarray(scores), np.asarray(rows)
        out = []
        for i, r in enumerate(group):
            page = rows[i][: r.per_page]
            out.append((r, page, scores[i][: r.per_page]))
            self.index.click(int(page[0]))
            r.already_shown.update(page.tolist())
        self.served += len(group)
        self.alpha = np.float32(0.02 + 0.001 * (self.served % 7))
        return out


def grouped(it, n):
    it = iter(it)
    while chunk := list(itertools.islice(it, n)):
        yield chunk


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--requests", type=int, default=60)
    ap.add_argument("--batch", type=int, default=4)
    ap.add_argument("--dim", type=int, default=24)
    ap.add_argument("--restock-every", type=int, default=6)
    args = ap.parse_args()

    index = ProductIndex(args.dim)
    index.upsert(np.random.default_rng(0).normal(size=(128, args.dim)))
    svc = SearchService(index, args.dim, args.batch)
    for tick, group in enumerate(grouped(stream(args.requests), args.batch)):
        if tick and tick % args.restock_every == 0:
            index.upsert(new_arrivals(tick, args.dim))
        res = svc.answer(group)
        best = max(float(s[0]) for _, _, s in res)
        print(f"{tick:3d} items={len(index)} best={best:.3f} a={svc.alpha:.3f}")
    print("served", svc.served)


if __name__ == "__main__":
    main()
