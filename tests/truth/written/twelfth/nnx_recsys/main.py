import numpy as np
import optax
from flax import nnx

from stream import ImpressionStream
from towers import TwoTower, in_batch_loss


@nnx.jit
def train_step(model, optimizer, batch):
    loss, grads = nnx.value_and_grad(in_batch_loss)(model, batch)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def nearest(table, query):
    return (table @ query).argmax()


HOOKS = []


def hook(every):
    def deco(fn):
        HOOKS.append((every, fn))
        return fn
    return deco


@hook(every=4)
def accounting(step, model, batch):
    model.users.bump(len(batch["user"]))


@hook(every=3)
def report(step, model, batch):
    table = np.asarray(model.items.table.embedding[...])
    print("step", step, "nearest", int(nearest(table, table[step])))


def main(steps=13):
    model = TwoTower(40, 24, 8, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adagrad(0.1), wrt=nnx.Param)
    stream = ImpressionStream(40, 24, 16)
    for step, batch in enumerate(stream.batches(steps), 1):
        loss = train_step(model, optimizer, batch)
        for every, fn in HOOKS:
            if step % every == 0:
                fn(step, model, batch)
        print(f"{step:3d} loss {float(loss):.4f}")
    print("rows served", model.users.visits)


if __name__ == "__main__":
    main()
