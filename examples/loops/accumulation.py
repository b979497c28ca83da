"""Gradients of four micro-batches are added up, leaf by leaf and eagerly, then applied once."""
import jax
import jax.numpy as jnp

from common import Counter, adam, adam_init, batches, init, loss_fn, steps

MICRO = 4
grad_step = jax.jit(jax.value_and_grad(loss_fn))
apply_grads = jax.jit(lambda params, opt, grads: adam(params, jax.tree.map(lambda g: g / MICRO, grads), opt))

params = init(jax.random.key(0))
opt = adam_init(params)
data = batches(steps(100) * MICRO)
counter = Counter()
for _ in range(steps(100)):
    counter.begin()
    total = None
    for _ in range(MICRO):
        loss, grads = grad_step(params, next(data))
        total = grads if total is None else jax.tree.map(jnp.add, total, grads)
    params, opt = apply_grads(params, opt, total)
    counter.report(loss)
counter.done()
