"""A layer of experts; each token goes to one of them."""
import functools
import math

import jax
import jax.numpy as jnp


def create(key, experts, width, hidden):
    keys = jax.random.split(key, 3)
    return {
        "gate": jax.random.normal(keys[0], (width, experts)) * 0.2,
        "in": jax.random.normal(keys[1], (experts, width, hidden)) * 0.2,
        "out": jax.random.normal(keys[2], (experts, hidden, width)) * 0.2,
    }


def room(tokens, experts, slack=1.25):
    return max(4, math.ceil(slack * tokens / experts))


def apply(params, x, used, slots):
    """Sends each used row of x to its expert, at most `slots` per expert."""
    experts = params["gate"].shape[1]
    chance = jax.nn.softmax(x @ params["gate"])
    expert = jnp.where(used, jnp.argmax(chance, -1), experts)
    chosen = jax.nn.one_hot(expert, experts)
    place = jnp.cumsum(chosen, 0) * chosen - 1
    dispatch = jax.nn.one_hot(place.astype(jnp.int32), slots) * chosen[..., None]
    queue = jnp.einsum("tes,tw->esw", dispatch, x)
    done = jnp.einsum("ehw,esh->esw", params["out"], jax.nn.relu(jnp.einsum("ewh,esw->esh", params["in"], queue)))
    weight = jnp.max(chance, -1, keepdims=True)
    return x + weight * jnp.einsum("tes,esw->tw", dispatch, done)
