"""Row B: two models from one library, trained by one trainer; their programs have one name."""
import jax
import jax.numpy as jnp

from transforming import transform


def encoder(weights, key, x):
    if weights is None:
        return {"kernel": jax.random.normal(key, (x.shape[1], 5)), "gain": jnp.ones(5)}
    return jnp.tanh(x @ weights["kernel"]) * weights["gain"]


def critic(weights, key, x, action):
    if weights is None:
        return {"one": jax.random.normal(key, (x.shape[1], 9)),
                "two": jax.random.normal(key, (9, 1))}
    return jax.nn.relu(x @ weights["one"]) @ weights["two"] + action


class Trainer:
    def __init__(self, model, rate):
        self.init, apply = transform(model)
        self.apply = jax.jit(apply)
        self.update = jax.jit(lambda w, *a: jax.tree.map(
            lambda p, g: p - rate * g, w, jax.grad(lambda q: apply(q, *a).sum())(w)))


x = jnp.ones((7, 4))
for model, extra in ((encoder, ()), (critic, (jnp.zeros((7, 1)),))):
    trainer = Trainer(model, 0.01)
    weights = trainer.init(jax.random.key(1), x, *extra)
    for turn in range(8):
        weights = trainer.update(weights, x, *extra)
    print(trainer.apply(weights, x, *extra).shape)
