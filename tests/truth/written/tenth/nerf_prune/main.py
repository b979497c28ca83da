import jax
import jax.numpy as jnp
import numpy as np
import optax

import field as F
import scene as S

STEP = (S.FAR - S.NEAR) / S.SAMPLES
tx = optax.adam(1e-2)


def composite(sigma, rgb):
    alpha = 1.0 - jnp.exp(-sigma * STEP)
    trans = jnp.cumprod(1.0 - alpha + 1e-7, -1)
    w = alpha * jnp.concatenate([jnp.ones_like(trans[:, :1]), trans[:, :-1]], -1)
    return (w[..., None] * rgb).sum(1) + (1.0 - w.sum(1))[:, None]


@jax.jit
def train_step(field, opt_state, pts, ray_id, slot, target):
    def loss_fn(weights):
        sigma, rgb = F.Field(weights, field.encoding)(pts)
        n = target.shape[0]
        dense_sigma = jnp.zeros((n, S.SAMPLES)).at[ray_id, slot].add(sigma, mode="drop")
        dense_rgb = jnp.zeros((n, S.SAMPLES, 3)).at[ray_id, slot].add(rgb, mode="drop")
        return jnp.square(composite(dense_sigma, dense_rgb) - target).mean()

    loss, grads = jax.value_and_grad(loss_fn)(field.weights)
    upd, opt_state = tx.update(grads, opt_state)
    return F.Field(optax.apply_updates(field.weights, upd), field.encoding), opt_state, loss


@jax.jit
def density(field, pts):
    return field(pts)[0]


@jax.jit
def render_chunk(field, pts):
    return composite(*field(pts))


def render_image(field, side, chunk=96):
    o, d = S.rays(side)
    tiles = []
    for i in range(0, len(o), chunk):
        tiles.append(np.asarray(render_chunk(field, S.along(o[i : i + chunk], d[i : i + chunk]))))
    return np.concatenate(tiles).reshape(side, side, 3)


def fit(iters=15, n_rays=48, widen_at=(4, 8), grid_from=11):
    rng = np.random.default_rng(0)
    o, d = S.rays(24)
    colours = S.ground_truth(o, d)
    grid = S.OccupancyGrid()
    field = F.create(jax.random.PRNGKey(0))
    opt_state = tx.init(field.weights)
    for it in range(iters):
        if it in widen_at:
            field.encoding = field.encoding.widen()
        if it >= grid_from and it % 4 == 3:
            grid.refresh(density(field, grid.cells()))
        pick = rng.choice(len(o), n_rays, replace=False)
        pts = S.along(o[pick], d[pick])
        ray_id, slot = np.nonzero(grid.lookup(pts))
        field, opt_state, loss = train_step(field, opt_state, pts[ray_id, slot], ray_id, slot, colours[pick])
        if it % 5 == 4:
            print(f"it {it + 1:2d} loss {float(loss):.4f} live {grid.live.mean():.2f}")
    return field


if __name__ == "__main__":
    img = render_image(fit(), side=20)
    o, d = S.rays(20)
    ref = S.ground_truth(o, d).reshape(20, 20, 3)
    print("psnr", round(float(-10 * np.log10(np.square(img - ref).mean())), 2))
