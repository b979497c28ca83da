import torch
from torch import nn


class Filterbank(nn.Module):
    def __init__(self, n_filters=8, width=32, stride=16):
        super().__init__()
        self.conv = nn.Conv1d(1, n_filters, width, stride=stride)

    def forward(self, x):
        return torch.log1p(self.conv(x[:, None]).pow(2))


class ClipNet(nn.Module):
    def __init__(self, n_classes, p_drop=0.2):
        super().__init__()
        self.bank = Filterbank()
        self.drop = nn.Dropout(p_drop)
        self.head = nn.Linear(8, n_classes)

    def forward(self, x):
        h = self.bank(x).mean(dim=-1)
        return self.head(self.drop(h))
