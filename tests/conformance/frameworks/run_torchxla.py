"""A lazy graph, synchronised thrice; prints the bits of what came back."""
import torch
import torch_xla

x = torch.arange(6, dtype=torch.float32).reshape(2, 3).to(torch_xla.device())
for _ in range(3):
    x = x * 2 + 1
    torch_xla.sync()
    print(x.cpu().numpy().tobytes().hex())
