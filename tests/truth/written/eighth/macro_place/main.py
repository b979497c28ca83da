import argparse
import contextlib
import time

import numpy as np

from engine import TX, build_mover, overflow
from netlist import Netlist, hpwl


class Report:
    def __init__(self):
        self.rows = []
        self.clock = {}

    @contextlib.contextmanager
    def section(self, name):
        t = time.perf_counter()
        yield self
        self.clock[name] = self.clock.get(name, 0.0) + time.perf_counter() - t


class Placer:
    def __init__(self, net, bins, push):
        self.net, self.bins, self.push = net, bins, push
        self.pos = net.start(1)
        self.opt_state = TX.init(self.pos)
        self.ovf = 1.0
        self.strict = False

    def smoothness(self):
        return round(0.02 + 0.08 * self.ovf, 2)

    def iterate(self, n):
        move = build_mover(self.bins, self.smoothness())
        for _ in range(n):
            self.pos, self.opt_state, cost = move(self.pos, self.opt_state, self.net.area, self.net.pins, self.push)
            self.push *= 1.02
        return float(cost)

    def assess(self):
        self.ovf = float(overflow(self.pos, self.net.area, self.bins, exact=self.strict))
        if self.ovf < 0.1:
            self.strict = True


def cli():
    p = argparse.ArgumentParser()
    p.add_argument("--cells", type=int, default=80)
    p.add_argument("--nets", type=int, default=120)
    p.add_argument("--bins", type=int, default=8)
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--iters", type=int, default=6)
    return p.parse_args()


def main():
    a = cli()
    net = Netlist(a.cells, a.nets, seed=4)
    placer = Placer(net, a.bins, push=0.3)
    rep = Report()
    for rnd in range(a.rounds):
        with rep.section("global"):
            cost = placer.iterate(a.iters)
        with rep.section("assess"):
            placer.assess()
        rep.rows.append((rnd, cost, placer.ovf, hpwl(np.asarray(placer.pos), net.pins)))
    for row in rep.rows:
        print("round %2d  cost %9.3f  overflow %.3f  hpwl %.3f" % row)
    print("sections", sorted(rep.clock))


if __name__ == "__main__":
    main()
