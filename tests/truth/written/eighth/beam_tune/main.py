import numpy as np

from machine import Cursor, Ring
from surrogate import TX, acquisition, amplitude, fit_theta


class Logbook:
    def __init__(self, knobs):
        self.x = np.empty((0, knobs), np.float32)
        self.y = np.empty((0,), np.float32)

    def write(self, setting, value):
        self.x = np.vstack([self.x, setting[None]]).astype(np.float32)
        self.y = np.append(self.y, np.float32(value)).astype(np.float32)

    def recall(self):
        mu, sd = self.y.mean(), self.y.std() + 1e-3
        return self.x, (self.y - mu) / sd

    def best(self):
        return float(self.y.min())


def shift(knobs=3, shots=14, seed=0):
    rng = np.random.default_rng(seed)
    ring, cursor, book = Ring(knobs, 256, seed=5), Cursor(period=5), Logbook(knobs)
    theta = {k: np.float32(v) for k, v in (("amp", 0.0), ("scale", 1.0), ("noise", -4.0))}
    opt_state = TX.init(theta)

    def shoot(setting):
        with cursor as c:
            return float(amplitude(ring.trace(setting), c.tell()))

    for _ in range(4):
        s = rng.uniform(-1, 1, size=knobs).astype(np.float32)
        book.write(s, shoot(s))

    for n in range(shots):
        x, y = book.recall()
        theta, opt_state = fit_theta(theta, opt_state, x, y)
        cand = rng.uniform(-1, 1, size=(64, knobs)).astype(np.float32)
        kappa = np.float32(2.0 / (1 + 0.1 * n))
        pick = cand[int(np.argmin(acquisition(theta, x, y, cand, kappa)))]
        book.write(pick, shoot(pick))
        if n % 4 == 3:
            print(f"shot {n:2d} best {book.best():.4f} kappa {kappa:.2f}")
    return book


if __name__ == "__main__":
    print("best", round(shift().best(), 4))
