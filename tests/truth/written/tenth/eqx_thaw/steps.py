import equinox as eqx
import jax
import jax.numpy as jnp
import optax

OPT = optax.adam(3e-3)


class Meter(eqx.Module):
    total: jax.Array
    batches: int = 0

    @property
    def mean(self):
        return float(self.total) / max(self.batches, 1)


def nll(trainable, frozen, batch):
    model = eqx.combine(trainable, frozen)
    logits = jax.vmap(model)(batch["tokens"], batch["valid"])
    ce = optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"])
    return (ce * batch["valid"]).sum() / batch["valid"].sum()


@eqx.filter_jit
def micro_step(trainable, frozen, acc, batch):
    loss, grads = eqx.filter_value_and_grad(nll)(trainable, frozen, batch)
    if acc is None:
        return grads, loss
    return jax.tree.map(jnp.add, acc, grads), loss


@eqx.filter_jit
def record(meter, loss):
    n = meter.batches + 1
    return Meter(meter.total + loss, n), (meter.total + loss) / n


@eqx.filter_jit
def apply_update(trainable, opt_state, acc, scale):
    grads = jax.tree.map(lambda g: g * scale, acc)
    updates, opt_state = OPT.update(grads, opt_state, trainable)
    return eqx.apply_updates(trainable, updates), opt_state
