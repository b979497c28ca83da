"""Trains each network on torch's CPU and on a device; writes the losses of both.

usage: torch_train.py {tpu|xla} {eager|compile} STEPS RESULT.json"""
import json
import sys

import torch
from torch_nets import NETS

device, mode, steps, result = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
sync, backend = lambda: None, None
if device == "xla":
    import torch_xla
    sync, backend = torch_xla.sync, "openxla"


def train(make, place, compiled):
    torch.manual_seed(0)
    net, batch, loss_of, optimizer = make()
    net, batch = net.to(place), [b.to(place) for b in batch]
    step = torch.compile(loss_of, backend=backend) if compiled else loss_of
    opt = optimizer(net.parameters())
    losses = []
    for _ in range(steps):
        loss = step(net, *batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if place != "cpu":
            sync()
        losses.append(loss.detach().item())
    return losses


with open(result, "w") as f:
    # The device first: torch's autograd counts devices when it first runs.
    json.dump({name: {"got": train(make, device, mode == "compile"), "want": train(make, "cpu", False)}
               for name, make in NETS.items()}, f)
