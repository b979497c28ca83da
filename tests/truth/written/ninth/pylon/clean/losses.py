import torch
import torch.nn.functional as F

from registry import loss


@loss("objectness")
class Objectness:
    def __init__(self, weight=1.0, gamma=1.5):
        self.weight, self.gamma = weight, gamma

    def __call__(self, out, match):
        logit, target = out["score"], match.hit.float()
        p = torch.sigmoid(logit)
        focal = (target * (1 - p) + (1 - target) * p) ** self.gamma
        ce = F.binary_cross_entropy_with_logits(logit, target, reduction="none")
        return self.weight * (focal * ce).mean()


@loss("box_l1")
class BoxL1:
    def __init__(self, weight=1.0, beta=0.5):
        self.weight, self.beta = weight, beta

    def __call__(self, out, match):
        err = F.smooth_l1_loss(out["box"], match.box, beta=self.beta, reduction="none")
        hit = match.hit.float()
        return self.weight * (err.sum(-1) * hit).sum() / hit.sum().clamp(min=1.0)
