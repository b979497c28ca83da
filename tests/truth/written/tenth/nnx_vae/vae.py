import jax
import jax.numpy as jnp
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, din, hidden, latent, *, rngs):
        self.lin = nnx.Linear(din, hidden, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.mu = nnx.Linear(hidden, latent, rngs=rngs)
        self.logvar = nnx.Linear(hidden, latent, rngs=rngs)

    def __call__(self, x):
        h = self.drop(nnx.gelu(self.lin(x)))
        return self.mu(h), self.logvar(h)


class Decoder(nnx.Module):
    def __init__(self, latent, hidden, dout, *, rngs):
        self.lin = nnx.Linear(latent, hidden, rngs=rngs)
        self.out = nnx.Linear(hidden, dout, rngs=rngs)

    def __call__(self, z):
        return self.out(nnx.gelu(self.lin(z)))


class VAE(nnx.Module):
    def __init__(self, din=36, hidden=32, latent=4, *, rngs):
        self.encoder = Encoder(din, hidden, latent, rngs=rngs)
        self.decoder = Decoder(latent, hidden, din, rngs=rngs)
        self.rngs = rngs
        self.kl_weight = 0.0

    def __call__(self, x):
        mu, logvar = self.encoder(x)
        z = mu + jnp.exp(0.5 * logvar) * jax.random.normal(self.rngs.noise(), mu.shape)
        return self.decoder(z), mu, logvar

    def objective(self, x):
        recon, mu, logvar = self(x)
        rec = jnp.square(recon - x).sum(-1).mean()
        kl = 0.5 * (jnp.square(mu) + jnp.exp(logvar) - 1.0 - logvar).sum(-1).mean()
        return rec + self.kl_weight * kl, {"rec": rec, "kl": kl}
