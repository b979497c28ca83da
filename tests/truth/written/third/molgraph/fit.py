import numpy as np
import optax
from flax import nnx

from graphs import MAX_ATOMS, dataset
from net import PropertyNet


def merge(mols):
    """Disjoint union of a handful of molecules."""
    off = [MAX_ATOMS * i for i in range(len(mols))]
    cat = lambda f: np.concatenate([getattr(m, f) for m in mols])
    return {
        "atoms": cat("atoms"), "bond_ok": cat("bond_ok"), "scale": cat("scale"),
        "src": np.concatenate([m.src + o for m, o in zip(mols, off)]),
        "dst": np.concatenate([m.dst + o for m, o in zip(mols, off)]),
        "target": np.array([m.target for m in mols]),
    }


@nnx.jit
def fit_step(net, opt, batch, noise):
    def loss(net):
        return ((net(batch, noise) - batch["target"]) ** 2).mean()

    l, g = nnx.value_and_grad(loss)(net)
    opt.update(net, g)
    return l


def main(bs=4):
    net = PropertyNet(rngs=nnx.Rngs(0))
    opt = nnx.Optimizer(net, optax.adam(1e-2), wrt=nnx.Param)
    mols = dataset(40)
    eps = np.random.default_rng(5).normal(size=(len(mols) // bs, bs * MAX_ATOMS, 16)).astype(np.float32)
    losses = [fit_step(net, opt, merge(mols[i * bs:i * bs + bs]), e) for i, e in enumerate(eps)]
    print("first %.3f last %.3f" % (float(losses[0]), float(losses[-1])))


if __name__ == "__main__":
    main()
