import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x, weights):
        y = self.head(x)
        if "mask" in weights:
            y = y * weights["mask"]
        return y


def rows(step):
    return 8 if step < 3 else 5


net = Net()
model = torch.compile(net, backend="eager", dynamic=False)
for step in range(4):
    batch = torch.ones(rows(step), 8)
    weights = {"scale": torch.ones(1)}
    if step == 1:
        weights["mask"] = torch.ones(1)
    with torch.set_grad_enabled(step != 2):
        model(batch, weights)
