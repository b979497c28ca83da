import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from features import process, synth_protein
from network import Folder, distance_loss, pairwise

model = hk.without_apply_rng(hk.transform(lambda f, n: Folder()(f, n)))
tx = optax.adam(5e-3)


@jax.jit
def train_step(params, opt_state, feats, n_recycle):
    loss, grads = jax.value_and_grad(lambda p: distance_loss(model.apply(p, feats, n_recycle), feats))(params)
    upd, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, upd), opt_state, loss


@jax.jit
def predict(params, feats):
    return model.apply(params, feats, 1)


@jax.jit
def lddt(pred, ca, mask):
    true = jnp.minimum(pairwise(ca), 20.0)
    near = (true < 15.0) & ~jnp.eye(len(ca), dtype=bool) & (mask[:, None] * mask[None] > 0)
    ok = sum((jnp.abs(pred - true) < c).astype(jnp.float32) for c in (0.5, 1.0, 2.0, 4.0)) / 4
    return (ok * near).sum() / near.sum()


class Config(dict):
    __getattr__ = dict.__getitem__


cfg = Config(steps=16, max_recycle=2, seed=11, validate_every=4)


def validate(params, held_out):
    scores = []
    for protein, feats in held_out:
        pred = predict(params, feats)
        scores.append(float(lddt(pred, feats["ca"], feats["mask"])))
    return sum(scores) / len(scores)


def main():
    rng = np.random.default_rng(cfg.seed)
    recycle_rng = np.random.default_rng(cfg.seed + 1)
    held_out = []
    while len(held_out) < 3:
        p = synth_protein(rng)
        if p["hits"]:
            held_out.append((p, process(p, rng)))
    params = model.init(jax.random.PRNGKey(0), held_out[0][1], 0)
    opt_state = tx.init(params)
    for step in range(cfg.steps):
        feats = process(synth_protein(rng), rng)
        iters = int(recycle_rng.integers(0, cfg.max_recycle + 1))
        params, opt_state, loss = train_step(params, opt_state, feats, np.int32(iters))
        if step % cfg.validate_every == cfg.validate_every - 1:
            print(f"step {step + 1:2d} loss {float(loss):.3f} lddt {validate(params, held_out):.3f}")


if __name__ == "__main__":
    main()
