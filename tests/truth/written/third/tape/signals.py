from functools import partial

import jax
import jax.numpy as jnp

LOOKBACK = 64
HALF = 12.


def _ewm(r):
	w = jnp.exp(-jnp.arange(r.shape[0])[::-1] * (jnp.log(2.) / HALF))
	return (w * r).sum() / w.sum()


@partial(jax.jit, static_argnames='start')
def signal(book, start):
	w = book[start:start + LOOKBACK]
	r = jnp.diff(jnp.log(w))
	trend = _ewm(r)
	vol = jnp.sqrt(_ewm(r ** 2) + 1e-12)
	z = (w[-1] - w.mean()) / (w.std() + 1e-6)
	return jnp.stack([trend / vol, z, vol])


@jax.jit
def size(sig, pos, cash):
	raw = jnp.tanh(.8 * sig[0] - .3 * sig[1]) / (1 + 50 * sig[2])
	target = .25 * cash * raw
	# no-trade band
	return jnp.where(jnp.abs(target - pos) < .01 * cash, pos, target)
