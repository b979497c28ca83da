# trap: mask-gather
# recompiles: 3
# fix: mask
"""Only the masked positions enter the loss: a boolean index gives every batch a size of its own."""

import torch
import torch.nn as nn
import torch_xla

VOCAB = 32  # size: 24..64 by 8
WIDTH = 12  # size: 8..24 by 4
LENGTH = 20  # size: 20..40 by 4


def main():
    torch.manual_seed(0)
    embed = nn.Embedding(VOCAB, WIDTH).to("xla")
    head = nn.Linear(WIDTH, VOCAB).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for masked in [5, 5, 7, 4, 7, 9, 5]:
            tokens = torch.randint(1, VOCAB, (4 * LENGTH,))
            tokens[torch.randperm(4 * LENGTH)[:masked]] = 0
            tokens = tokens.reshape(4, LENGTH).to("xla")
            mask = tokens == 0
            hidden = torch.tanh(embed(tokens))
            picked = hidden[mask]  # origin
            loss = head(picked).logsumexp(-1).mean()
            torch_xla.sync()  # trigger
    print("loss", loss.item())


if __name__ == "__main__":
    main()
