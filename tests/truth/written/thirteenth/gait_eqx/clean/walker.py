import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Brain(eqx.Module):
    inner: eqx.nn.Linear
    outer: eqx.nn.Linear
    fuzz: eqx.nn.Dropout

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.inner = eqx.nn.Linear(7, 16, key=a)
        self.outer = eqx.nn.Linear(16, 2, key=b)
        self.fuzz = eqx.nn.Dropout(0.2)

    def __call__(self, obs, key):
        return self.outer(self.fuzz(jnp.tanh(self.inner(obs)), key=key))


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))


def tick(body, torque, slope):
    pos, vel, pitch = body
    vel = 0.95 * vel + 0.1 * torque[0] - 0.05 * slope.mean()
    pitch = pitch + 0.1 * (torque[1] - 0.6 * pitch + slope[0] * vel)
    return pos + 0.1 * vel, vel, pitch


@eqx.filter_jit
def improve(brain, opt, slope, ticks, longest, key):
    def cost(b):
        def one(body, k):
            obs = jnp.concatenate([jnp.stack(body), slope])
            body = tick(body, b(obs, jax.random.fold_in(key, k)), slope)
            return body, jnp.where(k < ticks, body[2] ** 2 + 0.1 * (body[1] - 0.5) ** 2, 0.0)

        start = (jnp.zeros(()), jnp.zeros(()), jnp.float32(0.1))
        _, costs = jax.lax.scan(one, start, jnp.arange(longest))
        return costs.sum() / ticks

    val, g = eqx.filter_value_and_grad(cost)(brain)
    up, opt = tx.update(g, opt)
    return eqx.apply_updates(brain, up), opt, val


@eqx.filter_jit
def trial(brain, slope, key):
    def go(body, k):
        body = tick(body, brain(jnp.concatenate([jnp.stack(body), slope]), k), slope)
        return body, jnp.abs(body[2])

    start = (jnp.zeros(()), jnp.zeros(()), jnp.float32(0.3))
    body, lean = jax.lax.scan(go, start, jax.random.split(key, 20))
    return lean.max(), (body[1] - 0.5) ** 2
