import jax
import numpy as np

from callbacks import History, ReduceOnPlateau
from trainer import Trainer, init_params


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    ang = rng.uniform(0, 2 * np.pi, n)
    r = 1.0 + y + rng.normal(0, 0.35, n)
    x = np.stack([r * np.cos(ang), r * np.sin(ang)], 1)
    return x.astype(np.float32), y.astype(np.int32)


x, y = rings(384)
history = History()
trainer = Trainer(
    init_params(jax.random.key(0), (2, 48, 48, 3)),
    learning_rate=0.2,
    every=4,
    callbacks=[history, ReduceOnPlateau()],
)
trainer.fit(x, y, epochs=14, batch=32)
for row in history.rows:
    print("{epoch:2d} loss {loss:.3f} acc {acc:.3f} lr {lr:g}".format(**row))
