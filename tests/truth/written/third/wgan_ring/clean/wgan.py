"""WGAN-GP on a ring of Gaussians (haiku)."""
import dataclasses
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Conf:
    batch: int = 48
    z: int = 4
    gp: float = 2.0
    iters: int = 26
    preview: int = 8
    seed: int = 13


def ring(n, seed):
    g = np.random.default_rng(seed)
    a = 2 * np.pi * g.integers(0, 8, n) / 8
    return (2 * np.c_[np.cos(a), np.sin(a)] + 0.1 * g.normal(size=(n, 2))).astype(np.float32)


gen = hk.without_apply_rng(hk.transform(lambda z: hk.nets.MLP([24, 24, 2])(z)))
critic = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([24, 24, 1])(x)[..., 0]))


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Player:
    params: Any
    opt: Any


C = Conf()
ADAM = optax.adam(3e-3, b1=0.5)


def critic_loss(wp, fake, real, mix):
    x = mix * real + (1 - mix) * fake
    slope = jax.vmap(jax.grad(lambda v: critic.apply(wp, v)))(x)
    pen = jnp.square(jnp.sqrt(jnp.sum(slope ** 2, -1) + 1e-8) - 1).mean()
    return critic.apply(wp, fake).mean() - critic.apply(wp, real).mean() + C.gp * pen


@jax.jit
def critic_phase(w: Player, g: Player, data, key, inner):
    keys = jax.random.split(key, 4)

    def one(i, carry):
        w, _ = carry
        k1, k2, k3 = jax.random.split(keys[i], 3)
        fake = gen.apply(g.params, jax.random.normal(k1, (C.batch, C.z)))
        real = data[jax.random.randint(k2, (C.batch,), 0, data.shape[0])]
        mix = jax.random.uniform(k3, (C.batch, 1))
        loss, grads = jax.value_and_grad(critic_loss)(w.params, fake, real, mix)
        up, opt = ADAM.update(grads, w.opt)
        return Player(optax.apply_updates(w.params, up), opt), loss

    return jax.lax.fori_loop(0, inner, one, (w, jnp.float32(0)))


@jax.jit
def gen_phase(g: Player, w: Player, key):
    z = jax.random.normal(key, (C.batch, C.z))
    grads = jax.grad(lambda p: -critic.apply(w.params, gen.apply(p, z)).mean())(g.params)
    up, opt = ADAM.update(grads, g.opt)
    return Player(optax.apply_updates(g.params, up), opt)


def coverage(params, z, centres):
    x = gen.apply(params, z)
    d = jnp.linalg.norm(x[:, None] - centres, axis=-1)
    return (d.min(0) < 0.5).mean(), jnp.minimum(d.min(1), 3.0).mean()


measure = jax.jit(coverage, compiler_options={"xla_cpu_enable_fast_min_max": False})


def inner_steps(it):
    # give the critic a head start, and let it catch up now and then
    if it < 2:
        return 3
    return 2 if it % 10 == 0 else 1


def main():
    keys = np.asarray(jax.random.split(jax.random.PRNGKey(C.seed), 2 * C.iters + 2))
    init = jax.jit(lambda k: Player(p := gen.init(k, jnp.zeros((1, C.z))), ADAM.init(p)))
    inic = jax.jit(lambda k: Player(p := critic.init(k, jnp.zeros((1, 2))), ADAM.init(p)))
    g, w = init(keys[-1]), inic(keys[-2])
    data = jax.device_put(ring(512, 0))
    a = 2 * np.pi * np.arange(8) / 8
    centres = (2 * np.c_[np.cos(a), np.sin(a)]).astype(np.float32)
    z = np.random.default_rng(5).normal(size=(256, C.z)).astype(np.float32)
    seen = []
    for it in range(C.iters):
        w, loss = critic_phase(w, g, data, keys[2 * it], inner_steps(it))
        g = gen_phase(g, w, keys[2 * it + 1])
        if it % C.preview == 0:
            seen.append([float(v) for v in measure(g.params, z, centres)])
    print("critic %.3f  modes %.2f  distance %.2f -> %.2f" % (loss, seen[-1][0], seen[0][1], seen[-1][1]))


if __name__ == "__main__":
    main()
