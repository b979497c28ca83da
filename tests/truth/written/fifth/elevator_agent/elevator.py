"""Elevator bank simulator: dispatch one car per call, reward is minus the waiting time."""
import numpy as np

FLOORS, CARS, HISTORY = 12, 3, 6


class Building:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.pos = self.rng.integers(0, FLOORS, CARS)
        return self

    def call(self):
        floor = int(self.rng.integers(0, FLOORS))
        frame = np.concatenate([self.pos, [floor]]).astype(np.float32) / FLOORS
        return floor, frame

    def dispatch(self, car, floor):
        wait = abs(int(self.pos[car]) - floor)
        self.pos[car] = floor
        return -float(wait) / FLOORS


class Tape:
    """What the controller has seen lately, newest last."""

    def __init__(self):
        self.frames = []

    def push(self, frame):
        self.frames.append(frame)
        if len(self.frames) > HISTORY:
            self.frames.pop(0)

    def view(self):
        return list(self.frames)
