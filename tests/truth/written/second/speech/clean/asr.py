import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

from collate import Speech


def model(x, is_training):
    h = hk.Linear(16)(x[..., None])
    h = jax.nn.relu(h)
    if is_training:
        h = hk.dropout(hk.next_rng_key(), 0.2, h)
    return hk.Linear(3)(h).mean(1)


net = hk.transform(model)


def forward(params, rng, x, is_training):
    return net.apply(params, rng, x, is_training)


forward = jax.jit(forward, static_argnums=3)


@jax.jit
def train(params, rng, x):
    loss = lambda p: jnp.square(net.apply(p, rng, x, True)).mean()
    return jax.tree.map(lambda p, g: p - 1e-2 * g, params, jax.grad(loss)(params))


def main():
    keys = hk.PRNGSequence(4)
    probe = np.ones((2, 32), np.float32)
    params = net.init(next(keys), probe, True)
    forward(params, next(keys), probe, True)
    forward(params, next(keys), probe, False)
    for i, x in enumerate(Speech(14, "longest")):
        params = train(params, next(keys), x)
        if i == 9:
            out = forward(params, next(keys), probe, False)
    print(out.shape)


main()
