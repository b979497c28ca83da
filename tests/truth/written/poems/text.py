"""Characters of a poem as windows of integers."""
import numpy as np

LINES = """the river runs below the hill
and carries all the leaves away
the mill beside it is quite still
and will be still another day
""" * 6


class Alphabet:
    def __init__(self, text):
        self.letters = sorted(set(text))
        self.code = {letter: number for number, letter in enumerate(self.letters)}

    def __len__(self):
        return len(self.letters)

    def encode(self, text):
        return np.array([self.code[letter] for letter in text], np.int32)


class Windows:
    def __init__(self, codes, longest, rows, seed=0):
        self.codes, self.longest, self.rows = codes, longest, rows
        self.rng = np.random.default_rng(seed)

    def sample(self, span):
        starts = self.rng.integers(0, self.codes.size - self.longest - 1, self.rows)
        return np.stack([self.codes[s:s + span + 1] for s in starts])


def easy_first(longest, shortest, steps):
    """How much of a window is used, step by step."""
    for step in range(steps):
        share = min(1.0, (step + 1) / (0.75 * steps))
        yield max(shortest, int(longest * share) // 8 * 8)
