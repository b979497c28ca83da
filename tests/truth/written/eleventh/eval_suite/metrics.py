import jax
import jax.numpy as jnp

REGISTRY = {}


def metric(name):
    def add(factory):
        REGISTRY[name] = factory
        return factory

    return add


@jax.jit
def token_nll(logits, labels):
    logp = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(logp, labels[:, None], 1).mean()


@jax.jit
def top1_rate(logits, labels):
    return jnp.mean(logits.argmax(-1) == labels)


@metric("nll")
def _nll(cfg):
    return token_nll


@metric("top1")
def _top1(cfg):
    return top1_rate


@metric("ece")
def _ece(cfg):
    bins = cfg.get("bins", 8)

    def calibration(logits, labels):
        p = jax.nn.softmax(logits)
        conf, hit = p.max(-1), p.argmax(-1) == labels
        slot = jax.nn.one_hot(jnp.clip((conf * bins).astype(jnp.int32), 0, bins - 1), bins)
        gap = jnp.abs(slot.T @ conf - slot.T @ hit.astype(jnp.float32))
        return gap.sum() / conf.shape[0]

    return jax.jit(calibration)


def resolve(names, cfg):
    return {n: REGISTRY[n](cfg) for n in names}
