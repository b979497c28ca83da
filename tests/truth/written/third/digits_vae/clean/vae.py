"""VAE on 8x8 glyphs.  Survives pre-emption: state goes to a host snapshot and comes back."""
import contextlib
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class VAE(eqx.Module):
    enc: eqx.nn.MLP
    dec: eqx.nn.MLP
    latent: int = eqx.field(static=True)

    def __init__(self, latent, *, key):
        a, b = jax.random.split(key)
        self.enc = eqx.nn.MLP(64, 2 * latent, 32, 1, key=a)
        self.dec = eqx.nn.MLP(latent, 64, 32, 1, key=b)
        self.latent = latent

    def __call__(self, x, eps):
        mu, logvar = jnp.split(self.enc(x), 2)
        z = mu + jnp.exp(0.5 * logvar) * eps
        kl = 0.5 * jnp.sum(jnp.exp(logvar) + mu ** 2 - 1 - logvar)
        return self.dec(z), kl


def glyphs(g, n):
    k = g.integers(0, 4, n)
    base = np.zeros((4, 8, 8), np.float32)
    base[0, 2:6, 3] = base[1, 3, 2:6] = 1
    base[2] = np.eye(8)
    base[3, 1:7, 1:7] = 1
    return np.clip(base[k] + 0.1 * g.normal(size=(n, 8, 8)), 0, 1).reshape(n, 64).astype(np.float32)


tx = optax.adamw(4e-3)


@eqx.filter_jit
def train_step(model, state, x, eps):
    def elbo(m):
        rec, kl = jax.vmap(m)(x, eps)
        nll = optax.sigmoid_binary_cross_entropy(rec, x).sum(-1)
        return (nll + 0.3 * kl).mean()

    loss, grads = eqx.filter_value_and_grad(elbo)(model)
    up, state = tx.update(grads, state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, up), state, loss


class Checkpointer:
    def __init__(self, every):
        self.every, self.blob = every, None

    def maybe_save(self, i, tree):
        if i % self.every == 0:
            arrays, rest = eqx.partition(tree, eqx.is_array)
            self.blob = (i, jax.tree.map(np.asarray, arrays), rest)

    def restore(self):
        i, arrays, rest = self.blob
        return i, eqx.combine(jax.device_put(arrays), rest)


@contextlib.contextmanager
def stopwatch(book, name):
    t = time.perf_counter()
    yield
    book.setdefault(name, []).append(time.perf_counter() - t)


def report(i, model, loss):
    ws = [w for w in jax.tree.leaves(eqx.filter(model, eqx.is_array)) if w.ndim == 2]
    big = max(float(np.abs(np.asarray(w)).max()) for w in ws)
    return f"{i:3d} {loss.item():7.3f} |w|max {big:.2f}"


def main(steps=40, preempt_at=25):
    g = np.random.default_rng(0)
    model = VAE(3, key=jax.random.PRNGKey(0))
    state = tx.init(eqx.filter(model, eqx.is_array))
    ck, book, lines = Checkpointer(every=8), {}, []
    i = 0
    while i < steps:
        x, eps = glyphs(g, 32), g.normal(size=(32, 3)).astype(np.float32)
        with stopwatch(book, "step"):
            model, state, loss = train_step(model, state, x, eps)
        ck.maybe_save(i, (model, state))
        i += 1
        if i == preempt_at:
            i, (model, state) = ck.restore()
            preempt_at = None
        if i % 10 == 0:
            lines.append(report(i, model, loss))
    print(lines[0], "|", lines[-1], "| restored once, %d steps timed" % len(book["step"]))


if __name__ == "__main__":
    main()
