import os
import math

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

import torch
from torch.utils.data import DataLoader, Dataset

from callbacks import Deepen, MeanMeter
from forecaster import TideForecaster
from torchlet import Trainer


class Gauges(Dataset):
    def __init__(self, n=32, history=12, ahead=4):
        g = torch.Generator().manual_seed(17)
        t = torch.arange(n + history + ahead, dtype=torch.float32)
        level = torch.sin(t * 2 * math.pi / 12.4) + 0.4 * torch.sin(t * 2 * math.pi / 25.8)
        self.level = level + 0.05 * torch.randn(len(t), generator=g)
        self.n, self.history, self.ahead = n, history, ahead

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        mid = i + self.history
        return self.level[i:mid], self.level[mid:mid + self.ahead]


def main():
    torch.manual_seed(2)
    loader = DataLoader(Gauges(), batch_size=8, drop_last=True)
    module = TideForecaster()
    trainer = Trainer(max_epochs=5, callbacks=[MeanMeter(), Deepen()])
    trainer.fit(module, loader)
    print("passes", module.hparams.passes)


if __name__ == "__main__":
    main()
