import numpy as np

from clock import Clock
from evaluator import minimax, td_update


class Coach:
    def __init__(self, weights, arena, lam=0.7):
        self.weights = weights
        self.arena = arena
        self.lam = np.float32(lam)
        self.clock = Clock()
        self.listeners = []

    def on_game(self, fn):
        self.listeners.append(fn)
        return fn

    def fan(self, game, width=6):
        return np.stack([self.arena._move(game.boards[-1]) for _ in range(width)])

    def season(self, games):
        for n in range(games):
            game = self.arena.play()
            self.weights, err = td_update(self.weights, game.boards, game.result, self.lam)
            depth = self.clock.depth()
            score = minimax(self.weights, self.fan(game), depth)
            self.clock.punch(len(game.boards))
            self.lam = np.float32(self.lam * 0.98)
            for fn in self.listeners:
                fn(n, game, float(err), float(score))
