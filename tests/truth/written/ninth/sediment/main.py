import torch
import torch_xla
from torch import nn

from cores import CoreStream
from engine import Engine, Hooks

MICRO = 3
CYCLES = 10


def make_model(depth=14):
    return nn.Sequential(nn.Linear(depth, 24), nn.GELU(), nn.Linear(24, 2))


class Guard:
    def __init__(self, ceiling):
        self.ceiling = ceiling
        self.norms = []

    def attach(self, hooks):
        hooks.on("before_update")(self.tame)

    def tame(self, model):
        grads = [p.grad for p in model.parameters()]
        norm = torch.stack([g.square().sum() for g in grads]).sum().sqrt()
        self.norms.append(norm)
        if norm > self.ceiling:
            for g in grads:
                g.mul_(self.ceiling / norm)


def main():
    torch.manual_seed(12)
    device = torch_xla.device()
    model = make_model().to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    hooks = Hooks()
    guard = Guard(ceiling=2.0)
    guard.attach(hooks)
    engine = Engine(model, opt, hooks, MICRO)
    trail = list(engine.run(CoreStream(MICRO * CYCLES, device)))
    for i, (loss, norm) in enumerate(zip(trail, guard.norms)):
        print(f"cycle {i} loss {loss.item():.4f} norm {norm.item():.3f}")


if __name__ == "__main__":
    main()
