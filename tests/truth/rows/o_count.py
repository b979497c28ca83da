"""Row O: an evaluation counts on the device, from a Python zero on; no gradient is involved."""
import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(5, 3).to(device)
batches = [(torch.randn(4, 5), torch.zeros(4, dtype=torch.long)) for _ in range(6)]


@torch.no_grad()
def evaluate():
    right = 0
    for inputs, labels in batches:
        guess = model(inputs.to(device)).argmax(1)
        right += (guess == labels.to(device)).sum()
        xm.mark_step()
    return right.item()


for epoch in range(3):
    print(epoch, evaluate())
