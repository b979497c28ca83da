"""A small regression that lives beside the trap; side_trainer(N) takes N steps."""

import torch
import torch_xla


def side_trainer(turns):
    data = torch.randn(20, 5, generator=torch.Generator().manual_seed(3)).to("xla")
    weights = torch.zeros(5, 1).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for _ in range(turns):
            error = data @ weights - data[:, :1]
            weights = weights - 0.1 * (data.T @ error) / 20
            torch_xla.sync()
