# trap: bundle-drift
# function: loss_of
# launch: plugin=as-built
# launch: plugin=rebuilt
# recompiles: 1
# fix: libstet_cpu.so
"""The same script on another build of the plugin: nothing in it changed, and everything compiles again."""

import torch

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def loss_of(weights, x):
    return torch.relu(x @ weights).sum(1).mean()


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for step in range(4):
        loss = loss_of(weights, torch.randn(BATCH, WIDTH).to("tpu"))
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
