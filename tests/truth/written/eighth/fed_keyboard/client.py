import abc

import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB = 20


@jax.tree_util.register_pytree_node_class
class Replica:
    """Weights held by a phone, and the round in which the server last heard of it."""

    def __init__(self, weights, trace, heard):
        self.weights, self.trace, self.heard = weights, trace, heard

    def tree_flatten(self):
        return (self.weights, self.trace), self.heard

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


def loss_fn(w, prev, nxt):
    logits = jnp.tanh(w["emb"][prev]) @ w["out"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, nxt).mean()


@jax.jit
def local_update(replica, prev, nxt, lr):
    loss, g = jax.value_and_grad(loss_fn)(replica.weights, prev, nxt)
    trace = jax.tree.map(lambda t, x: 0.9 * t + x, replica.trace, g)
    weights = jax.tree.map(lambda w, t: w - lr * t, replica.weights, trace)
    return Replica(weights, trace, replica.heard), loss


class Participant(abc.ABC):
    def __init__(self, ident, phrases):
        self.ident, self.phrases = ident, phrases

    @abc.abstractmethod
    def batches(self):
        ...

    def train(self, weights, rnd):
        zero = jax.tree.map(np.zeros_like, weights)
        replica = Replica(weights, zero, rnd)
        for prev, nxt in self.batches():
            replica, loss = local_update(replica, prev, nxt, np.float32(0.3))
        return jax.device_get(replica.weights), float(loss)


class Phone(Participant):
    size = 16

    def batches(self):
        whole = len(self.phrases) // self.size * self.size
        for i in range(0, whole, self.size):
            part = self.phrases[i:i + self.size]
            yield part[:, 0], part[:, 1]


class Tablet(Phone):
    def batches(self):
        yield from list(super().batches())[:1]
