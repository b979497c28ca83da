import jax
import jax.numpy as jnp
import numpy as np


def shift(img, by):
	return jnp.roll(img, by, axis=1)


shift = jax.jit(shift, static_argnames=["by"])


def policy(step):
	match step % 4:
		case 0:
			return 1
		case 1 | 2:
			return 2
		case k:
			return k + 1


def masks(step, shape):
	m = np.random.default_rng(step).random(shape) > 0.5
	return m if step < 12 else m.astype(np.float32)


@jax.jit
def epoch_step(w, img, mask):
	def loss_fn(w):
		return jnp.mean(jnp.where(mask, img * w, 0.0) ** 2) if mask.dtype == bool else jnp.mean((img * w * mask) ** 2)
	return w - 0.1 * jax.grad(loss_fn)(w)


def loop(steps):
	w = jnp.ones((8, 8))
	base = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
	for s in range(steps):
		img = shift(base, by=policy(s))
		w = epoch_step(w, img, masks(s, (8, 8)))
	return w


loop(18)
