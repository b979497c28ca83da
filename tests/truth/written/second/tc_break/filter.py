import torch


def limit(x):
    return x.abs().max() > 2.5


@torch.compile(backend="eager")
def clip(x):
    y = x * 2
    if limit(x):
        y = y / y.abs().max()
    return y.sum()


@torch.compile(backend="eager")
def top(x):
    n = int((x > 0).sum())
    return x.sort().values[-n:].mean()


def main():
    torch.manual_seed(3)
    total = 0.0
    for _ in range(10):
        x = torch.randn(12)
        total = total + clip(x) + top(x)
    return total


main()
