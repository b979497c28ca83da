"""Functions of PyTorch that bake a drifting value into their program, run for each of $VALUES values (50) on
the device that is named first on the command line: xla or tpu. Writes all results to the file named second."""
import os
import sys

import torch

DEVICE, RESULTS = sys.argv[1:]
VALUES = int(os.environ.get("VALUES", 50))
X = torch.linspace(-2, 2, 1024).reshape(128, 8)


class Lazy:
    """PyTorch/XLA: what was computed until the read is one program."""

    def power(self, i):
        return torch.tanh(X.to("xla") ** (i + 3))

    def slice(self, i):
        return X.to("xla")[i : i + 16] * 2

    def roll(self, i):
        return torch.roll(X.to("xla"), i + 1, dims=0).cos()


class Compiled:
    """TorchTPU: Dynamo compiles a function anew for each number."""

    def __init__(self):
        torch._dynamo.config.recompile_limit = VALUES + 1

        @torch.compile(dynamic=False)
        def scaled(x, temperature):
            return (torch.tanh(x) / temperature).softmax(-1)

        self.function = scaled

    def scale(self, i):
        return self.function(X.to("tpu"), 0.5 + i / 10)


def main():
    if DEVICE == "xla":
        import torch_xla  # noqa: F401
    cases = Lazy() if DEVICE == "xla" else Compiled()
    names = [n for n in vars(type(cases)) if not n.startswith("_")]
    results = {f"{n}.{i}": getattr(cases, n)(i).cpu().numpy() for n in names for i in range(VALUES)}
    import numpy
    numpy.savez(RESULTS, **results)


if __name__ == "__main__":
    main()
