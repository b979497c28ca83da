import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state

import dicom

BATCH = 8
LEVEL = -400.0
WIDTH = 800.0


class Residual(nn.Module):
    features: int = 8

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Conv(self.features, (3, 3))(x))
        h = nn.relu(nn.Conv(self.features, (3, 3))(h))
        return x - nn.Conv(1, (3, 3))(h)


def window(raw, slope, intercept):
    hu = raw.astype(jnp.float32) * slope + intercept
    return jnp.clip((hu - LEVEL) / WIDTH, -1.0, 1.0)[..., None]


@jax.jit
def denoise_step(state, raw, slope, intercept, key):
    clean = window(raw, slope, intercept)
    noisy = clean + 0.1 * jax.random.normal(key, clean.shape)

    def objective(params):
        out = state.apply_fn({"params": params}, noisy)
        return jnp.mean((out - clean) ** 2)

    loss, grads = jax.value_and_grad(objective)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def psnr(params, image):
    out = Residual().apply({"params": params}, image)
    return -10.0 * jnp.log10(jnp.mean((out - image) ** 2))


model = Residual()
key = jax.random.PRNGKey(3)
variables = model.init(key, jnp.zeros((1, 24, 24, 1)))
lr = 4e-3
state = train_state.TrainState.create(apply_fn=model.apply, params=variables["params"], tx=optax.adam(lr))
phantom = np.zeros((1, 24, 24, 1), np.float32)
phantom[:, 6:18, 6:18] = 0.5
print("psnr at start %.2f" % psnr(state.params, phantom))

best = np.inf
bad = 0
n = 0
for sweep in range(3):
    sweep_loss = []
    for pid in dicom.patients():
        hdr = dicom.read_header(pid)
        pixels = dicom.read_pixels(hdr)
        slope = np.float32(hdr["RescaleSlope"])
        intercept = np.float32(hdr["RescaleIntercept"])
        for a in range(0, len(pixels), BATCH):
            raw = pixels[a:a + BATCH]
            state, loss = denoise_step(state, raw, slope, intercept, jax.random.fold_in(key, n))
            sweep_loss.append(float(loss))
            n += 1
    mean = float(np.mean(sweep_loss))
    if mean > 0.9 * best:
        bad += 1
    best = min(best, mean)
    print("sweep %d: %d updates, loss %.5f, psnr %.2f, bad %d" % (sweep, n, mean, psnr(state.params, phantom), bad))
    if sweep >= 1:
        lr = lr * 0.5
        state = state.replace(tx=optax.adam(lr))
