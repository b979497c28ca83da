from typing import NamedTuple

import numpy as np


class Hand(NamedTuple):
    streets: tuple
    strength: np.ndarray


class Dealer:
    def __init__(self, players=6, bust_every=7, fold_rate=0.18, seed=0):
        self.rng = np.random.default_rng(seed)
        self.players = players
        self.bust_every = bust_every
        self.fold_rate = fold_rate
        self.hands_dealt = 0

    def _view(self, board):
        pot = self.rng.random((self.players, 1)).astype(np.float32)
        tile = np.broadcast_to(board, (self.players, board.size))
        return np.concatenate([self.holes, tile, pot], 1).astype(np.float32)

    def deal(self):
        self.hands_dealt += 1
        if self.hands_dealt % self.bust_every == 0 and self.players > 4:
            self.players -= 1
        self.holes = self.rng.normal(size=(self.players, 4)).astype(np.float32)
        board = np.zeros(5, np.float32)
        streets = [self._view(board)]
        for shown in (3, 4, 5):
            if self.rng.random() < self.fold_rate:
                break
            board[:shown] = self.rng.normal(size=shown)
            streets.append(self._view(board))
        strength = np.tanh(self.holes.sum(1) * 0.5 + board.sum() * self.holes[:, 0] * 0.1)
        return Hand(tuple(streets), strength)
