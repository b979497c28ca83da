import numpy as np


class Ledger:
    def __init__(self, closing):
        self.closing = closing
        self.books = []
        self.rows = []

    def close(self, hour, params):
        if hour in self.closing:
            self.books.append((hour, {k: np.array(v) for k, v in params.items()}))

    def post(self, code, *numbers):
        self.rows.append((code, *map(float, numbers)))

    def total(self):
        return round(sum(r[1] for r in self.rows), 4)
