import torch

import settings


@torch.compile(backend="eager")
def tracking_cost(temp, target, u):
    track = (temp - target).pow(2).mean()
    rough = (u[1:] - u[:-1]).pow(2).mean() * settings.SMOOTHING
    return track + rough
