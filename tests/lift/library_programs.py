"""Small programs in the style of each library's own introduction: a model is trained, or sampled, anew
for each of several settings, and each setting is baked into the compiled step. Writes all results to
a file.

usage: library_programs.py LIBRARY FILE     SETTINGS in the environment is how many (6; 3 data sets of numpyro)"""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

SETTINGS = int(os.environ.get("SETTINGS", 6))
DATA_SETS = int(os.environ.get("SETTINGS", 3))
STEPS = 4
X = np.random.default_rng(0).standard_normal((32, 8)).astype(np.float32)
Y = (X @ np.arange(8, dtype=np.float32) > 0).astype(np.int32)


def with_optax():
    import optax

    for k in range(SETTINGS):
        optimizer = optax.chain(optax.clip_by_global_norm(1.0 + k / 2), optax.adamw(1e-2 / (k + 1)))
        params = {"w": jnp.zeros((8, 2)), "b": jnp.zeros(2)}
        state = optimizer.init(params)

        @jax.jit
        def step(params, state, x, y):
            def loss(p):
                logits = x @ p["w"] + p["b"]
                return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

            value, grads = jax.value_and_grad(loss)(params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, value

        for _ in range(STEPS):
            params, state, value = step(params, state, X, Y)
        yield params, state, value


def with_flax():
    import optax
    from flax import linen as nn
    from flax.training import train_state

    class Net(nn.Module):
        rate: float

        @nn.compact
        def __call__(self, x, training):
            x = nn.relu(nn.Dense(16)(x))
            x = nn.Dropout(self.rate, deterministic=not training)(x)
            return nn.Dense(2)(nn.LayerNorm()(x))

    for k in range(SETTINGS):
        net = Net(rate=0.1 + k / 20)
        params = net.init(jax.random.key(0), X, False)["params"]
        state = train_state.TrainState.create(apply_fn=net.apply, params=params,
                                              tx=optax.sgd(0.1 / (k + 1), momentum=0.9))

        @jax.jit
        def step(state, x, y, key):
            def loss(p):
                logits = state.apply_fn({"params": p}, x, True, rngs={"dropout": key})
                return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

            value, grads = jax.value_and_grad(loss)(state.params)
            return state.apply_gradients(grads=grads), value

        for i in range(STEPS):
            state, value = step(state, X, Y, jax.random.key(i))
        yield state.params, value


def with_nnx():
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first, self.second = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 2, rngs=rngs)

        def __call__(self, x):
            return self.second(nnx.gelu(self.first(x)))

    for k in range(SETTINGS):
        smoothing = 0.02 * k
        net = Net(nnx.Rngs(0))
        optimizer = nnx.Optimizer(net, optax.adam(1e-2), wrt=nnx.Param)

        @nnx.jit
        def step(net, optimizer, x, y):
            def loss(net):
                target = optax.smooth_labels(jax.nn.one_hot(y, 2), smoothing)
                return optax.softmax_cross_entropy(net(x), target).mean()

            value, grads = nnx.value_and_grad(loss)(net)
            optimizer.update(net, grads)
            return value

        for _ in range(STEPS):
            value = step(net, optimizer, X, Y)
        yield nnx.state(net), value


def with_equinox():
    import equinox as eqx
    import optax

    for k in range(SETTINGS):
        model = eqx.nn.MLP(8, 2, 16, 1, key=jax.random.key(0))
        optimizer = optax.adam(1e-2 / (k + 1))
        state = optimizer.init(eqx.filter(model, eqx.is_array))
        temperature = 1.0 + k / 4

        @eqx.filter_jit
        def step(model, state, x, y):
            def loss(m):
                logits = jax.vmap(m)(x) / temperature
                return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

            value, grads = eqx.filter_value_and_grad(loss)(model)
            updates, state = optimizer.update(grads, state, model)
            return eqx.apply_updates(model, updates), state, value

        for _ in range(STEPS):
            model, state, value = step(model, state, X, Y)
        yield eqx.filter(model, eqx.is_array), value


def with_haiku():
    import haiku as hk

    net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([16, 2])(x)))
    for k in range(SETTINGS):
        params = net.init(jax.random.PRNGKey(0), X)
        decay, rate = 1e-4 * (k + 1), 0.5 / (k + 1)

        def step(params, x, y):
            def loss(p):
                fit = -jnp.mean(jnp.sum(jax.nn.one_hot(y, 2) * jax.nn.log_softmax(net.apply(p, x)), -1))
                return fit + decay * sum(jnp.sum(w ** 2) for w in jax.tree.leaves(p))

            value, grads = jax.value_and_grad(loss)(params)
            return jax.tree.map(lambda w, g: w - rate * g, params, grads), value

        compiled = jax.jit(step)
        for _ in range(STEPS):
            params, value = compiled(params, X, Y)
        yield params, value


def with_numpyro():
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import MCMC, NUTS

    effects = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], np.float32)
    errors = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], np.float32)

    def schools(observed):
        mean = numpyro.sample("mean", dist.Normal(0, 5))
        spread = numpyro.sample("spread", dist.HalfCauchy(5))
        with numpyro.plate("school", 8):
            theta = numpyro.sample("theta", dist.Normal(mean, spread))
            numpyro.sample("observed", dist.Normal(theta, errors), obs=observed)

    for k in range(DATA_SETS):
        sampler = MCMC(NUTS(schools), num_warmup=20, num_samples=20, progress_bar=False)
        sampler.run(jax.random.PRNGKey(0), observed=effects + k)
        yield sampler.get_samples()


def main():
    library, path = sys.argv[1:]
    leaves = [leaf for result in globals()["with_" + library]() for leaf in jax.tree.leaves(result)]
    np.savez(path, **{str(i): np.asarray(leaf) for i, leaf in enumerate(leaves)})


if __name__ == "__main__":
    main()
