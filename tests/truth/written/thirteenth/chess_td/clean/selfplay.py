from typing import NamedTuple

import numpy as np

PIECES = "KQRBNPkqrbnp"


class Game(NamedTuple):
    boards: np.ndarray
    result: np.float32
    plies: int


class Arena:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def _place(self):
        planes = np.zeros((len(PIECES), 64), np.float32)
        squares = self.rng.permutation(64)
        for n, kind in enumerate((0, 6, 5, 11, 2)):
            planes[kind, squares[n]] = 1
        return planes

    def _move(self, planes):
        kind = int(self.rng.choice(np.flatnonzero(planes.sum(1))))
        src = int(np.argmax(planes[kind]))
        dst = int((src + self.rng.choice((-9, -8, -7, -1, 1, 7, 8, 9))) % 64)
        out = planes.copy()
        out[kind, src] = 0
        out[:, dst] = 0
        out[kind, dst] = 1
        return out

    def play(self, cap=18):
        boards = [self._place()]
        while len(boards) < cap:
            boards.append(self._move(boards[-1]))
            if self.rng.random() < 0.12 and len(boards) > 5:
                break
        last = boards[-1]
        result = np.sign(last[:6].sum() - last[6:].sum())
        n = len(boards)
        boards += [last] * (cap - n)
        return Game(np.stack(boards), np.float32(result), n)
