"""One jitted step an iteration."""
import jax

from common import Counter, adam_init, batches, init, steps, train_step

params = init(jax.random.key(0))
opt = adam_init(params)
counter = Counter()
for batch in batches(steps(200)):
    counter.begin()
    params, opt, loss = train_step(params, opt, batch)
    counter.report(loss)
counter.done()
