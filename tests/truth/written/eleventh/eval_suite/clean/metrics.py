import functools

import jax
import jax.numpy as jnp

REGISTRY = {}


def metric(name):
    def add(factory):
        REGISTRY[name] = factory
        return factory

    return add


@jax.jit
def token_nll(logits, labels, keep):
    logp = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(logp, jnp.where(keep, labels, 0)[:, None], 1)[:, 0]
    return -(picked * keep).sum() / keep.sum()


@jax.jit
def top1_rate(logits, labels, keep):
    return ((logits.argmax(-1) == labels) * keep).sum() / keep.sum()


@metric("nll")
def _nll(cfg):
    return token_nll


@metric("top1")
def _top1(cfg):
    return top1_rate


@metric("ece")
def _ece(cfg):
    return calibration_with(cfg.get("bins", 8))


@functools.cache
def calibration_with(bins):
    def calibration(logits, labels, keep):
        p = jax.nn.softmax(logits)
        conf, hit = p.max(-1) * keep, (p.argmax(-1) == labels) * keep
        slot = jax.nn.one_hot(jnp.clip((conf * bins).astype(jnp.int32), 0, bins - 1), bins)
        gap = jnp.abs(slot.T @ conf - slot.T @ hit.astype(jnp.float32))
        return gap.sum() / keep.sum()

    return jax.jit(calibration)


def resolve(names, cfg):
    return {n: REGISTRY[n](cfg) for n in names}
