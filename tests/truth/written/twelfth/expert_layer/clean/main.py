from typing import NamedTuple

import numpy as np

from moe import train, weights
from plan import Plan, balance_at


class Batch(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    live: np.ndarray


def shards(n, tokens=48, dim=6, seed=13):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        x = rng.normal(size=(tokens, dim)).astype(np.float32)
        y = np.abs(x).sum(1) - x[:, 0]
        used = int(rng.choice([30, 38, 46]))
        yield Batch(x, y.astype(np.float32), (np.arange(tokens) < used).astype(np.float32))


def main(iters=9):
    plan = Plan().sized_for(48)
    p = weights(plan, 6)
    lr = 0.05
    for it, batch in enumerate(shards(iters)):
        p, loss, aux = train(p, batch, lr, balance_at(it), plan)
        lr *= 0.97
        print(f"{it} loss {float(loss):.4f} aux {float(aux):.3f} lr {lr:.4f}")


if __name__ == "__main__":
    main()
