import torch
import torch.nn.functional as F

import knobs


@torch.compile(backend="tpu", dynamic=False)
def fabric_loss(w, b, x, y):
    contrast = (x[:, 1:] - x[:, :-1]).abs().mean(-1)
    logits = contrast @ w + b
    if knobs.LABEL_SMOOTHING:
        y = y * (1 - knobs.SMOOTH) + 0.5 * knobs.SMOOTH
    return F.binary_cross_entropy_with_logits(logits, y)
