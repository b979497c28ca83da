import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np

from markets import all_markets
from sampler import StepTuner, propose


def sample_market(frame, key, warmup=12, draws=10):
    q = {"base": jnp.zeros(()), "lift": jnp.full(frame["spend"].shape[1], 0.5, jnp.float32), "wave": jnp.zeros(())}
    tuner = StepTuner(eps=0.015, length=0.12)
    kept = []
    for i in range(warmup + draws):
        eps, hops = tuner
        q, accept = propose(q, jax.random.fold_in(key, i), frame, eps, hops)
        if i < warmup:
            tuner.tell(accept)
        else:
            kept.append(np.asarray(q["lift"]))
    return np.mean(kept, axis=0), eps


def report(rows):
    width = max(len(r[0]) for r in rows)
    for code, lift, eps in rows:
        print(code.ljust(width), " ".join(f"{v:6.3f}" for v in lift), f" step {eps:.4f}")


if __name__ == "__main__":
    root = jax.random.key(2024)
    table = []
    for n, (code, frame) in enumerate(all_markets()):
        lift, eps = sample_market(frame, jax.random.fold_in(root, n))
        table.append((code, lift, eps))
    report(table)
