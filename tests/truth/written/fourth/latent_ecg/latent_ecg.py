# %% [markdown]
# Beta-VAE on synthetic heart beats (notebook export)

# %%
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

N_BEATS, T, Z = 150, 32, 3
EPOCHS, BATCH = 5, 32
WARM = 3

# %%
def beats(n, key):
    k1, k2, k3 = jr.split(key, 3)
    t = jnp.linspace(0, 1, T)
    centre = 0.4 + 0.2 * jr.uniform(k1, (n, 1))
    amp = 1 + 0.3 * jr.normal(k2, (n, 1))
    return amp * jnp.exp(-((t - centre) ** 2) / 0.004) + 0.05 * jr.normal(k3, (n, T))

X = np.asarray(beats(N_BEATS, jr.key(1)))

# %%
class Coder(eqx.Module):
    enc: eqx.nn.MLP
    dec: eqx.nn.MLP

    def __init__(self, key):
        a, b = jr.split(key)
        self.enc = eqx.nn.MLP(T, 2 * Z, 24, 1, key=a)
        self.dec = eqx.nn.MLP(Z, T, 24, 1, key=b)

    def __call__(self, x, key):
        mu, logvar = jnp.split(self.enc(x), 2)
        z = mu + jnp.exp(0.5 * logvar) * jr.normal(key, (Z,))
        kl = -0.5 * jnp.sum(1 + logvar - mu**2 - jnp.exp(logvar))
        return self.dec(z), kl

# %%
opt = optax.adam(3e-3)

def elbo(model, x, key, beta):
    rec, kl = jax.vmap(model)(x, jr.split(key, len(x)))
    return jnp.mean(jnp.sum((rec - x) ** 2, -1) + beta * kl)

@eqx.filter_jit
def fit_batch(model, state, x, key, beta):
    loss, g = eqx.filter_value_and_grad(elbo)(model, x, key, beta)
    up, state = opt.update(g, state, model)
    return eqx.apply_updates(model, up), state, loss

# %%
def epoch_slices(order):
    return [order[i:i + BATCH] for i in range(0, len(order), BATCH)]

def annealed(epoch):
    return min(1.0, (epoch + 1) / WARM) * 0.2

# %%
model = Coder(jr.key(0))
state = opt.init(eqx.filter(model, eqx.is_array))
rng = np.random.default_rng(2)
key = jr.key(9)
curve = []
for epoch in range(EPOCHS):
    beta = annealed(epoch)
    for idx in epoch_slices(rng.permutation(N_BEATS)):
        key, sub = jr.split(key)
        model, state, loss = fit_batch(model, state, X[idx], sub, beta)
        curve.append(loss)

# %%
print("elbo", [round(float(c), 2) for c in curve[::5]])
