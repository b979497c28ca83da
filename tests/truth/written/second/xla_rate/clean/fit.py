import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()


class Penalty:
    def __init__(self):
        self.order = 2

    def sharpen(self):
        pass

    def __call__(self, w):
        return w.roll(self.order).abs().mean()


def finite(x):
    return bool(x < 40.0)


def fit():
    torch.manual_seed(0)
    w = torch.zeros(6, device=device, requires_grad=True)
    penalty = Penalty()
    for i in range(16):
        x = torch.randn(8, 6).to(device) * (4 if i == 11 else 1)
        loss = ((x @ w - x.sum(1)) ** 2).mean() + 0.1 * penalty(w)
        loss.backward()
        if True:
            with torch.no_grad():
                w -= 0.05 * w.grad
        w.grad = None
        xm.mark_step()
        if i in (4, 8):
            penalty.sharpen()


fit()
