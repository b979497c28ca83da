import torch.nn as nn


def mlp(*sizes, last=None):
    layers = []
    for inner, outer in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(inner, outer), nn.LeakyReLU(0.2)]
    layers.pop()
    if last is not None:
        layers.append(last)
    return nn.Sequential(*layers)


class Pair(nn.Module):
    def __init__(self, noise, features):
        super().__init__()
        self.noise = noise
        self.maker = mlp(noise, 32, features, last=nn.Tanh())
        self.judge = mlp(features, 32, 1)
