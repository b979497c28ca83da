import torch


class Curriculum:
    """Base class: something that changes a little after each cycle."""

    def advance(self):
        raise NotImplementedError


class FocalLoss(Curriculum):
    def __init__(self, start=2.5, floor=1.25, drop=0.4):
        self.gamma = start
        self.floor = floor
        self.drop = drop

    def advance(self):
        self.gamma = max(self.floor, self.gamma - self.drop)

    def __call__(self, logits, target):
        logp = torch.log_softmax(logits, -1)
        logp_true = logp.gather(-1, target[..., None])[..., 0]
        p_true = logp_true.exp().clamp(max=0.999)
        weight = (1.0 - p_true) ** self.gamma
        return -(weight * logp_true).mean()


class NoiseLevel(Curriculum):
    """Scales the input noise; a plain multiplication on the host."""

    def __init__(self, level=0.3):
        self.level = level

    def advance(self):
        self.level *= 0.9
