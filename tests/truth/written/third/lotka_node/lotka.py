import equinox as eqx, jax, jax.numpy as jnp, jax.random as jr, numpy as np, optax
from jaxtyping import Array, Float, PRNGKeyArray


# ---------------------------------------------------------------- ground truth
def simulate(n_traj, n_t, dt, seed=0):
    g = np.random.default_rng(seed)
    y = g.uniform(0.5, 2.0, (n_traj, 2))
    out = [y]
    for _ in range(n_t - 1):
        for _ in range(10):
            a, b = y.T
            y = y + dt / 10 * np.stack([1.1 * a - 0.6 * a * b, 0.4 * a * b - 0.9 * b], 1)
        out.append(y)
    return np.stack(out, 1).astype(np.float32)


# ---------------------------------------------------------------- model
class Field(eqx.Module):
    l1: eqx.nn.Linear
    l2: eqx.nn.Linear
    scale: float = 0.5

    def __init__(self, width, key: PRNGKeyArray):
        a, b = jr.split(key)
        self.l1 = eqx.nn.Linear(2, width, key=a)
        self.l2 = eqx.nn.Linear(width, 2, key=b)

    def __call__(self, y: Float[Array, "2"]):
        return self.scale * self.l2(jnp.tanh(self.l1(y)))


class Solver(eqx.Module):
    field: Field
    dt: float = 0.2

    def __call__(self, y0, n):
        def heun(y, _):
            k1 = self.field(y)
            k2 = self.field(y + self.dt * k1)
            y = y + 0.5 * self.dt * (k1 + k2)
            return y, y

        return jax.lax.scan(heun, y0, None, length=n - 1)[1]


def fit_loss(solver, ys):
    pred = jax.vmap(lambda y0: solver(y0, ys.shape[1]))(ys[:, 0])
    return jnp.mean((pred - ys[:, 1:]) ** 2)


optim = optax.sgd(3e-2, momentum=0.9)


@eqx.filter_jit
def make_step(solver, state, ys, it, key):
    noise = jr.normal(jr.fold_in(key, it), ys[:, 0].shape)
    ys = ys.at[:, 0].add(0.02 * noise)
    loss, grads = eqx.filter_value_and_grad(fit_loss)(solver, ys)
    upd, state = optim.update(grads, state, eqx.filter(solver, eqx.is_inexact_array))
    return loss, eqx.apply_updates(solver, upd), state


class Trainer:
    def __init__(self, solver, key):
        self.solver, self.key = solver, key
        self.state = optim.init(eqx.filter(solver, eqx.is_inexact_array))
        self.it = 0
        self.best = (np.inf, None)

    def advance(self, ys):
        loss, self.solver, self.state = make_step(self.solver, self.state, ys, self.it, self.key)
        self.it += 1
        if self.it % 5 == 0 and (l := float(loss)) < self.best[0]:
            self.best = (l, self.it)
        return loss

    def __iter__(self):
        while True:
            yield self.advance


def main():
    data = simulate(24, 12, 0.2)
    tr = Trainer(Solver(Field(16, jr.PRNGKey(0))), jr.PRNGKey(1))
    g = np.random.default_rng(0)
    for _, advance in zip(range(11), tr):
        advance(data[g.choice(24, 8, replace=False)])
    print("best %.4f at %s" % tr.best)


main()
