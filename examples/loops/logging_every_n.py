"""Losses averaged eagerly, norms every ten steps, an average of the weights every five."""
import jax
import jax.numpy as jnp

from common import Counter, adam_init, batches, init, steps, train_step


@jax.jit
def norms(params):
    return jax.tree.map(lambda p: jnp.sqrt(jnp.sum(p * p)), params)


@jax.jit
def average(old, params):
    return jax.tree.map(lambda a, p: 0.99 * a + 0.01 * p, old, params)


params = init(jax.random.key(0))
opt = adam_init(params)
smooth = jax.tree.map(jnp.copy, params)
losses = []
counter = Counter()
for batch in batches(steps(200)):
    step = counter.begin()
    params, opt, loss = train_step(params, opt, batch)
    losses.append(loss)
    if step % 5 == 0:
        smooth = average(smooth, params)
    if step % 10 == 9:
        mean = jnp.mean(jnp.stack(losses))
        biggest = max(float(n) for n in jax.tree.leaves(norms(params)))
        print(f"step {step} loss {float(mean):.4f} largest norm {biggest:.2f}")
        losses = []
counter.done()
