import torch
from torch import nn
import torch_xla
import torch_xla.core.xla_model as xm


def micro(net, x):
    loss = net(x).pow(2).mean() / 2
    loss.backward()
    xm.mark_step()


def main():
    d = torch_xla.device()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(d)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for k in range(12):
        micro(net, torch.randn(4, 4).to(d))
        if k % 2:
            opt.step()
            opt.zero_grad(set_to_none=True)
            xm.mark_step()


main()
