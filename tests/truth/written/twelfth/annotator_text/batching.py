import numpy as np


class TokenBudget:
    def __init__(self, budget):
        self.budget = budget
        self.made = 0

    def _stack(self, rows):
        tokens = np.zeros((len(rows), max(len(r.ids) for r in rows)), np.int32)
        for i, r in enumerate(rows):
            tokens[i, :len(r.ids)] = r.ids
        marks = np.stack([np.squeeze(r.marks) for r in rows])
        self.made += 1
        return tokens, marks

    def __call__(self, source):
        pending, widest = [], 0
        for ex in source:
            if pending and (len(pending) + 1) * max(widest, len(ex.ids)) > self.budget:
                yield self._stack(pending)
                pending, widest = [], 0
            pending.append(ex)
            widest = max(widest, len(ex.ids))
