import itertools

import jax
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import moe
from feeder import Corpus, Feeder, HardRows

VOCAB, DIM, EXPERTS, ROWS, LENGTH = 48, 16, 4, 12, 12


def main(steps=16):
    mesh = Mesh(np.array(jax.devices()[:1]), ("ep",))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
    shard = lambda spec: NamedSharding(mesh, spec)
    params = moe.init(jax.random.PRNGKey(0), VOCAB, DIM, EXPERTS, 24)
    params = {k: jax.device_put(v, shard(moe.SPECS[k])) for k, v in params.items()}
    opt = jax.tree.map(lambda x: x if x.ndim else jax.device_put(x, shard(P())), tx.init(params))
    state = {"params": params, "opt": opt}

    hard = HardRows(ROWS)
    feeder = Feeder(Corpus(VOCAB, ROWS, LENGTH, 1), shard(P()), hard, EXPERTS, 1.25)
    train_step = moe.make_train_step(mesh, tx)
    for i, (batch, layout) in enumerate(itertools.islice(feeder, steps)):
        state, m = train_step(state, batch, layout=layout)
        hard.note(batch, m["hard"])
        if i % 4 == 3:
            print(f"step {i + 1:2d} loss {float(m['loss']):.4f} dropped {float(m['dropped']):.0f} capacity {layout.capacity}")


if __name__ == "__main__":
    main()
