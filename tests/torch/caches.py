"""One small program through Inductor's caches: caches.py SIZE[,SIZE]…|bypass [SETTING=VALUE]…

A setting of torch._inductor.config is part of the caches' key, and so is every input. `bypass` calls a function that
AOTAutograd's cache refuses.
"""

import sys

import torch
import torch._inductor.config as config

sizes = [int(s) for s in sys.argv[1].split(",")] if sys.argv[1] != "bypass" else []
for setting in sys.argv[2:]:
    name, _, value = setting.partition("=")
    setattr(config, name, {"True": True, "False": False}.get(value, value))


@torch.compile(dynamic=False)
def soften(x):
    return torch.relu(x) * 0.5 + x.cos()


for size in sizes:
    print(size, float(soften(torch.ones(size)).sum()))


@torch._dynamo.allow_in_graph
def opaque(x):
    return x * 3


@torch.compile
def tripled(x):
    return opaque(x) + 1


if not sizes:
    print(float(tripled(torch.ones(4)).sum()))
