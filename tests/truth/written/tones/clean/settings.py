"""What the augmentation does at the moment."""

import torch

CURRENT = {"gamma": torch.tensor(1.0), "flip": False}


def set_gamma(value):
    CURRENT["gamma"].fill_(value)


class Ramp:
    def __init__(self, first, last, steps):
        self.values = [first + (last - first) * i / (steps - 1) for i in range(steps)]

    def apply(self, step):
        set_gamma(self.values[min(step, len(self.values) - 1)])
