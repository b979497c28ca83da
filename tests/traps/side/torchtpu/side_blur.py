"""A filter on the device that lives beside the trap; side_blur(N) applies it N times."""

import torch


@torch.compile
def blurred(row):
    return torch.softmax(row * 3.0 + torch.tanh(row), dim=0)


def side_blur(turns):
    row = torch.linspace(0.0, 1.0, 24).to("tpu")
    for _ in range(turns):
        row = blurred(row)
