"""Replays a recorded morning of traffic against the engine."""
import numpy as np

from engine import Engine, Request

RECORDED = [dict(n=11), dict(n=11), dict(n=17), dict(n=11, temperature=0.9), dict(n=24),
            dict(n=17, temperature=0.7), dict(n=11, temperature=1), dict(n=24), dict(n=31, temperature=1),
            dict(n=11), dict(n=17), dict(n=24, best_of=2), dict(n=11), dict(n=31, best_of=2, temperature=0.5)]


def requests(seed=2):
    g = np.random.default_rng(seed)
    for r in RECORDED:
        r = dict(r)
        toks = g.integers(1, 97, r.pop("n")).tolist()
        yield Request(toks, n=r.pop("best_of", 1), **r)


if __name__ == "__main__":
    eng = Engine()
    eng.submit(*requests())
    done = list(eng.serve())
    print(len(done), "requests", sum(len(o) for r in done for o in r.out), "tokens")
