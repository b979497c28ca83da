import functools, jax, jax.numpy as jnp, numpy as onp, logging
log = logging.getLogger()
class Watch:
    def __init__(self, most): self.most = most; self.last = None
    def over(self, v):
        self.last = float(v)
        return self.last > self.most
@functools.partial(jax.jit, static_argnames=("n",))
def f(x, n=3, *rest, **more):
    return x[n : n + 2] ** n, jnp.roll(x, n)
def count(s): return int(jnp.sum(s > 0))
def main(x, data, watch=Watch(3)):
    for i, (a, b) in enumerate(zip(data, data)):
        x, y = f(a, n=count(b))
        if watch.over(y): x = f(x, 2)
        elif (k := y.item()) and not onp.isnan(y): continue
        log.info(f"{i}: {jnp.std(x)!r}")
        x = [z for z in x if z > k][: count(y)]
    while bool(y): y = jax.grad(lambda w: w @ x)(y)
