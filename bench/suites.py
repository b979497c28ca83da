"""Test suites of JAX libraries on XLA's CPU and on the embedded CPU backend: passes, CPU seconds, wall clock.

usage: suites.py NAME=CHECKOUT … [--python=P] [--seed=N] [--most=N] [--side=both|strict] [--json=FILE]

NAME is one of the suites below; CHECKOUT is a checkout of its project. MJX's tests are those of the installed
mujoco-mjx, from any folder.
The Python needs JAX, pytest and what the project's tests import. A seeded sample of each suite is run, the same on
both sides. Prints one line a suite, then the tests that pass on XLA's CPU and not here, each with its reason.
"""
import argparse
import pathlib
import sys

import side_by_side as side

# Where each project has its tests.
SUITES = {
    "optax": ["optax"],
    "flax": ["tests"],
    "equinox": ["tests"],
    "haiku": ["haiku/_src"],
    "numpyro": ["test"],
    "diffrax": ["test"],
    "blackjax": ["tests"],
    "brax": ["brax"],
    "mjx": ["--import-mode=importlib", "--pyargs", "mujoco.mjx._src"],
    "jaxopt": ["tests"],
}


def checkout(text):
    name, found, folder = text.partition("=")
    if not found or name not in SUITES or not pathlib.Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=CHECKOUT; NAME is one of {', '.join(SUITES)}")
    return name, pathlib.Path(folder).absolute()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", type=checkout, nargs="+", metavar="NAME=CHECKOUT")
    parser.add_argument("--python", type=pathlib.Path, default=side.ROOT / "build/env/jax/bin/python")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=100, help="tests of a suite; 0: all")
    parser.add_argument("--side", default="both", choices=["both", "strict"])
    parser.add_argument("--timeout", type=int, default=3600, help="seconds for a suite on one side")
    parser.add_argument("--json", help="write all outcomes there")
    return parser.parse_args()


def describe(result):
    return (f"{result.count('passed'):5} passed {result.count('failed') + result.count('crashed'):3} failed "
            f"{result.cpu:7.1f} CPU s {result.clock:7.1f} s")


def main():
    args = arguments()
    sides = [side.XLA, side.STRICT if args.side == "strict" else side.BACKEND]
    data, left, cpu, clock, passed = {}, [], [0.0, 0.0], [0.0, 0.0], 0
    for name, folder in args.suites:
        results = [side.run(s, args.python.absolute(), ["--continue-on-collection-errors", *SUITES[name]], folder, args.seed,
                            args.most, args.timeout) for s in sides]
        lost = side.differing(*results)
        left += [(name, test, *why) for test, why in sorted(lost.items())]
        passed += results[0].count("passed")
        for i, r in enumerate(results):
            cpu[i] += r.cpu
            clock[i] += r.clock
        print(f"{name:9} | {' | '.join(map(describe, results))} | {len(lost):3} lost | {results[0].cpu / results[1].cpu:.2f} x", flush=True)
        data[name] = {s.name: r.as_json() for s, r in zip(sides, results)}
        if args.json:
            side.save(args.json, data)
    print(f"{passed - len(left)} of the {passed} tests that pass on XLA:CPU pass here; {cpu[0]:.1f} and {cpu[1]:.1f} CPU s "
          f"({cpu[0] / cpu[1]:.2f} x), {clock[0]:.1f} and {clock[1]:.1f} s by the clock")
    side.print_lost(left)
    return 0


if __name__ == "__main__":
    sys.exit(main())
