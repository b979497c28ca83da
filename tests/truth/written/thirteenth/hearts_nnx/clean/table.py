from typing import NamedTuple

import numpy as np

VOID = 52
HAND = 13


class Trick(NamedTuple):
    lead: np.ndarray
    cards: np.ndarray
    chosen: np.ndarray
    points: np.ndarray


class Table:
    def __init__(self, seats=16, seed=0):
        self.rng = np.random.default_rng(seed)
        self.seats = seats
        self.deal()

    def deal(self):
        self.hands = [sorted(self.rng.permutation(52)[:13].tolist()) for _ in range(self.seats)]
        self.left = 13

    def trick(self, pick):
        if self.left <= 3:
            self.deal()
        lead = int(self.rng.integers(4))
        legal = []
        for seat in self.hands:
            follow = [c for c in seat if c // 13 == lead]
            legal.append(follow or seat)
        width = HAND
        cards = np.array([row + [VOID] * (width - len(row)) for row in legal], np.int32)
        chosen = np.array([pick(len(row)) for row in legal], np.int32)
        for seat, row, c in zip(self.hands, legal, chosen):
            seat.remove(row[c])
        played = cards[np.arange(self.seats), chosen]
        hearts = (played // 13 == 2).astype(np.float32)
        points = -hearts - 0.1 * (played % 13 > 9)
        self.left -= 1
        return Trick(np.full(self.seats, lead, np.int32), cards, chosen, points.astype(np.float32))
