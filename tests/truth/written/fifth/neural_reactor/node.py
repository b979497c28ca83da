import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from curriculum import Curriculum
from reactor import SPECIES, Experiments


class RateField(eqx.Module):
    mlp: eqx.nn.MLP
    gain: jax.Array

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(SPECIES, SPECIES, 16, 2, activation=jnp.tanh, key=key)
        self.gain = jnp.array(0.5)

    def __call__(self, c):
        return self.gain * self.mlp(c)


class NeuralReactor(eqx.Module):
    field: RateField
    substeps: int = eqx.field(static=True)

    def __call__(self, times, c0):
        def interval(c, dt):
            h = dt / self.substeps

            def midpoint(c, _):
                return c + h * self.field(c + 0.5 * h * self.field(c)), None

            c, _ = jax.lax.scan(midpoint, c, None, length=self.substeps)
            return c, c

        _, tail = jax.lax.scan(interval, c0, jnp.diff(times))
        return jnp.concatenate([c0[None], tail])


def fit_loss(model, times, curves, penalty):
    pred = jax.vmap(model, (None, 0))(times, curves[:, 0])
    valid = (times >= 0).astype(pred.dtype)
    err = jnp.sum((pred - curves) ** 2 * valid[:, None]) / jnp.sum(valid)
    return err + penalty * jnp.mean((pred.sum(-1) - 1.0) ** 2 * valid)


@eqx.filter_jit
def refine(model, opt_state, times, curves, penalty, tx):
    loss, grads = eqx.filter_value_and_grad(fit_loss)(model, times, curves, penalty)
    updates, opt_state = tx.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state, loss


def penalty_for(stage, in_stage):
    """Ramp the conservation term inside a stage, three steps at a time."""
    return stage.stiffness * (1 + in_stage // 3)


def main():
    data = Experiments()
    plan = Curriculum(len(data.times))
    model = NeuralReactor(RateField(jax.random.PRNGKey(1)), substeps=2)
    tx = optax.adabelief(5e-3)
    opt_state = tx.init(eqx.filter(model, eqx.is_inexact_array))
    history = []
    for i, (number, stage) in enumerate(plan):
        times, curves = plan.crop(stage, data.times, data.draw(8))
        penalty = penalty_for(stage, i % stage.steps)
        model, opt_state, loss = refine(model, opt_state, times, curves, penalty, tx)
        history.append((number, loss))
    for number, loss in history[5::6]:
        print(f"stage {number} loss {float(loss):.5f}")


if __name__ == "__main__":
    main()
