# trap: host-sync
# recompiles: 1+
# fix: add_step_closure
"""A value is printed in the middle of the step from some step on: the graph is cut in two there."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    first = nn.Linear(6, WIDTH).to("xla")
    second = nn.Linear(WIDTH, 1).to("xla")
    with torch.no_grad():
        for step in range(9):
            x = torch.randn(BATCH, 6).to("xla")
            hidden = torch.relu(first(x))
            if step >= 5:
                print("largest", hidden.max().item())  # trigger
            score = second(hidden).mean()
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
