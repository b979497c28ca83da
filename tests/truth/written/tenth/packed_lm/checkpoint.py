import io

import jax
import jax.numpy as jnp
import numpy as np


class Checkpointer:
    def __init__(self):
        self.blobs = {}

    def save(self, step, state):
        leaves, self.treedef = jax.tree.flatten(state)
        buf = io.BytesIO()
        np.savez(buf, *[np.asarray(x) for x in leaves])
        self.blobs[step] = buf.getvalue()

    def latest(self):
        return max(self.blobs)

    def restore(self, step):
        with np.load(io.BytesIO(self.blobs[step])) as z:
            leaves = [jnp.asarray(z[k]) for k in z.files]
        return jax.tree.unflatten(self.treedef, leaves)
