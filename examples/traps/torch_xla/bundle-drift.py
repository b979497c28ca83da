# trap: bundle-drift
# launch: plugin=as-built
# launch: plugin=rebuilt
# recompiles: 1
# fix: libstet_cpu.so
"""The same script on another build of the plugin: nothing in it changed, and everything compiles again."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1)).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for step in range(6):
            x = torch.randn(BATCH, 6).to("xla")
            score = torch.tanh(model(x)).mean()
            torch_xla.sync()  # trigger # origin
    print("score", score.item())


if __name__ == "__main__":
    main()
