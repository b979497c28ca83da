# trap: shape-drift
# recompiles: 3
# fix: pad
"""Every batch has the length of its longest sequence."""

import torch
import torch.nn as nn
import torch_xla

VOCAB = 40  # size: 24..80 by 8
WIDTH = 16  # size: 8..32 by 8
SPREAD = 3  # size: 2 3 5


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(VOCAB, WIDTH), nn.Linear(WIDTH, VOCAB)).to("xla")
    with torch.no_grad():
        for longest in [4, 4, 6, 5, 6, 8, 4]:
            tokens = torch.randint(0, VOCAB, (4, longest * SPREAD)).to("xla")  # origin
            score = model(tokens).logsumexp(-1).mean()
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
