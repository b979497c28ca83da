import haiku as hk
import jax
import jax.numpy as jnp

from features import AA, CROP


class PairBlock(hk.Module):
    def __init__(self, dim, name=None):
        super().__init__(name)
        self.dim = dim

    def __call__(self, pair, mask):
        gate = jax.nn.sigmoid(hk.Linear(self.dim, name="gate")(pair))
        a = hk.Linear(self.dim, name="left")(pair) * mask[None, :, None]
        b = hk.Linear(self.dim, name="right")(pair) * mask[None, :, None]
        tri = jnp.einsum("ikd,jkd->ijd", a, b) / CROP
        return pair + gate * hk.LayerNorm(-1, True, True, name="ln")(tri)


class Folder(hk.Module):
    def __init__(self, dim=12, name="folder"):
        super().__init__(name)
        self.dim = dim

    def embed(self, f):
        one = hk.Linear(self.dim, name="seq")(jax.nn.one_hot(f["aatype"], AA))
        rel = jnp.clip(jnp.arange(CROP)[:, None] - jnp.arange(CROP)[None], -8, 8) + 8
        pair = one[:, None] + one[None] + hk.Embed(17, self.dim, name="relpos")(rel)
        w = hk.get_parameter("template_w", (self.dim,), init=hk.initializers.Constant(0.05))
        if "template_dist" in f:
            pair = pair + f["template_dist"][..., None] * w
        return pair

    def __call__(self, f, n_recycle):
        base = self.embed(f)
        back = hk.Linear(self.dim, name="recycle")
        block = PairBlock(self.dim, name="trunk")
        head = hk.Linear(1, name="dist")
        prev = jnp.zeros((CROP, CROP, 1))
        for _ in range(n_recycle + 1):
            pair = block(base + back(prev), f["mask"])
            prev = jax.lax.stop_gradient(jax.nn.softplus(head(pair)))
        return jax.nn.softplus(head(pair))[..., 0] * 5.0


def pairwise(ca):
    return jnp.sqrt(jnp.square(ca[:, None] - ca[None]).sum(-1) + 1e-6)


def distance_loss(pred, f):
    m = f["mask"][:, None] * f["mask"][None]
    err = jnp.abs(pred - jnp.minimum(pairwise(f["ca"]), 20.0))
    return (err * m).sum() / m.sum()
