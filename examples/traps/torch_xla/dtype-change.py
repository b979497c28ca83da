# trap: dtype-change
# recompiles: 1
# fix: dtype
"""One data source delivers half precision, the other single."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, 4).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for kind in ["single", "single", "half", "single", "half"]:
            x = torch.randn(BATCH, WIDTH)
            x = x if kind == "single" else x.to(torch.bfloat16)
            score = torch.tanh(model(x.to("xla").float())).mean()  # origin
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
