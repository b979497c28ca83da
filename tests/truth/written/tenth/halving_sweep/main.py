import jax
import numpy as np

from search import SuccessiveHalving, batch_at, ensemble_score, train_population


def moons(n, dim, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, dim)).astype(np.float32)
    y = ((x[:, 0] * x[:, 1] + 0.4 * x[:, 2]) > 0).astype(np.float32)
    return {"x": x, "y": y}


class Budget:
    def __init__(self, first, eta):
        self.first, self.eta = first, eta

    def rungs(self, n):
        r = 0
        while n >= 1:
            yield r, self.first * (1 + r)
            n //= self.eta
            r += 1


def main(batch=24):
    train, val = moons(144, 6, 0), moons(64, 6, 1)
    train = jax.device_put(train)
    sh = SuccessiveHalving(6, 12)
    key = jax.random.PRNGKey(9)
    seen = 0
    for rung, steps in Budget(4, sh.eta).rungs(len(sh)):
        for _ in range(steps):
            key, sub = jax.random.split(key)
            b = batch_at(train, seen % 144, batch)
            sh.pop, loss = train_population(sh.pop, b["x"], b["y"], sub)
            seen += batch
        acc = np.asarray(ensemble_score(sh.pop["p"], val["x"], val["y"]))
        print(f"rung {rung} members {len(sh)} steps {steps} best {acc.max():.3f} loss {float(np.asarray(loss).min()):.4f}")
        if len(sh) > 1:
            sh.promote(acc)
    best = {k: round(float(v[0]), 4) for k, v in sh.pop["hp"].items()}
    print("winner", int(sh.pop["id"][0]), best)


if __name__ == "__main__":
    main()
