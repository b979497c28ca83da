"""A small regression that lives beside the trap; side_trainer(N) takes N steps."""

import torch


@torch.compile
def descended(weights, data, wanted):
    error = data @ weights - wanted
    return weights - 0.005 * (data.transpose(0, 1) @ error)


def side_trainer(turns):
    data = torch.randn(20, 5, generator=torch.Generator().manual_seed(3)).to("tpu")
    wanted = torch.ones(20, 1).to("tpu")
    weights = torch.zeros(5, 1).to("tpu")
    for _ in range(turns):
        weights = descended(weights, data, wanted)
