import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

tx = optax.adamw(3e-3)


class PromoterNet(nn.Module):
    filters: int = 12

    @nn.compact
    def __call__(self, seq, train: bool):
        h = nn.Conv(self.filters, (7,), use_bias=False)(seq)
        h = nn.BatchNorm(use_running_average=not train, momentum=0.9)(h)
        h = nn.relu(h)
        self.sow("intermediates", "motif", h)
        h = nn.Dense(16)(h.max(axis=1))
        return nn.Dense(1)(nn.relu(h))[:, 0]


net = PromoterNet()


@jax.jit
def fit_batch(variables, opt, batch):
    cols = ["batch_stats", "intermediates"]

    def loss_fn(params):
        logit, new = net.apply({**variables, "params": params}, batch["seq"], True, mutable=cols)
        each = optax.sigmoid_binary_cross_entropy(logit, batch["y"])
        return jnp.sum(each * batch["real"]) / batch["real"].sum(), new

    (loss, new), g = jax.value_and_grad(loss_fn, has_aux=True)(variables["params"])
    up, opt = tx.update(g, opt, variables["params"])
    params = optax.apply_updates(variables["params"], up)
    return {"params": params, "batch_stats": new.pop("batch_stats")}, opt, loss, new


@jax.jit
def accuracy(variables, seq, y):
    logit = net.apply(variables, seq, False)
    return jnp.mean((logit > 0) == (y == 1))


class Trainer:
    def __init__(self, sample):
        self.variables = {k: v for k, v in net.init(jax.random.key(0), sample, True).items() if k != "intermediates"}
        self.opt = tx.init(self.variables["params"])
        self.hooks, self.step = [], 0

    def feed(self, batch):
        probe = any(h.wants(self) for h in self.hooks)
        self.variables, self.opt, loss, extras = fit_batch(self.variables, self.opt, batch)
        for h in self.hooks:
            h.after(self, float(loss), extras if probe else {})
        self.step += 1
