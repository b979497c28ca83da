import numpy as np

from machine import Cursor, Ring
from surrogate import TX, acquisition, amplitude, fit_theta


class Logbook:
    def __init__(self, knobs, pages):
        self.x = np.zeros((pages, knobs), np.float32)
        self.y = np.zeros(pages, np.float32)
        self.n = 0

    def write(self, setting, value):
        self.x[self.n], self.y[self.n] = setting, value
        self.n += 1

    def recall(self):
        seen = self.y[: self.n]
        used = (np.arange(len(self.y)) < self.n).astype(np.float32)
        return self.x.copy(), (self.y - seen.mean()) / (seen.std() + 1e-3) * used, used

    def best(self):
        return float(self.y[: self.n].min())


def shift(knobs=3, shots=14, seed=0):
    rng = np.random.default_rng(seed)
    ring, cursor, book = Ring(knobs, 256, seed=5), Cursor(period=5), Logbook(knobs, 4 + shots)
    theta = {k: np.float32(v) for k, v in (("amp", 0.0), ("scale", 1.0), ("noise", -4.0))}
    opt_state = TX.init(theta)

    def shoot(setting):
        with cursor as c:
            return float(amplitude(ring.trace(setting), c.tell()))

    for _ in range(4):
        s = rng.uniform(-1, 1, size=knobs).astype(np.float32)
        book.write(s, shoot(s))

    for n in range(shots):
        x, y, used = book.recall()
        theta, opt_state = fit_theta(theta, opt_state, x, y, used)
        cand = rng.uniform(-1, 1, size=(64, knobs)).astype(np.float32)
        kappa = np.float32(2.0 / (1 + 0.1 * n))
        pick = cand[int(np.argmin(acquisition(theta, x, y, used, cand, kappa)))]
        book.write(pick, shoot(pick))
        if n % 4 == 3:
            print(f"shot {n:2d} best {book.best():.4f} kappa {kappa:.2f}")
    return book


if __name__ == "__main__":
    print("best", round(shift().best(), 4))
