from contextlib import contextmanager

import numpy as np

from icenet import score


class SensorGap(Exception):
    pass


@contextmanager
def probing(net):
    net.eval()
    yield net
    net.train()


class Probe:
    def __init__(self, archive, outages):
        self.archive, self.outages = archive, outages
        self.curve = []

    def __call__(self, net, year):
        with probing(net) as quiet:
            tile, thick = self.archive.open(2001)
            if year in self.outages:
                raise SensorGap(year)
            self.curve.append(float(score(quiet, tile, thick)))
        return np.mean(self.curve[-3:])
