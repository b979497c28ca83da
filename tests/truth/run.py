"""Measures how often `stet explain` names the planted cause and line (README.md tells how).

    python3 tests/truth/run.py BUILD_DIR ENV_DIR [--seed N] [--cases N] [--first N] [--only DRIFT] [--lane jax|torch] [--jobs N] [--keep DIR]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import score  # noqa: E402
from generate import write_case  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = {"jax": "jax/bin/python", "torch": "torchtpu/bin/python"}
SCRIPT_LIMIT_S = 180


def isolated(folder):
    """An environment in which nothing of Stet or of the frameworks is shared with another case."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "XLA_", "TORCH", "XDG_", "PYTHON"))}
    state = str(folder / "state")
    return dict(kept, STET_STATE_DIR=state, STET_STORE=state + "/store", XDG_STATE_HOME=state, XDG_CACHE_HOME=state + "/cache", HOME=state,
                PYTHONDONTWRITEBYTECODE="1", TORCH_DEVICE_BACKEND_AUTOLOAD="0", TORCHINDUCTOR_CACHE_DIR=state + "/inductor")


class Witness:
    """A process that has a framework imported and counts compiles without Stet."""

    def __init__(self, envs, lane, scratch):
        env = dict(isolated(scratch), JAX_PLATFORMS="cpu")
        self.process = subprocess.Popen([str(envs / PYTHON[lane]), str(HERE / "witness.py"), lane], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=env, cwd=scratch)

    def count(self, folder):
        self.process.stdin.write(json.dumps({"folder": str(folder), "script": "main.py"}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '{"error": "the witness ended"}')

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def under_stet(build, envs, lane, folder):
    """Runs the script under `stet run`; what it printed live, and what `stet explain` says afterwards."""
    env = isolated(folder)
    command = [str(build / "bin/stet"), "run", *(["--cpu"] if lane == "jax" else []), "--", str(envs / PYTHON[lane]), "main.py"]
    try:
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=SCRIPT_LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, f"did not end within {SCRIPT_LIMIT_S} s"
    told = subprocess.run([str(build / "bin/stet"), "explain", "--format=json"], cwd=folder, env=env, capture_output=True, text=True)
    if ran.returncode or told.returncode not in (0, 1):
        return None, (ran.stderr + told.stderr)[-2000:]
    return json.loads(told.stdout), ran.stderr


def run_case(args, witnesses, index):
    folder = args.scratch / f"case{index}"
    case = write_case(args.seed, index, folder, args.lanes, args.only)
    case["folder"] = str(folder)
    witness = witnesses[case["lane"]].get() or Witness(args.envs, case["lane"], args.scratch)
    try:
        drift, clean = witness.count(folder / "drift"), witness.count(folder / "clean")
    finally:
        witnesses[case["lane"]].put(witness)
    happened, case["unplanted"] = score.really_planted(case, drift, clean)
    if case["unplanted"] or args.plants:
        return case
    explained, text = under_stet(args.build, args.envs, case["lane"], folder / "drift")
    clean_explained, live = under_stet(args.build, args.envs, case["lane"], folder / "clean")
    if explained is None or clean_explained is None:
        case["unplanted"] = "failed under stet run: " + (text if explained is None else live)
        return case
    case["verdict"] = score.judge_drift(case, explained, happened)
    case["clean"] = score.judge_clean(clean_explained, live)
    return case


def missed(case):
    verdict = case["verdict"]
    return not (verdict["class"] and verdict["line"]) or case["clean"]["after"] or case["clean"]["live"]


def tidy(case):
    """Scripts of misses stay; recordings go."""
    folder = pathlib.Path(case["folder"])
    for kind in ("drift", "clean"):
        shutil.rmtree(folder / kind / "state", ignore_errors=True)
    if not (case["unplanted"] or missed(case)):
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("envs", type=lambda p: pathlib.Path(p).absolute())
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", help="this drift alone")
    parser.add_argument("--lane", choices=["jax", "torch"])
    parser.add_argument("--plants", action="store_true", help="only count what is really planted, without Stet")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for scripts and results.json; a temporary one otherwise")
    args = parser.parse_args()
    args.lanes = (args.lane,) if args.lane else ("jax", "torch")
    args.scratch = (args.keep or pathlib.Path(tempfile.mkdtemp(prefix="stet-truth-"))).resolve()
    args.scratch.mkdir(parents=True, exist_ok=True)
    print(f"seed {args.seed}, {args.cases} cases from {args.first}; misses are kept in {args.scratch}", flush=True)

    witnesses = {lane: queue.Queue() for lane in ("jax", "torch")}  # None: not started yet
    for waiting in witnesses.values():
        for _ in range(args.jobs):
            waiting.put(None)
    cases, unplanted = [], []
    results = args.scratch / "results.json"
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case in pool.map(lambda index: run_case(args, witnesses, index), range(args.first, args.first + args.cases)):
            (unplanted if case["unplanted"] else cases).append(case)
            if case["unplanted"]:
                print(f"{case['index']} {case['program']} {case['drift']}: unplanted: {case['unplanted'][:300]}", file=sys.stderr, flush=True)
            if args.plants:
                continue
            tidy(case)
            results.write_text(json.dumps({"seed": args.seed, "cases": cases, "unplanted": unplanted}, indent=1))
    for waiting in witnesses.values():
        for _ in range(args.jobs):
            witness = waiting.get()
            if witness:
                witness.close()
    if args.plants:
        print(f"{len(cases)} of {args.cases} cases are really planted")
        return
    print(score.tables(cases, unplanted), score.cross_table(cases), f"every case: {results}", sep="\n\n")


if __name__ == "__main__":
    main()
