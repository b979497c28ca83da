"""A training loop as large language models have it: sharded state, a step compiled ahead, checkpoints, evaluation.

The train step is lowered and compiled for the shapes of its arguments, before there is any data, to know its memory.
The loop then calls the jitted function, and it is compiled again: the batch has a sharding that the shapes did not
have. Evaluation and checkpoints come every few steps; metrics stay on the device.

    stet run --cpu -- python examples/sharded_train.py
"""

import pickle
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

WIDTH, VOCABULARY, BATCH, LENGTH = 32, 128, 4, 16
STEPS, CHECKPOINT_EVERY, EVALUATE_EVERY = 24, 8, 6


def loss_of(params, tokens):
    hidden = params["embed"][tokens[:, :-1]]
    hidden = hidden + jax.nn.gelu(hidden @ params["up"]) @ params["down"]
    logits = jax.nn.log_softmax(hidden @ params["embed"].T)
    return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1))


def train_step(state, tokens):
    loss, grads = jax.value_and_grad(loss_of)(state["params"], tokens)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, state["moments"], grads)
    params = jax.tree.map(lambda p, m: p - 0.05 * m, state["params"], moments)
    return {"params": params, "moments": moments, "step": state["step"] + 1}, {"loss": loss}


def initial_state(key):
    up, down, embed = jax.random.split(key, 3)
    params = {"embed": jax.random.normal(embed, (VOCABULARY, WIDTH)) * 0.1,
              "up": jax.random.normal(up, (WIDTH, 4 * WIDTH)) * 0.1,
              "down": jax.random.normal(down, (4 * WIDTH, WIDTH)) * 0.1}
    return {"params": params, "moments": jax.tree.map(jnp.zeros_like, params), "step": jnp.zeros((), jnp.int32)}


def shardings_of(mesh):
    weights = {"embed": P("model", None), "up": P(None, "model"), "down": P("model", None)}
    named = jax.tree.map(lambda spec: NamedSharding(mesh, spec), weights, is_leaf=lambda x: isinstance(x, P))
    return {"params": named, "moments": named, "step": NamedSharding(mesh, P())}


def batches(sharding):
    rng = np.random.default_rng(0)
    while True:
        yield jax.device_put(rng.integers(0, VOCABULARY, (BATCH, LENGTH), dtype=np.int32), sharding)


def save(folder, state):
    with open(f"{folder}/{int(state['step'])}", "wb") as file:
        pickle.dump(jax.device_get(state), file)


def main():
    mesh = Mesh(np.array(jax.devices()).reshape(-1, 1), ("data", "model"))
    state_sharding = shardings_of(mesh)
    data = batches(NamedSharding(mesh, P("data", None)))
    state = jax.jit(initial_state, out_shardings=state_sharding)(jax.random.key(0))
    step = jax.jit(train_step, in_shardings=(state_sharding, None), out_shardings=(state_sharding, None),
                   donate_argnums=0)
    evaluate = jax.jit(loss_of)

    shapes = jax.eval_shape(lambda: state), jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    ahead = step.lower(*shapes).compile()
    print("temporaries:", ahead.memory_analysis().temp_size_in_bytes, "bytes")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, STEPS + 1):
            state, metrics = step(state, next(data))
            if number % CHECKPOINT_EVERY == 0:
                save(folder, state)
            if number % EVALUATE_EVERY == 0:
                held_out = evaluate(state["params"], next(data))
                print(f"step {number}: loss {metrics['loss']:.3f}, held out {held_out:.3f}")


if __name__ == "__main__":
    main()
