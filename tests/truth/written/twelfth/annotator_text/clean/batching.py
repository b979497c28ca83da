import numpy as np


class TokenBudget:
    def __init__(self, rows, width):
        self.rows, self.width = rows, width
        self.made = 0

    def _stack(self, rows):
        tokens = np.zeros((self.rows, self.width), np.int32)
        for i, r in enumerate(rows):
            tokens[i, :len(r.ids)] = r.ids
        marks = np.zeros(self.rows, np.float32)
        marks[:len(rows)] = [r.marks.mean() for r in rows]
        self.made += 1
        return tokens, marks

    def __call__(self, source):
        pending = []
        for ex in source:
            pending.append(ex)
            if len(pending) == self.rows:
                yield self._stack(pending)
                pending = []
