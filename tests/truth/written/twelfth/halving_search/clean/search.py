import jax
import numpy as np

from trial import Trial, score_all


class Search:
    def __init__(self, lrs, seed=0):
        self.trials = [Trial(lr, seed=i) for i, lr in enumerate(lrs)]
        self.width = len(self.trials)
        self.rng = np.random.default_rng(seed)
        self.w = self.rng.normal(size=5)
        self.held = self.draw(32)

    def draw(self, n):
        x = self.rng.normal(size=(n, 5)).astype(np.float32)
        return x, np.sin(x @ self.w).astype(np.float32)

    def scores(self):
        alive = [t.params for t in self.trials]
        filled = alive + alive[:1] * (self.width - len(alive))
        stacked = jax.tree.map(lambda *a: np.stack(a), *filled)
        return np.asarray(score_all(stacked, *self.held))[:len(alive)]

    def exploit(self, s):
        best = self.trials[int(np.argmin(s))]
        i = int(np.argmax(s))
        self.trials[i] = best.mutate(float(self.rng.choice([0.8, 1.25])))

    def halve(self, s):
        ranked = [self.trials[j] for j in np.argsort(s)]
        self.trials = ranked[:max(2, len(ranked) // 2)]

    def rounds(self, n):
        for r in range(n):
            for t in self.trials:
                t.train([self.draw(16) for _ in range(3)])
            s = self.scores()
            yield r, len(self.trials), s
            if r % 2 == 1:
                self.halve(s)
            else:
                self.exploit(s)
