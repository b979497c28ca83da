# trap: options-drift
# function: loss_of
# launch: LIBTPU_INIT_ARGS=
# launch: LIBTPU_INIT_ARGS=--xla_tpu_enable_latency_hiding_scheduler=true
# recompiles: 1
# fix: xla_tpu_enable_latency_hiding_scheduler
"""The same script, launched a second time with other LIBTPU_INIT_ARGS: the whole cache is cold."""

import torch

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def loss_of(weights, x):
    return torch.tanh(x @ weights).square().mean()


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for step in range(4):
        loss = loss_of(weights, torch.randn(BATCH, WIDTH).to("tpu"))
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
