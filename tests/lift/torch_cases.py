"""Functions of PyTorch that bake a drifting value into their program, run for each of $VALUES values (50) from
$FIRST_VALUE (0).

usage: torch_cases.py xla|tpu RESULTS.npz"""
import os
import sys

import torch

DEVICE, RESULTS = sys.argv[1:]
FIRST = int(os.environ.get("FIRST_VALUE", 0))
VALUES = int(os.environ.get("VALUES", 50))
X = torch.linspace(-2, 2, 1024).reshape(128, 8)


class Lazy:
    """PyTorch/XLA: what was computed until the read is one program. Each function reads its own."""

    def power(self, i):
        return torch.tanh(X.to("xla") ** (i + 3)).cpu()

    def position(self, i):
        cache = torch.zeros(128, 8, device="xla")
        cache[i] = X.to("xla")[0]
        return cache.cpu()

    def iota_start(self, i):
        return (X.to("xla") * torch.arange(i + 1, i + 9, device="xla")).cpu()

    def pad_start(self, i):
        return torch.nn.functional.pad(X.to("xla"), (0, 0, i, 120 - i)).cpu()

    def slice_start(self, i):
        return (X.to("xla")[i : i + 16] * 2).cpu()

    def roll(self, i):
        return torch.roll(X.to("xla"), i + 1, dims=0).cos().cpu()

    def triangle(self, i):
        return torch.triu(X.to("xla"), i - 100).cpu()

    # PyTorch/XLA passes other numbers as data, so these have one program without --lift as well.

    def learning_rate(self, i):
        w = X.to("xla")
        return torch.add(w, torch.tanh(w), alpha=-(1e-3 * 0.9**i)).cpu()

    def counter(self, i):
        return (X.to("xla") * 0.5 + (i + 2)).cpu()

    def temperature(self, i):
        return torch.softmax(X.to("xla") / (1.1 + i / 10), -1).cpu()

    def loss_scale(self, i):
        return (torch.tanh(X.to("xla") * (1024.0 + i)) / (1024.0 + i)).cpu()

    def splat(self, i):
        return (X.to("xla") * torch.full((128, 8), 0.25 * i + 0.1, device="xla")).cpu()


class Compiled:
    """TorchTPU: Dynamo compiles a function anew for each number."""

    def __init__(self):
        torch._dynamo.config.recompile_limit = VALUES + 1
        torch._dynamo.config.accumulated_recompile_limit = 100 * VALUES

    @torch.compile(dynamic=False)
    def _rate(x, rate):
        return x - rate * torch.tanh(x)

    def learning_rate(self, i):
        return Compiled._rate(X.to("tpu"), 1e-3 * 0.9**i).cpu()

    @torch.compile(dynamic=False)
    def _count(x, count):
        return x * 0.5 + count

    def counter(self, i):
        return Compiled._count(X.to("tpu"), i + 2).cpu()

    @torch.compile(dynamic=False)
    def _temper(x, temperature):
        return (torch.tanh(x) / temperature).softmax(-1)

    def temperature(self, i):
        return Compiled._temper(X.to("tpu"), 0.55 + i / 10).cpu()

    @torch.compile(dynamic=False)
    def _scale(x, scale):
        return torch.tanh(x * scale) / scale

    def loss_scale(self, i):
        return Compiled._scale(X.to("tpu"), 1024.0 + i).cpu()

    @torch.compile(dynamic=False)
    def _place(x, at):
        angle = at * torch.linspace(1, 0, 8, device=x.device)
        seen = torch.where(torch.arange(128, device=x.device) <= at, x[:, 0], -1e9)
        return torch.cat([(x * torch.cos(angle)).flatten(), seen])

    def position(self, i):
        return Compiled._place(X.to("tpu"), i + 2).cpu()

    @torch.compile(dynamic=False)
    def _fill(x, value):
        return x * torch.full((128, 8), value, device=x.device)

    def splat(self, i):
        return Compiled._fill(X.to("tpu"), 0.25 * i + 0.1).cpu()

    @torch.compile(dynamic=False)
    def _count_from(x, start):
        return x * torch.arange(start, start + 8, device=x.device)

    def iota_start(self, i):
        return Compiled._count_from(X.to("tpu"), i + 2).cpu()

    @torch.compile(dynamic=False)
    def _pad(x, rows):
        return torch.nn.functional.pad(x, (0, 0, rows, 120 - rows)) * 2

    def pad_start(self, i):
        return Compiled._pad(X.to("tpu"), i + 1).cpu()

    @torch.compile(dynamic=False)
    def _window(x, start):
        return x[start : start + 16] * 2

    def slice_start(self, i):
        return Compiled._window(X.to("tpu"), i + 1).cpu()


def main():
    if DEVICE == "xla":
        import torch_xla  # noqa: F401
    cases = Lazy() if DEVICE == "xla" else Compiled()
    names = [n for n in vars(type(cases)) if not n.startswith("_")]
    results = {f"{n}.{i}": getattr(cases, n)(i).numpy() for n in names for i in range(FIRST, FIRST + VALUES)}
    import numpy
    numpy.savez(RESULTS, **results)


if __name__ == "__main__":
    main()
