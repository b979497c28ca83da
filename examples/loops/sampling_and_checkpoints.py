"""Now and then a sample is drawn token by token, and now and then the state is copied and saved."""
import jax
import jax.numpy as jnp
import numpy as np

from common import SIZES, Counter, adam_init, apply, batches, init, steps, train_step


@jax.jit
def sample_step(params, cache, x, position):
    x = jnp.tanh(jnp.tile(apply(params, x), SIZES[0] // SIZES[-1]))
    return jax.lax.dynamic_update_slice(cache, x[None], (position, 0, 0)), x


params = init(jax.random.key(0))
opt = adam_init(params)
rng = np.random.default_rng(5)
saved = None
counter = Counter()
for batch in batches(steps(150)):
    counter.begin()
    params, opt, loss = train_step(params, opt, batch)
    if rng.random() < 0.1:
        cache, x = jnp.zeros((32, 1, SIZES[0])), jnp.ones((1, SIZES[0]))
        for position in range(int(rng.integers(2, 30))):
            cache, x = sample_step(params, cache, x, position)
        print("sampled", np.asarray(x).shape)
    if rng.random() < 0.07:
        saved = jax.device_get(jax.tree.map(jnp.copy, (params, opt)))
    counter.report(loss)
counter.done()
