import jax
import jax.numpy as jnp
import optax

import graphs
import model

SIZE = 10
opt = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 2e-3, 5, 40))


@jax.jit
def update(params, opt_state, ema, batch):
    value, grad = jax.value_and_grad(model.loss)(params, batch, SIZE)
    delta, opt_state = opt.update(grad, opt_state, params)
    params = optax.apply_updates(params, delta)
    ema = jax.tree.map(lambda e, p: 0.95 * e + 0.05 * p, ema, params)
    return params, opt_state, ema, value


def main():
    data = graphs.dataset(64, seed=0)
    params = model.init(jax.random.PRNGKey(2))
    opt_state, ema = opt.init(params), params
    running = None
    for i, batch in enumerate(graphs.batches(data, SIZE, steps=18, seed=5)):
        params, opt_state, ema, value = update(params, opt_state, ema, batch)
        running = float(value) if running is None else 0.9 * running + 0.1 * float(value)
        if i % 3 == 0:
            print(f"{i:3d}  loss {float(value):8.4f}  avg {running:8.4f}")


main()
