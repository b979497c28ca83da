import functools

import torch

from model import Gate, gaussian_nll
from series import River, Window


def healthy(*blocks):
    ok = functools.reduce(torch.logical_and, (~b.isnan().any(dim=1) for b in blocks))
    return tuple(b[ok] for b in blocks)


class Operator:
    def __init__(self, river, window, device=torch.device("tpu")):
        self.window = window
        self.level = river.level.to(device)
        self.model = Gate(window.past, window.ahead).to(device)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.listeners = []

    def fit_one(self, origin):
        past, future = healthy(*self.window.cut(self.level, origin))
        mean, log_var = self.model(past)
        loss = gaussian_nll(mean, log_var, future).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        for fn in self.listeners:
            fn(origin, loss)

    def sweep(self, hours):
        for origin in self.window.origins(hours):
            self.fit_one(origin)


def main():
    torch.manual_seed(18)
    river, window = River(), Window()
    op = Operator(river, window)
    op.listeners.append(lambda origin, loss: print(f"hour {origin:2d} nll {loss.item():.4f}"))
    op.sweep(len(river))


if __name__ == "__main__":
    main()
