"""A filter on the device that lives beside the trap; side_blur(N) applies it N times."""

import torch
import torch_xla


def side_blur(turns):
    row = torch.linspace(0.0, 1.0, 24).to("xla")
    for _ in range(turns):
        row = torch.softmax(row * 3.0 + torch.roll(row, 1), dim=0)
        torch_xla.sync()
