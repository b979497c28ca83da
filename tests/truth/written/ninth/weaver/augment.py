import torch

STRENGTH = 0.02
CEILING = 0.4


def jitter(x):
    flip = torch.sign(torch.rand(x.shape[0], 1) - 0.5 * STRENGTH)
    noise = torch.randn_like(x) * STRENGTH
    return x * flip + noise
