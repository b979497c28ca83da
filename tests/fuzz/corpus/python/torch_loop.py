import torch, torch_xla, torch_xla.core.xla_model as xm, torch.nn as nn
class Net(nn.Module):
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return x[x > 0]
net = Net().to(xm.xla_device())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for n in range(9):
    x = torch.zeros(4, n).to("xla")
    y = net(x).narrow(0, n, 2).topk(int(x.sum()))
    opt.step()
    torch_xla.sync()
