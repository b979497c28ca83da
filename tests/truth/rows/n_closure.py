"""Row N: the loss is read in a step closure, every tenth step, as PyTorch/XLA advises."""
import torch
import torch_xla
import torch_xla.core.xla_model as xm


def report(step, loss):
    print(step, round(loss.item(), 4))


device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(6, 1).to(device)
rule = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.ones(8, 6).to(device)
torch_xla.sync()
for step in range(40):
    rule.zero_grad()
    loss = model(data).pow(2).mean()
    loss.backward()
    rule.step()
    if step % 10 == 9:
        xm.add_step_closure(report, args=(step, loss))
    xm.mark_step()
