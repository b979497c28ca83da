#!/usr/bin/env python
"""Offline trainer entry point."""
import argparse
import sys

import torch

from features import ImpressionLog
from settings import SETTINGS
from towers import HistoryPooler, Ranker


def parse(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--backend", default="eager", choices=["eager", "aot_eager", "inductor"])
    ap.add_argument("--report-every", type=int, default=8)
    return ap.parse_args(argv)


def main(argv=None) -> int:
    args = parse(argv)
    torch.manual_seed(SETTINGS["train"]["seed"])
    ranker = Ranker(SETTINGS["catalogue"]["users"], SETTINGS["catalogue"]["items"], **SETTINGS["model"])
    pooler = HistoryPooler(ranker.items)
    params = {id(p): p for m in (ranker, pooler) for p in m.parameters()}
    opt = torch.optim.Adagrad(params.values(), lr=SETTINGS["train"]["lr"])

    rank = torch.compile(ranker, backend=args.backend)
    pool = torch.compile(pooler, backend=args.backend)

    total = 0.0
    for step, (batch, history) in enumerate(ImpressionLog()):
        loss = rank(batch, pool(history))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        if (step + 1) % args.report_every == 0:
            print(f"step {step + 1:3d}  mean loss {total / args.report_every:.4f}")
            total = 0.0
    return 0


if __name__ == "__main__":
    sys.exit(main())
