"""Measures how often `stet explain` names the planted cause and line (README.md tells how).

    python3 tests/truth/run.py BUILD_DIR [ENV_DIR] [--python-jax PATH] [--python-torch PATH] [--libraries DIR] [--seed N] [--cases N] [--first N]
                               [--only DRIFT] [--framework NAME] [--lane jax|torch] [--jobs N] [--keep DIR] [--out FILE] [--minutes N] [--at-least PERCENT]
                               [--recordings] [--again DIR]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import score  # noqa: E402
from generate import choose, write_case  # noqa: E402
from processes import PYTHON, SCRIPT_LIMIT_S, Forked, Whole, Witnesses, isolated, stet_run  # noqa: E402

LIBRARIES = {"jax": ("jax", "numpy", "optax", "flax", "flax.linen", "flax.nnx", "equinox", "haiku", "numpyro"), "torch": ("torch",)}
SHOW_S = 20


def installed(args, lane):
    """The libraries that a lane's interpreter really imports; none when it cannot be started."""
    code = ("import importlib\nfor name in " + repr(LIBRARIES[lane]) + ":\n    try:\n        importlib.import_module(name)\n        print(name)\n"
            "    except Exception:\n        pass\n")
    try:
        return set(subprocess.run([str(args.python[lane]), "-c", code], capture_output=True, text=True, timeout=SCRIPT_LIMIT_S,
                                  env=dict(isolated(args.scratch, args.libraries), JAX_PLATFORMS="cpu")).stdout.split())
    except OSError:
        return set()


def explain(args, folder):
    """What `stet explain` says about the latest run in a folder, or None and why it says nothing."""
    told = subprocess.run([str(args.build / "bin/stet"), "explain", "--format=json"], cwd=folder, env=isolated(folder), capture_output=True, text=True,
                          timeout=SCRIPT_LIMIT_S)
    return (json.loads(told.stdout), "") if told.returncode in (0, 1) else (None, told.stderr[-2000:])


def under_stet(args, starter, lane, folder, devices):
    """Runs the script under `stet run`; what `stet explain` says afterwards, and what was printed live."""
    command = stet_run(args, lane, devices, starter.command(lane))
    try:
        ran = subprocess.run(command, cwd=folder, env=isolated(folder, args.libraries), capture_output=True, text=True, timeout=SCRIPT_LIMIT_S)
        told, why = explain(args, folder)
    except subprocess.TimeoutExpired:
        return None, f"did not end within {SCRIPT_LIMIT_S} s"
    if ran.returncode or told is None:
        return None, (ran.stderr + why)[-2000:]
    return told, ran.stderr


def run_case(args, witnesses, starter, index):
    folder = args.scratch / f"case{index}"
    case = write_case(args.seed, index, folder, args.lanes, args.only)
    case["folder"] = str(folder)
    case["failed"] = None
    drift, clean = witnesses.count(case["lane"], [folder / "drift", folder / "clean"], case["devices"])
    happened, case["unplanted"] = score.really_planted(case, drift, clean)
    if case["unplanted"] or args.plants:
        return case
    explained, text = under_stet(args, starter, case["lane"], folder / "drift", case["devices"])
    clean_explained, live = under_stet(args, starter, case["lane"], folder / "clean", case["devices"])
    if explained is None or clean_explained is None:
        case["failed"] = "under stet run: " + (text if explained is None else live)
        return case
    case["verdict"] = score.judge_drift(case, explained, happened)
    case["clean"] = score.judge_clean(clean_explained, live)
    return case


def guarded(args, witnesses, starter, index):
    """run_case, whose every failure is an answer about this case alone."""
    try:
        case = run_case(args, witnesses, starter, index)
        if not args.recordings:
            tidy(case)
    except Exception:
        lane, program, drift = choose(args.seed, index, args.lanes, args.only)
        case = {"seed": args.seed, "index": index, "lane": lane, "program": program.name, "framework": program.framework, "drift": drift,
                "unplanted": None, "failed": traceback.format_exc()[-2000:]}
    return case


def tidy(case):
    """Scripts of misses stay; recordings go."""
    folder = pathlib.Path(case["folder"])
    for kind in ("drift", "clean"):
        shutil.rmtree(folder / kind / "state", ignore_errors=True)
    if "verdict" in case and not score.is_missed(case):
        shutil.rmtree(folder)


class Results:
    """Every finished case, as a line of a file at once; a figure now and then."""

    def __init__(self, path, seed):
        self.path = path
        self.cases = [case for case in score.read([path]) if case["seed"] == seed] if path.exists() else []
        self.file = path.open("a")
        self.shown = time.monotonic()

    def add(self, case):
        self.cases.append(case)
        self.file.write(json.dumps(case) + "\n")
        self.file.flush()
        reason = case["unplanted"] or case["failed"]
        if reason:
            what = "unplanted" if case["unplanted"] else "failed"
            print(f"{case['index']} {case['program']} {case['drift']}: {what}: {reason[-300:]}", file=sys.stderr, flush=True)
        if time.monotonic() > self.shown + SHOW_S:
            self.shown = time.monotonic()
            print(score.line(self.cases), flush=True)


def wanted_cases(args, results):
    """Numbers of the cases to run, and how many need a library that cannot be imported."""
    libraries = {lane: installed(args, lane) for lane in args.lanes}
    done, wanted, without = {case["index"] for case in results.cases}, [], {}
    for index in range(args.first, args.first + args.cases):
        lane, program, _ = choose(args.seed, index, args.lanes, args.only)
        if args.framework not in (None, program.framework):
            continue
        missing = program.needs() - libraries[lane]
        for library in missing:
            without[library] = without.get(library, 0) + 1
        if not missing and index not in done:
            wanted.append(index)
    for library, count in sorted(without.items()):
        print(f"{count} cases are not generated: {library} cannot be imported")
    return wanted


def run_all(args, results):
    """Runs the cases in order, `jobs` at a time, until all are done or the time is up; the first that was not begun."""
    wanted = wanted_cases(args, results)
    waiting, lock = iter(wanted), threading.Lock()
    until = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")
    witnesses, starter = Witnesses(args), Whole(args) if args.whole else Forked(args)
    next_index = args.first + args.cases

    def work():
        nonlocal next_index
        while True:
            with lock:
                index = next(waiting, None)
                if index is None or time.monotonic() > until:
                    next_index = next_index if index is None else min(next_index, index)
                    return
            case = guarded(args, witnesses, starter, index)
            with lock:
                results.add(case)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(args.jobs)]:
            worker.result()
    witnesses.close()
    starter.close()
    return next_index


def explain_again(args):
    """The cases of a folder of recordings, judged by what `stet explain` says of them now."""
    def judge(old):
        folder = args.again / pathlib.Path(old["folder"]).name
        told = {}
        for kind in ("drift", "clean"):
            for ledger in (folder / kind / "state").glob("ledger.db*"):
                ledger.unlink()
            told[kind], why = explain(args, folder / kind)
            if told[kind] is None:
                return dict(old, failed=why)
        live = "\n".join(old["clean"]["live"])
        return dict(old, verdict=score.judge_drift(old, told["drift"], old["verdict"]["happened"]), clean=score.judge_clean(told["clean"], live))

    known = [case for case in score.read(sorted(args.again.glob("*.jsonl"))) if "verdict" in case and args.only in (None, case["drift"])]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        return list(pool.map(judge, known))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("envs", nargs="?", type=lambda p: pathlib.Path(p).absolute())
    parser.add_argument("--python-jax", type=pathlib.Path, help="the interpreter for JAX, instead of ENV_DIR's")
    parser.add_argument("--python-torch", type=pathlib.Path, help="the interpreter for torch, instead of ENV_DIR's")
    parser.add_argument("--libraries", type=lambda p: pathlib.Path(p).resolve(), help="a folder of unpacked packages, named site-packages")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", help="this drift alone")
    parser.add_argument("--lane", choices=["jax", "torch"])
    parser.add_argument("--framework", help="the cases of this framework alone, of those that are asked for")
    parser.add_argument("--whole", action="store_true", help="start a whole process for each script instead of forking one that has the framework imported")
    parser.add_argument("--plants", action="store_true", help="only count what is really planted, without Stet")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the scripts of misses; a temporary one otherwise")
    parser.add_argument("--recordings", action="store_true", help="keep every script with what Stet recorded of it")
    parser.add_argument("--again", type=pathlib.Path, help="explain the recordings in this folder again; nothing is run")
    parser.add_argument("--out", type=pathlib.Path, help="every finished case as a line of JSON; cases that are in it are not run again")
    parser.add_argument("--minutes", type=float, help="begin no case after this time, and print what is known")
    parser.add_argument("--at-least", type=int, help="exit 1 when fewer percent have class and line right, or a clean twin is alarmed")
    args = parser.parse_args()
    if args.libraries and args.libraries.name != "site-packages":
        parser.error(f"{args.libraries} must be named site-packages: by that Stet knows a library from a user's code")
    args.lanes = (args.lane,) if args.lane else ("jax", "torch")
    given = {"jax": args.python_jax, "torch": args.python_torch}
    args.python = {lane: given[lane] or (args.envs / PYTHON[lane] if args.envs else pathlib.Path("python3")) for lane in PYTHON}
    args.scratch = (args.keep or pathlib.Path(tempfile.mkdtemp(prefix="stet-truth-"))).resolve()
    args.scratch.mkdir(parents=True, exist_ok=True)
    return args


def main():
    args = arguments()
    if args.again:
        again = explain_again(args)
        print("\n".join(score.miss(case) for case in again if score.is_missed(case)), score.line(again), sep="\n")
        return 0
    results = Results(args.out or args.scratch / "cases.jsonl", args.seed)
    print(f"seed {args.seed}, {args.cases} cases from {args.first}; misses are kept in {args.scratch}", flush=True)
    next_index = run_all(args, results)
    if args.plants:
        planted = [case for case in results.cases if not case["unplanted"] and not case["failed"]]
        print(f"{len(planted)} of {len(results.cases)} cases are really planted")
        return 0
    print(score.tables(results.cases), score.cross_table(results.cases), f"every case: {results.path}", sep="\n\n")
    if next_index < args.first + args.cases:
        print(f"the time is up; go on with --seed {args.seed} --first {next_index} --cases {args.first + args.cases - next_index}")
    return 0 if args.at_least is None else score.verdict(results.cases, args.at_least)


if __name__ == "__main__":
    sys.exit(main())
