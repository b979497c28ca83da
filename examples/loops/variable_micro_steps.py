"""As many micro-batches as a budget of tokens asks for; sums are kept inside the jitted step."""
import jax
import jax.numpy as jnp
import numpy as np

from common import Counter, adam, adam_init, batches, init, loss_fn, steps


@jax.jit
def micro_step(params, total, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    return jax.tree.map(jnp.add, total, grads), loss


@jax.jit
def update(params, opt, total, n):
    return adam(params, jax.tree.map(lambda g: g / n, total), opt)


params = init(jax.random.key(0))
opt = adam_init(params)
rng = np.random.default_rng(3)
data = batches(10**6)
counter = Counter()
for _ in range(steps(100)):
    counter.begin()
    total = jax.tree.map(jnp.zeros_like, params)
    micro = int(rng.integers(1, 7))
    for _ in range(micro):
        total, loss = micro_step(params, total, next(data))
    params, opt = update(params, opt, total, np.float32(micro))
    counter.report(loss)
counter.done()
