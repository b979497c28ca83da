import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class MLP(nn.Module):
    sizes: tuple

    @nn.compact
    def __call__(self, x):
        for s in self.sizes[:-1]:
            x = nn.swish(nn.Dense(s)(x))
        return nn.LayerNorm()(nn.Dense(self.sizes[-1])(x))


class Processor(nn.Module):
    width: int

    @nn.compact
    def __call__(self, h, e, senders, receivers):
        m = MLP((self.width, self.width))(jnp.concatenate([h[senders], h[receivers], e], -1))
        agg = jax.ops.segment_sum(m, receivers, num_segments=h.shape[0])
        return h + MLP((self.width,))(jnp.concatenate([h, agg], -1)), e + m


class MeshCast(nn.Module):
    width: int = 16
    layers: int = 1

    @nn.compact
    def __call__(self, x, solar, edges, senders, receivers):
        h = MLP((self.width,))(jnp.concatenate([x, solar], -1))
        e = MLP((self.width,))(edges)
        for _ in range(self.layers):
            h, e = Processor(self.width)(h, e, senders, receivers)
        return x + nn.Dense(x.shape[-1])(h)


def knn_graph(pos, k=4):
    d = np.square(pos[:, None] - pos[None]).sum(-1)
    order = np.argsort(d, 1)[:, 1 : k + 1]
    recv = np.repeat(np.arange(len(pos)), k)
    send = order.reshape(-1)
    return (pos[send] - pos[recv]).astype(np.float32), send.astype(np.int32), recv.astype(np.int32)
