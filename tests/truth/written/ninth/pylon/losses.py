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
        chosen = out["box"][match.hit]
        wanted = match.box[match.hit]
        err = F.smooth_l1_loss(chosen, wanted, beta=self.beta, reduction="sum")
        return self.weight * err / max(chosen.shape[0], 1)
