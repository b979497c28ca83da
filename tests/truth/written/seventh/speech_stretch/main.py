import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax

from corpus import Corpus, Loader
from features import BINS


def init_params(key, hidden, n_classes):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "conv": jax.random.normal(k1, (5, BINS, hidden)) * 0.05,
        "gate": jax.random.normal(k2, (hidden, hidden)) * 0.05,
        "out": jax.random.normal(k3, (hidden, n_classes)) * 0.1,
    }


def logits_fn(params, feats):
    h = jax.lax.conv_general_dilated(
        feats, params["conv"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    h = jax.nn.gelu(h)
    h = h * jax.nn.sigmoid(h @ params["gate"])
    return h.mean(axis=1) @ params["out"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=8)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    corpus = Corpus()
    schedule = optax.cosine_decay_schedule(args.lr, args.epochs * len(corpus) // args.batch_size)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))
    params = init_params(jax.random.PRNGKey(0), 32, corpus.n_classes)
    opt_state = tx.init(params)

    def loss_fn(params, feats, labels):
        ll = optax.softmax_cross_entropy_with_integer_labels(logits_fn(params, feats), labels)
        return ll.mean()

    @jax.jit
    def train_step(params, opt_state, feats, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, feats, labels)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    @jax.jit
    def accuracy(params, feats, labels):
        return (logits_fn(params, feats).argmax(-1) == labels).mean()

    loader = Loader(corpus, args.batch_size)
    held = next(iter(Loader(Corpus(n=16, seed=7), 16, augment=False)))

    for epoch in range(args.epochs):
        losses = []
        for feats, labels in loader:
            params, opt_state, loss = train_step(params, opt_state, feats, labels)
            losses.append(loss)
        acc = accuracy(params, *held)
        print(f"epoch {epoch} loss {np.mean([float(l) for l in losses]):.4f} "
              f"acc {float(acc):.3f} served {loader.served}")


if __name__ == "__main__":
    main()
