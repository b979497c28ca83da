import jax
import numpy as np

from accum import Scaler, flush, micro, tx

OXIDES = ("SiO2", "Al2O3", "CaO", "Fe2O3", "CuO", "CoO")


def firings(n, seed, tiles=16):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(len(OXIDES), 3))
    for _ in range(n):
        recipe = rng.dirichlet(np.ones(len(OXIDES)), tiles)
        lab = np.sin(recipe @ mix * 2) * 2 + 3
        yield {"recipe": recipe.astype(np.float32), "lab": lab.astype(np.float32)}


def shelves(batch, per):
    n = len(batch["lab"])
    return [{k: v[i:i + per] for k, v in batch.items()} for i in range(0, n, per)]


def main():
    rng = np.random.default_rng(0)
    params = jax.tree.map(
        lambda a: jax.device_put(a.astype(np.float32)),
        {"oxide": rng.normal(size=(6, 20)) * 0.4, "soak": np.zeros(20), "lab": rng.normal(size=(20, 3)) * 0.3},
    )
    opt = tx.init(params)
    scaler = Scaler(2 ** 17, patience=4)
    for f, batch in enumerate(firings(14, seed=3)):
        parts = shelves(batch, 4)
        held = None
        for part in parts:
            held, loss = micro(params, held, part, scaler.value)
        params, opt, ok = flush(params, opt, held, scaler.value, len(parts))
        scaler.see(bool(ok))
        print(f"firing {f:2d} loss {float(loss):.4f} scale {scaler.value:.0f} ok {bool(ok)}")


if __name__ == "__main__":
    main()
