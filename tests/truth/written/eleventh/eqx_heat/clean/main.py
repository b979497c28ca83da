import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from problem import Field, HeatProblem
from sampling import Cloud, boundary

STEPS, REFINE_AT, BALANCE_EVERY = 30, (12, 21), 8

optim = optax.adam(2e-3)


@eqx.filter_jit
def descend(net, opt_state, problem, interior, edge, edge_value):
    (loss, parts), grads = eqx.filter_value_and_grad(
        lambda n: problem.objective(n, interior, edge, edge_value), has_aux=True
    )(net)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(net, updates), opt_state, loss, parts


@eqx.filter_jit
def residual_map(net, kappa, points):
    ref = HeatProblem(kappa, 0.0)
    return jax.vmap(lambda p: ref.residual(net, p))(points)


class Balancer:
    def __init__(self, smooth=0.7):
        self.smooth = smooth
        self.trace = []

    def observe(self, parts):
        self.trace.append([float(p) for p in parts])

    def suggest(self, current):
        inner, outer = np.mean(self.trace[-4:], axis=0)
        target = float(np.clip(inner / (outer + 1e-6), 0.5, 20.0))
        return self.smooth * current + (1 - self.smooth) * target


def rebalance(problem, balancer):
    w = balancer.suggest(float(problem.edge_weight))
    return eqx.tree_at(lambda p: p.edge_weight, problem, jnp.float32(w))


def main():
    rng = np.random.default_rng(3)
    net = Field(jax.random.key(1))
    opt_state = optim.init(eqx.filter(net, eqx.is_array))
    problem = HeatProblem(diffusivity=0.1, edge_weight=jnp.float32(1.0))
    cloud, balancer = Cloud(96, rng), Balancer()
    for step in range(STEPS):
        edge, value = boundary(32, rng)
        net, opt_state, loss, parts = descend(net, opt_state, problem, cloud.points, edge, value)
        balancer.observe(parts)
        if step in REFINE_AT:
            cand = cloud.candidates()
            cloud.refine(cand, np.abs(np.asarray(residual_map(net, problem.diffusivity, cand))))
        if step and step % BALANCE_EVERY == 0:
            problem = rebalance(problem, balancer)
        if step % 5 == 0:
            print(step, f"loss={float(loss):.4f} pde={float(parts[0]):.4f} edge={float(parts[1]):.4f}")
    probe = np.asarray(residual_map(net, problem.diffusivity, cloud.candidates()))
    print("mean |r|", round(float(np.abs(probe).mean()), 4))


main()
