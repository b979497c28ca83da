from typing import NamedTuple

import jax
import numpy as np

import towers
from mining import Miner

N_DOCS, DOC_LEN, BATCH = 64, 6, 8
MAX_WORDS = 4 * BATCH


class Ragged(NamedTuple):
    flat: np.ndarray
    rows: np.ndarray

    @classmethod
    def pack(cls, lists):
        flat = np.concatenate(lists).astype(np.int32)
        rows = np.repeat(np.arange(len(lists)), [len(x) for x in lists]).astype(np.int32)
        room = (0, MAX_WORDS - len(flat))
        return cls(np.pad(flat, room), np.pad(rows, room, constant_values=len(lists)))


def corpus(seed=0):
    rng = np.random.default_rng(seed)
    docs = rng.integers(0, towers.VOCAB, (N_DOCS, DOC_LEN)).astype(np.int32)
    queries = []
    for i in range(N_DOCS):
        words = 3 if i < 40 else int(rng.integers(2, 5))
        queries.append(rng.choice(docs[i], words))
    return docs, queries


def log_queries(queries, steps):
    rng = np.random.default_rng(9)
    for step in range(steps):
        recent = 40 if step < 8 else N_DOCS
        ids = rng.choice(recent, BATCH, replace=False)
        yield ids, Ragged.pack([queries[i] for i in ids])


def main():
    docs, queries = corpus()
    p = towers.init(jax.random.PRNGKey(1))
    s = towers.tx.init(p)
    train_step = towers.make_train_step(BATCH)
    miner = Miner(refresh=4)
    index = towers.embed_docs(p, docs)
    for step, (ids, q) in enumerate(log_queries(queries, 16)):
        centre = np.asarray(index)[ids].mean(0)
        neg, live = miner.negatives(docs, index, centre)
        p, s, loss = train_step(p, s, q, docs[ids], neg, live)
        index = towers.embed_docs(p, docs)
        miner.after_step(step, index, centre)
        if step % 4 == 3:
            print(f"step {step:2d} loss {float(loss):.4f}")


if __name__ == "__main__":
    main()
