# trap: last-batch
# recompiles: 1
# fix: drop_last
"""The last batch of an epoch is short; torch.compile specialises on it."""

import torch

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 6..16 by 2


@torch.compile(dynamic=False)
def loss_of(weights, x):
    return torch.tanh(x @ weights).square().mean()  # origin


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, 4).to("tpu")
    samples = torch.randn(4 * BATCH + 3, WIDTH)
    for _ in range(2):
        for x in samples.split(BATCH):
            loss = loss_of(weights, x.to("tpu"))  # trigger
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
