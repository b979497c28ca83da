from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def weights(plan, dim, seed=0):
    r = np.random.default_rng(seed)
    return {"gate": r.normal(size=(dim, plan.experts)).astype(np.float32) * 0.3,
            "up": r.normal(size=(plan.experts, dim, plan.width)).astype(np.float32) * 0.3,
            "down": r.normal(size=(plan.experts, plan.width, 1)).astype(np.float32) * 0.3}


def dispatch(probs, live, plan):
    choice = jnp.argmax(probs, -1)
    hot = jax.nn.one_hot(choice, plan.experts) * live[:, None]
    place = jnp.cumsum(hot, 0) * hot - 1
    keep = (place >= 0) & (place < plan.slots)
    return jax.nn.one_hot(jnp.where(keep, place, -1).astype(jnp.int32), plan.slots), hot


def layer(p, x, live, plan):
    probs = jax.nn.softmax(x @ p["gate"])
    route, hot = dispatch(probs, live, plan)
    inp = jnp.einsum("tes,td->esd", route, x)
    h = jnp.einsum("esw,ewo->eso", jax.nn.gelu(jnp.einsum("esd,edw->esw", inp, p["up"])), p["down"])
    out = jnp.einsum("tes,eso->to", route * probs[:, :, None], h)[:, 0]
    aux = plan.experts * jnp.sum(hot.mean(0) * probs.mean(0))
    return out, aux


@partial(jax.jit, static_argnames=("plan",))
def train(p, batch, lr, plan):
    def objective(p):
        out, aux = layer(p, batch.x, batch.live, plan)
        loss = jnp.sum(batch.live * (out - batch.y) ** 2) / batch.live.sum()
        loss = loss + plan.balance * aux
        return loss, aux

    (loss, aux), g = jax.value_and_grad(objective, has_aux=True)(p)
    return jax.tree.map(lambda a, b: a - lr * b, p, g), loss, aux
