"""Option pricing daemon, fed here from a canned session instead of a socket."""
import argparse
import json
import logging
import random

import numpy as np

from engine import american_put, price_surface
from wire import VolBook, decode

log = logging.getLogger("desk")


def session(n, seed):
    rnd = random.Random(seed)
    for i in range(n):
        spot = round(rnd.uniform(90, 110), 2)
        msg = {"ref": f"R{i:03d}", "spot": spot}
        if i % 4 == 3:
            msg["strike"] = round(spot * 1.02, 2)
        else:
            msg["strike"] = [round(spot * m, 2) for m in (0.9, 0.95, 1.0, 1.05, 1.1)][: 3 + i % 3]
        if i >= 6 and i % 2:
            msg["vendor"] = "icap"
        if i % 5 == 0:
            msg["rate"] = 0.035
        yield json.dumps(msg)


class Desk:
    def __init__(self, vols, tree_steps):
        self.vols = vols
        self.tree_steps = tree_steps
        self.served = 0

    def handle(self, line):
        req = decode(line, self.vols)
        calls = price_surface(req.spot, req.strikes, req.vol_pct, req.rate)
        puts = american_put(req.spot, req.vol_pct, req.rate, steps=self.tree_steps)
        self.served += 1
        return {"ref": req.ref, "call": float(np.asarray(calls).mean()), "put": float(np.asarray(puts).mean())}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--messages", type=int, default=24)
    ap.add_argument("--tree-steps", type=int, default=48)
    args = ap.parse_args()
    vols = VolBook()
    vols.on_quote("tullet", [18.5, 19.0, 20.25, 21.0, 22.5])
    vols.on_quote("icap", [19, 19, 20, 21, 23])
    desk = Desk(vols, args.tree_steps)
    answers = [desk.handle(line) for line in session(args.messages, seed=3)]
    for a in answers[-3:]:
        print(a)
    print("served", desk.served)


if __name__ == "__main__":
    main()
