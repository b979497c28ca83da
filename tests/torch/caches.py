"""One small program through Inductor's caches: caches.py SIZE [SETTING=VALUE]…

A setting of torch._inductor.config is part of the caches' key, and so is every input. `bypass` calls a function that
the caches refuse.
"""

import sys

import torch
import torch._inductor.config as config

sizes = [int(s) for s in sys.argv[1].split(",")]
for setting in sys.argv[2:]:
    name, _, value = setting.partition("=")
    setattr(config, name, {"True": True, "False": False}.get(value, value))


@torch.compile(dynamic=False)
def soften(x):
    return torch.relu(x) * 0.5 + x.cos()


for size in sizes:
    print(size, float(soften(torch.ones(size)).sum()))
