import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax.training import train_state
import optax

from moe import RouterConfig, TinyLM

VOCAB, TOKENS, STEPS = 50, 96, 30


def documents(seed):
    """Packed rows: `TOKENS` ids and a mask of the ones that are text."""
    rng = np.random.default_rng(seed)
    for n in range(STEPS):
        text = TOKENS if n < 11 else int(rng.choice([TOKENS, 88, 72]))
        ids = rng.integers(1, VOCAB, TOKENS)
        ids[1::2] = ids[::2]
        ids[text:] = 0
        yield ids.astype(np.int32)


def pack(ids):
    alive = (ids != 0).astype(np.float32)
    return {"ids": ids, "alive": alive, "count": int(alive.sum())}


@functools.partial(jax.jit, static_argnums=2, donate_argnums=0)
def train_step(state, batch, slots):
    def loss_fn(params):
        logits, balance = state.apply_fn({"params": params}, batch["ids"][:-1], batch["alive"][:-1], slots)
        ce = optax.softmax_cross_entropy_with_integer_labels(logits, batch["ids"][1:])
        return (ce * batch["alive"][1:]).sum() / batch["alive"].sum() + 0.01 * balance
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    cfg = RouterConfig()
    model = TinyLM(VOCAB, cfg)
    ids0 = jnp.zeros(TOKENS - 1, jnp.int32)
    params = model.init(jax.random.key(0), ids0, jnp.ones(TOKENS - 1), cfg.capacity(TOKENS))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(3e-3))

    losses = []
    for ids in documents(seed=4):
        row = pack(ids)
        slots = cfg.capacity(row.pop("count"))
        state, loss = train_step(state, row, slots)
        losses.append(float(loss))
    print(f"ce {losses[0]:.3f} -> {np.mean(losses[-4:]):.3f}")


if __name__ == "__main__":
    main()
