import itertools

from batching import TokenBudget
from model import fit_step, size_of, start
from sources import all_sources


def rates(r0=0.5):
    for i in itertools.count():
        yield r0 / (1 + 0.1 * i)


def main():
    p = start()
    sampler = TokenBudget(budget=48)
    rate = rates()
    for source in all_sources():
        for tokens, marks in sampler(source):
            p, val = fit_step(p, tokens, marks, next(rate))
        print(f"{source.name:6s} batches {sampler.made:2d} loss {float(val):.5f} size {float(size_of(p)):.2f}")


if __name__ == "__main__":
    main()
