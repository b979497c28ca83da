# trap: topk-k
# recompiles: 2
# fix: static k
"""The number of experts that a token may choose is drawn anew."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
TOKENS = 12  # size: 8..24 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, 10).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for k in [2, 2, 3, 2, 5]:
            x = torch.randn(TOKENS, WIDTH).to("xla")
            score = torch.topk(model(x), k).values.mean()  # origin
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
