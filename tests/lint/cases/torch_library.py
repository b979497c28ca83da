"""Library code in modules and PyTorch/XLA: host tensors, wrappers, environment that is put back."""
import os

import torch
import torch_xla
import torch_xla.core.xla_model as xm


class Wrapped(torch.nn.Module):
    def forward(self, features, x: torch.Tensor):
        if features.variable_stride():  # clean: value-branch
            x = x * 2
        if features.sum() > 0:  # expect: value-branch
            x = x * 3
        return x.mul(2).masked_select(x > 0)  # expect: mask-gather


def schedule(count, turns):
    row = torch.zeros(count, dtype=torch.long)
    while not torch.all(row >= turns):  # clean: value-branch
        row = row + 1
    return row


def on_device(count, turns, device):
    row = torch.zeros(count, dtype=torch.long, device=device)
    while not torch.all(row >= turns):  # expect: value-branch
        row = row + 1
    return row


def train(loader, device):
    for batch in loader:
        schedule(4, 2)
        on_device(4, 2, device)
        torch_xla.sync()
    return batch


def export(model):
    saved = os.environ.get("XLA_HLO_DEBUG", "0")
    os.environ["XLA_HLO_DEBUG"] = "1"  # clean: debug-flags
    text = str(model)
    os.environ["XLA_HLO_DEBUG"] = saved  # clean: debug-flags
    return text


def leaves_it_on(level):
    os.environ["PT_XLA_DEBUG"] = str(level)  # clean: debug-flags
    os.environ["XLA_HLO_DEBUG"] = "1"  # expect: debug-flags


def on_meta(layer, state):
    with torch.device("meta"):
        empty = torch.nn.Linear(4, 4)
    empty.load_state_dict(state, assign=True)  # clean: load-state-assign
    return empty


def resume(model, state):
    model.to(xm.xla_device())
    model.load_state_dict(state, assign=True)  # expect: load-state-assign
