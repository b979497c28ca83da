# trap: capacity-leak
# recompiles: 3
# fix: capacity, config
"""The experts' capacity is computed from the number of real tokens in each batch."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla

TOKENS = 64  # size: 48 64 96
WIDTH = 8  # size: 8 16
EXPERTS = 4  # size: 4 8


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(EXPERTS, WIDTH, WIDTH) * 0.3)

    def forward(self, tokens, dispatch):
        inside = torch.einsum("tec,td->ecd", dispatch, tokens)
        done = torch.relu(torch.einsum("ecd,edf->ecf", inside, self.weight))
        return torch.einsum("tec,ecf->tf", dispatch, done)


def main():
    torch.manual_seed(0)
    router = nn.Linear(WIDTH, EXPERTS, bias=False).to("xla")
    experts = Experts().to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for real in [TOKENS, TOKENS, TOKENS - 10, TOKENS, TOKENS - 21, TOKENS - 10, TOKENS - 33]:
            tokens = torch.randn(TOKENS, WIDTH)
            tokens[real:] = 0.0
            tokens = tokens.to("xla")
            capacity = int(1.25 * real / EXPERTS)
            chosen = F.one_hot(router(tokens).argmax(-1), EXPERTS)
            place = torch.cumsum(chosen, 0) * chosen
            dispatch = F.one_hot(place.clamp(max=capacity), capacity + 1)[:, :, 1:].float()  # origin
            mixed = experts(tokens, dispatch).mean()
            torch_xla.sync()  # trigger
    print("mean", mixed.item())


if __name__ == "__main__":
    main()
