"""The step is compiled by calls whose results are thrown away; then real steps, the first of which
sees the optimizer's state as the loop makes it."""
import jax
import jax.numpy as jnp

from common import Counter, adam, adam_init, batches, init, loss_fn, steps


@jax.jit
def make_state(key):
    params = init(key)
    return params, adam_init(params)


@jax.jit
def train_step(params, opt, batch, rate):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    params, opt = adam(params, grads, opt, rate)
    return params, opt, loss


params, opt = make_state(jax.random.key(0))
warm = next(batches(1, seed=9))
for _ in range(3):
    jax.block_until_ready(train_step(params, opt, warm, 0.0))

counter = Counter()
rate = 0.0  # a Python float at first, an array later: the second call compiles again
for batch in batches(steps(150)):
    step = counter.begin()
    params, opt, loss = train_step(params, opt, batch, rate)
    rate = jnp.minimum(1e-2, (step + 1) * 1e-3)
    counter.report(loss)
counter.done()
