import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from curriculum import stages
from model import Integrator, VectorField, rk4


def ground_truth(key, n, ts):
    y0 = jr.uniform(key, (n, 2), minval=-1.0, maxval=1.0)
    true = lambda t, y: jnp.stack([y[1], -jnp.sin(y[0])]) - 0.05 * y

    def one(y0):
        def body(y, h):
            y = rk4(true, 0.0, h, y)
            return y, y
        _, ys = jax.lax.scan(body, y0, jnp.diff(ts))
        return jnp.concatenate([y0[None], ys])
    return np.asarray(jax.jit(jax.vmap(one))(y0))


@eqx.filter_value_and_grad
def grad_loss(model, ts, ys):
    pred = jax.vmap(model, in_axes=(None, 0))(ts, ys[:, 0])
    return jnp.mean((pred - ys) ** 2)


@eqx.filter_jit
def make_step(model, ts, ys, opt_state, optim):
    loss, grads = grad_loss(model, ts, ys)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def main(length=33, n=64, batch=16):
    ts = np.linspace(0.0, 4.0, length, dtype=np.float32)
    data_key, model_key = jr.split(jr.key(0))
    rng = np.random.default_rng(5)
    ys = ground_truth(data_key, n, ts)
    model = Integrator(VectorField(model_key), method=rk4)
    optim = optax.adabelief(3e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))

    for stage in stages():
        model = eqx.tree_at(lambda m: m.field.friction, model, stage.friction)
        upto = 1 + int((length - 1) * stage.fraction)
        _ts, _ys = ts[:upto], ys[:, :upto]
        for i in range(stage.steps):
            pick = rng.integers(0, n, batch)
            model, opt_state, loss = make_step(model, _ts, _ys[pick], opt_state, optim)
        print(f"frac {stage.fraction:.2f} friction {stage.friction:.2f} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
