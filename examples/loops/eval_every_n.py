"""Every seven steps a few evaluation batches, with the mean taken eagerly."""
import jax
import jax.numpy as jnp

from common import Counter, adam_init, apply, batches, init, steps, train_step


@jax.jit
def eval_step(params, batch):
    x, y = batch
    return jnp.mean(jnp.argmax(apply(params, x), axis=-1) == y)


params = init(jax.random.key(0))
opt = adam_init(params)
counter = Counter()
for batch in batches(steps(150)):
    step = counter.begin()
    params, opt, loss = train_step(params, opt, batch)
    if step % 7 == 6:
        accuracy = jnp.mean(jnp.stack([eval_step(params, b) for b in batches(5, seed=1)]))
        print(f"step {step} accuracy {float(accuracy):.3f}")
    counter.report(loss)
counter.done()
