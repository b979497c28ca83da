"""Version 2 of a module of the user's."""
import torch


def forward(weights, batch):
    return torch.tanh(batch * weights + 0.5)  # here: module
