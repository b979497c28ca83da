from functools import partial

import jax
import numpy as np
import optax

from student import Objective, Student
from teacher import Teacher

DIM, CLASSES, SHARDS, EPOCHS = 12, 5, 6, 4


def anneal(epoch):
    return {0: 4.0, 1: 4.0, 2: 4.0}.get(epoch, 2.0)


class Shards:
    def __init__(self, teacher):
        self.teacher = teacher
        rng = np.random.default_rng(6)
        self.xs = rng.normal(size=(SHARDS, 48, DIM)).astype(np.float32)
        self.annotated = {1, 4}

    def epoch(self, e):
        for s in range(SHARDS):
            x = self.xs[s]
            logits = self.teacher.logits(s, x)
            batch = dict(x=x, teacher=logits, label=logits.argmax(-1).astype(np.int32))
            hinted = s in self.annotated and e > 1
            batch["hinted"] = np.float32(hinted)
            batch["hint"] = self.teacher.hidden(x) if hinted else np.zeros((len(x), 40), np.float32)
            yield batch


model = Student(CLASSES)
tx = optax.adamw(optax.exponential_decay(8e-3, 10, 0.9))


@partial(jax.jit, static_argnums=(0,))
def distill(objective, params, opt, batch, softness):
    def loss_fn(p):
        logits, guide = model.apply({"params": p}, batch["x"])
        return objective(logits, guide, batch, softness)

    loss, g = jax.value_and_grad(loss_fn)(params)
    up, opt = tx.update(g, opt, params)
    return optax.apply_updates(params, up), opt, loss


def main():
    teacher = Teacher(DIM, CLASSES)
    shards = Shards(teacher)
    params = model.init(jax.random.key(0), shards.xs[0])["params"]
    opt = tx.init(params)
    objective = Objective()
    agree = jax.jit(lambda p, x: model.apply({"params": p}, x)[0].argmax(-1))
    for e in range(EPOCHS):
        softness = np.float32(anneal(e))
        losses = []
        for batch in shards.epoch(e):
            params, opt, loss = distill(objective, params, opt, batch, softness)
            losses.append(float(loss))
        same = np.mean(np.asarray(agree(params, batch["x"])) == batch["label"])
        print(f"epoch {e} loss {np.mean(losses):.4f} last-shard agreement {same:.2f} memo hits {teacher.hits}")


if __name__ == "__main__":
    main()
