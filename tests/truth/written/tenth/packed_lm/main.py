import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import model
from checkpoint import Checkpointer
from data import Packer, documents, take

CFG = dict(vocab=64, dim=32, layers=2, rows=4, row_len=32, steps=18, save_every=5, spike=1.25)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.mesh = Mesh(np.array(jax.devices()[:1]), ("dp",))
        self.replicated = NamedSharding(self.mesh, P())
        self.by_row = NamedSharding(self.mesh, P("dp", None))
        self.tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-2, 4, 30)))
        params = model.init(jax.random.PRNGKey(0), cfg["vocab"], cfg["dim"], cfg["layers"])
        state = {"params": params, "opt": self.tx.init(params), "step": jnp.int32(0)}
        self.state = jax.device_put(state, self.replicated)
        fn = functools.update_wrapper(functools.partial(model.train_step, self.tx), model.train_step)
        self.fast = jax.jit(fn, donate_argnums=0)
        self.keep = jax.jit(fn)
        self.ckpt = Checkpointer()
        self.ema = None
        self.rollbacks = 0

    def place(self, raw):
        batch = {k: jax.device_put(raw[k], self.by_row) for k in ("inputs", "targets")}
        seg = model.segment_layout(raw["cu_seqlens"], raw["inputs"].shape)
        batch["segments"] = jax.device_put(seg, self.by_row)
        return batch

    def one(self, i, raw):
        batch = self.place(raw)
        saving = i > 0 and i % self.cfg["save_every"] == 0
        run = self.keep if saving else self.fast
        before = self.state
        self.state, loss = run(before, batch)
        if saving:
            self.ckpt.save(i, before)
        return float(loss)

    def watch(self, i, loss):
        if self.ema is not None and loss > self.cfg["spike"] * self.ema and self.ckpt.blobs and not self.rollbacks:
            self.state = self.ckpt.restore(self.ckpt.latest())
            self.rollbacks += 1
            print(f"step {i}: loss {loss:.3f}, back to {self.ckpt.latest()}")
            return
        self.ema = loss if self.ema is None else 0.7 * self.ema + 0.3 * loss


def corrupt(batches, at):
    rng = np.random.default_rng(3)
    for i, b in enumerate(batches):
        if i == at:
            b = dict(b, targets=rng.integers(0, CFG["vocab"], b["targets"].shape, dtype=np.int32))
        yield b


def main():
    t = Trainer(CFG)
    packer = Packer(documents(0, CFG["vocab"]), CFG["rows"], CFG["row_len"])
    for i, raw in enumerate(corrupt(take(iter(packer), CFG["steps"]), at=12)):
        loss = t.one(i, raw)
        t.watch(i, loss)
        if i % 4 == 0:
            print(f"step {i:2d} loss {loss:.4f}")
    print("done", int(t.state["step"]), "rollbacks", t.rollbacks)


if __name__ == "__main__":
    main()
