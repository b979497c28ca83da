"""Each trap against a contract made from its good variant: it must break exactly the clause it should,
and say which line.

    traps.py BUILD_DIR                 every trap
    traps.py BUILD_DIR --only NAME…
    traps.py BUILD_DIR --update        also writes the table into docs/check.md

A row of TRAPS is the clause (a fragment of each size breaks two) and the edits that make the script good. A script that is launched
several times is good in its first launch and bad in its last. The good variant is run, its contract is made
and must hold for it and for a second run of it; then the trap itself is held to it.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "traps"))

import run as runner
import trap as traps

TRAPS = {
    "baked-constant": ("programs", [("lr * DECAY", "lr * 1.0")]),
    "baked-constant-partial": ("programs", [("np.linspace(0.05, 0.93, 5)", "np.linspace(0.5, 0.5, 5)")]),
    "bundle-drift": ("bundle", []),
    "capacity-leak": ("programs", [("[TOKENS, TOKENS, TOKENS - 10, TOKENS, TOKENS - 21, TOKENS - 10, TOKENS - 33]", "[TOKENS] * 7")]),
    "capacity-leak-pages": ("programs", [("[40, 40, 28, 40, 16, 28, 36]", "[40] * 7")]),
    "dim-readback": ("programs", [("[9, 9, 12, 6, 12, 15]", "[9] * 6")]),
    "dim-readback-size": ("programs", [("[8, 8, 11, 8, 5, 11]", "[8] * 6")]),
    "donation-change": ("donated", [('["train", "checkpoint"]', '["train"]')]),
    "dtype-change": ("dtype", [('["float", "float", "raw", "float", "raw", "raw"]', '["float"] * 6')]),
    "dtype-change-half": ("dtype", [("cache.astype(jnp.bfloat16)", "cache.astype(jnp.float32)")]),
    "dtype-change-weak": ("programs", [("scale = 0.05", "scale = np.float32(0.05)")]),
    "fresh-jit": ("compiles", [("range(6)", "range(1)")]),
    "fresh-jit-helper": ("compiles", [("range(5)", "range(1)")]),
    "grad-create-accumulate": ("arguments", [("range(CYCLE)", "range(1)")]),
    "grad-create-accumulate-loop": ("arguments", [("(np.float32(0.0), np.float32(1.0))", "(np.float32(0.0),)")]),
    "hidden-branch": ("graphs", [("step % EVERY == EVERY - 1", "False")]),
    "hidden-branch-scale": ("graphs", [("step == 9", "step == 99")]),
    "host-sync": ("family", [("step >= 5", "step >= 99")]),
    "host-sync-print": ("family", [("step >= 10", "step >= 99")]),
    "identical-rehash": ("compiles", [("range(5)", "range(1)")]),
    "kernel-fallback": ("calls", [("[64, 96]", "[64]")]),
    "last-batch": ("dims", [("range(0, EXAMPLES, BATCH)", "range(0, EXAMPLES - BATCH, BATCH)")]),
    "last-batch-eval": ("dims", [("range(0, HELD_OUT, BATCH)", "range(0, HELD_OUT - BATCH, BATCH)")]),
    "layout-change": ("layout", [("[(0, 1), (1, 0)]", "[(0, 1)]")]),
    "mask-gather": ("dims", [("[5, 5, 7, 4, 7, 9, 5]", "[5] * 7")]),
    "mask-gather-nonzero": ("dims programs", [("[6, 6, 9, 6, 11, 9]", "[6] * 6")]),
    "optimizer-scalar": ("programs", [("float(schedule(step))", "float(schedule(0))")]),
    "optimizer-scalar-bias": ("programs", [("t=t)", "t=1)")]),
    "optimizer-state-init": ("", []),
    "optional-key": ("arguments", [("step % 5 == 3", "False")]),
    "optional-key-none": ("arguments", [("turn in (3, 8)", "False")]),
    "options-drift": ("options", [("[False, True]", "[False, False]")]),
    "options-drift-flags": ("flags", []),
    "python-counter": ("programs", [("self.calls += 1", "self.calls = 1")]),
    "python-counter-key": ("programs", [("step=step)", "step=100)")]),
    "python-loop": ("graphs", [("[FIRST, FIRST, FIRST + 2, FIRST + 1, FIRST, FIRST + 5, FIRST + 2]", "[FIRST] * 7")]),
    "python-loop-layers": ("graphs", [("(2, 4, 6)", "(2,)")]),
    "rank-change": ("rank", [("requests.insert(4, requests[0][0])", "requests.insert(4, requests[0])")]),
    "rank-change-labels": ("rank", [("step in (5, 6)", "False")]),
    "shape-drift": ("dims", [("[9, 14, 11, 9, 17, 14, 20]", "[9] * 7")]),
    "shape-drift-images": ("dims", [("[(12, 16), (12, 16), (18, 16), (12, 24), (18, 16), (20, 20), (12, 16)]", "[(12, 16)] * 7")]),
    "sharding-change": ("sharding", [('PartitionSpec(("data", "model"), None)]', ']')]),
    "slice-start": ("programs", [("window * STRIDE", "0")]),
    "slice-start-tokens": ("programs", [("(0, CHUNK, 2 * CHUNK, 3 * CHUNK)", "(0,)")]),
    "static-argument": ("programs", [("[0.7, 0.7, 0.9, 1.1, 0.7, 1.3, 0.85, 0.9]", "[0.7] * 8")]),
    "static-argument-default": ("programs", [("turn == 4", "False"), ("turn == 6", "False")]),
    "topk-k": ("programs", [("[36, 36, 24, 36, 30, 24, 18]", "[36] * 7")]),
    "topk-k-sort": ("programs", [("(5, 5, 9, 5, 3, 9)", "(5,) * 6")]),
    "value-branch": ("arguments", [("step in (4, 7)", "False")]),
    "value-branch-functions": ("family", [("step == 7", "False")]),
    "varlen": ("dims", [("[[4, 7, 5], [4, 7, 5], [6, 3], [5, 5, 5, 5], [6, 3], [9, 2, 4]]", "[[4, 7, 5]] * 6")]),
    "torchtpu/baked-constant": ("programs", [("[0.7, 0.7, 0.9, 0.7, 1.3, 0.9]", "[0.7] * 6")]),
    "torchtpu/dtype-change": ("dtype", [('["float", "float", "bytes", "float", "bytes"]', '["float"] * 5')]),
    "torchtpu/hidden-branch": ("graphs", [("step >= 5", "False")]),
    "torchtpu/optional-key": ("arguments", [("step == 4", "False")]),
    "torchtpu/python-counter": ("programs", [("range(5)", "range(1)")]),
    "torchtpu/python-loop": ("graphs", [("[FIRST, FIRST, FIRST + 2, FIRST, FIRST + 5]", "[FIRST] * 5")]),
    "torchtpu/shape-drift": ("dims", [("[4, 4, 6, 4, 7, 6]", "[4] * 6")]),
    "torch_xla/grad-create-accumulate": ("arguments", [("range(3)", "range(1)")]),
    "torch_xla/host-sync": ("arguments", [("step >= 5", "False")]),
    "torch_xla/last-batch": ("dims", [("batch_size=BATCH)", "batch_size=BATCH, drop_last=True)")]),
    "torch_xla/optimizer-state-init": ("", []),
    "torch_xla/python-loop": ("graphs", [("[FIRST, FIRST, FIRST + 2, FIRST, FIRST + 5, FIRST + 2]", "[FIRST] * 6")]),
    "torch_xla/shape-drift": ("dims", [("[4, 4, 6, 5, 6, 8, 4]", "[4] * 7")]),
    "torch_xla/slice-start": ("programs", [("[12, 30, 12, 47, 30, 64]", "[12] * 6")]),
    "torch_xla/value-branch": ("graphs", [("step == 4", "False")]),
    "torchtpu/last-batch": ("dims", [("4 * BATCH + 3", "4 * BATCH")]),
    "torchtpu/slice-start": ("programs", [("[12, 30, 12, 47]", "[12] * 4")]),
    "torchtpu/topk-k": ("programs", [("[2, 2, 3, 2, 5]", "[2] * 5")]),
    "torch_xla/baked-constant": ("programs", [("[3, 3, 1, 5, 3, 2]", "[3] * 6")]),
    "torch_xla/hidden-branch": ("graphs", [("step % 4 == 3", "False")]),
    "torch_xla/optional-key": ("family", [("step in (3, 4, 7)", "False")]),
    "torch_xla/topk-k": ("programs", [("[2, 2, 3, 2, 5]", "[2] * 5")]),
    "torchtpu/rank-change": ("rank", [("[False, False, True, False, True]", "[False] * 5")]),
    "torchtpu/bundle-drift": ("bundle", []),
    "torchtpu/options-drift": ("flags", []),
    "torchtpu/capacity-leak": ("programs", [("[TOKENS, TOKENS, TOKENS - 10, TOKENS, TOKENS - 21]", "[TOKENS] * 5")]),
    "torchtpu/dim-readback": ("programs", [("[9, 9, 12, 9, 6]", "[9] * 5")]),
    "torchtpu/host-sync": ("family", [("step >= 5", "False")]),
    "torchtpu/mask-gather": ("dims programs", [("[5, 5, 7, 5, 9, 7]", "[5] * 6")]),
    "torchtpu/optimizer-scalar": ("programs", [("optimizer, 0.9)", "optimizer, 1.0)")]),
    "torchtpu/static-argument": ("graphs", [('["mean", "mean", "max", "mean", "sum", "max"]', '["mean"] * 6')]),
    "torchtpu/value-branch": ("graphs", [("step in (4, 6)", "False")]),
    "torchtpu/varlen": ("dims", [("[[4, 7, 5], [4, 7, 5], [6, 3], [4, 7, 5], [5, 5, 5, 5]]", "[[4, 7, 5]] * 5")]),
    "torchtpu/benign-readback": ("", []),
    "torchtpu/benign-training": ("", []),
    "torch_xla/dtype-change": ("dtype", [('["single", "single", "half", "single", "half"]', '["single"] * 5')]),
    "torch_xla/rank-change": ("rank", [("[False, False, True, False, True]", "[False] * 5")]),
    "torch_xla/benign-training": ("", []),
    "torch_xla/capacity-leak": ("programs", [("[TOKENS, TOKENS, TOKENS - 10, TOKENS, TOKENS - 21, TOKENS - 10, TOKENS - 33]", "[TOKENS] * 7")]),
    "torch_xla/bundle-drift": ("bundle", []),
    "torch_xla/donation-change": ("donated", [("step in (4, 7)", "False")]),
    "torch_xla/options-drift": ("flags", []),
    "torch_xla/dim-readback": ("programs", [("[9, 9, 12, 6, 12, 15]", "[9] * 6")]),
    "torch_xla/mask-gather": ("dims", [("[5, 5, 7, 4, 7, 9, 5]", "[5] * 7")]),
    "torch_xla/optimizer-scalar": ("arguments", [("1.0 - step % 5 / 4", "1.0 - step % 5 / 5")]),
    "torch_xla/python-counter": ("programs", [("self.calls += 1", "self.calls = 3")]),
    "torch_xla/static-argument": ("programs", [("[1.5, 1.5, 2.5, 3.5, 1.5, 2.25, 2.5]", "[1.5] * 7")]),
    "torch_xla/varlen": ("dims", [("[[4, 7, 5], [4, 7, 5], [6, 3], [5, 5, 5, 5], [6, 3], [9, 2, 4]]", "[[4, 7, 5]] * 6")]),
    "benign/eval-program": ("", []),
    "benign/serving-buckets": ("", []),
    "benign/several-functions": ("", []),
    "benign/warm-up": ("", []),
    "programs/equinox-field": ("programs", [("model.temperature * 0.8", "model.temperature * 1.0")]),
    "programs/flax-linen": ("dims", [("range(0, EXAMPLES, BATCH)", "range(0, EXAMPLES - BATCH, BATCH)")]),
    "programs/flax-nnx": ("dims", [("[9, 9, 14, 9, 21, 14]", "[9] * 6")]),
    "programs/hundred-thousand-operations": ("programs", [("(0.75, 0.6)", "(0.75,)")]),
    "programs/optax-injected": ("", []),
    "several/dtype-key-and-branch": ("arguments", [("other = step >= 7", "other = False")]),
    "several/shape-and-constant": ("dims", [("batch * 2 + 1, lr * 0.6", "batch, lr")]),
    "torch/baked-constant": ("programs", [("(0.1, 0.2, 0.3)", "(0.1,) * 3")]),
    "torch/closure-value": ("programs", [("(2, 3, 4)", "(2, 2, 2)")]),
    "torch/combined": ("programs", [("(4, 6, 8, 10, 12, 14)", "(4,)")]),
    "torch/default-argument": ("programs", [("(2.0,)", "(1.0,)")]),
    "torch/dim-readback": ("graph-breaks", [("int(mask.sum().item())", "3")]),
    "torch/dtype-change": ("programs", [("torch.float64", "torch.float32")]),
    "torch/global-value": ("programs", [("(2, 3, 4, 5)", "(2,) * 4")]),
    "torch/grad-mode": ("programs", [("torch.no_grad()", "torch.enable_grad()")]),
    "torch/graph-break": ("graph-breaks", [('print("half way")', "pass")]),
    "torch/hidden-branch": ("programs", [("i == 2", "False")]),
    "torch/hidden-branch-eval": ("programs", [("model.eval()", "model.train()")]),
    "torch/host-sync": ("graph-breaks", [("x.sum().item()", "x.sum()")]),
    "torch/last-batch": ("programs", [("(8, 8, 8, 3)", "(8,) * 4")]),
    "torch/late-constant": ("programs", [("range(2, 6)", "(2,) * 4")]),
    "torch/list-length": ("programs", [("(2, 3, 4)", "(2, 2, 2)")]),
    "torch/mark-dynamic-violation": ("failure", [("x * 2 if x.shape[0] == 4 else x", "x * 2")]),
    "torch/mask-gather": ("graph-breaks", [("x[mask].sum()", "torch.where(mask, x, 0.0).sum()")]),
    "torch/object-attribute": ("programs", [("(2, 5, 9)", "(2, 2, 2)")]),
    "torch/optimizer-scalar": ("programs", [("optimizer, 0.9)", "optimizer, 1.0)")]),
    "torch/optional-key": ("programs", [('step({"x": torch.ones(3), "mask": torch.ones(3)})', 'step({"x": torch.ones(3)})')]),
    "torch/page-cache-limit": ("limit programs", [("range(1, 10)", "(1,) * 9")]),
    "torch/page-dynamic-shapes": ("programs", [("fn(torch.ones(4))", "fn(torch.ones(3))")]),
    "torch/page-graph-break": ("programs", [("range(1, 5)", "(1,) * 4")]),
    "torch/page-wrapping-constants": ("programs", [("fn(torch.ones(i), 0.5 + i)", "fn(torch.ones(2), 0.5)")]),
    "torch/python-counter": ("programs", [("self.calls += 1", "self.calls = 1")]),
    "torch/python-loop": ("programs", [("(2, 3, 4)", "(2, 2, 2)")]),
    "torch/rank-change": ("programs", [("step(torch.ones(3, 4))", "step(torch.ones(3))")]),
    "torch/recompile-limit": ("limit", [("range(10)", "range(8)")]),
    "torch/requires-grad": ("programs", [("requires_grad=True", "requires_grad=False")]),
    "torch/shape-drift": ("programs", [("(4, 6, 8)", "(4, 4, 4)")]),
    "torch/static-argument": ("programs", [('("train", "valid", "test")', '("train",) * 3')]),
    "torch/stride-change": ("programs", [(".reshape(3, 3).t()", ".reshape(3, 3)")]),
    "torch/topk-k": ("programs", [("(2, 3, 4)", "(2, 2, 2)")]),
    "torch/value-branch": ("graph-breaks", [("if x.sum() > 0:", "if x.dim() > 0:")]),
    "torch/varlen": ("programs", [("([2, 6], [3, 5], [2, 2, 4])", "([2, 6],) * 3")]),
    "torch/zero-one-specialisation": ("programs", [("(4, 5, 1)", "(4, 4, 4)")]),
}


runner.LANES["torch"] = "torchtpu"  # torch.compile's scripts run there, without a plugin


class Wrong(Exception):
    pass


def load(name):
    """Scripts of torch.compile have heads of their own (tests/torch/test_traps.py); of those only the marks matter here."""
    path = runner.SCRIPTS / f"{name}.py"
    if not name.startswith("torch/"):
        return traps.load(path, runner.SCRIPTS)
    source = path.read_text()
    marks = re.sub(r"(?m)^# .*$", "", source)
    return dataclasses.replace(traps.parse(name, marks), run=""), source


def stet(build, folder, env, *words, codes=(0,)):
    done = subprocess.run([build / "bin" / "stet", *words], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    if done.returncode not in codes:
        raise Wrong(f"stet {' '.join(words[:2])}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}")
    return done.stdout


def launch(build, trap, script, folder, setting=""):
    env, done = runner.launch(build, trap, script, folder, setting)
    if done.returncode:
        raise Wrong((done.stdout + done.stderr).strip()[-400:])
    return env


def held(build, folder, env):
    return json.loads(stet(build, folder, env, "check", "--format=json", codes=(0, 1)))


def points(violation, trap, script):
    """Does it name one of the lines that the script marks?"""
    for mark in ("origin", "trigger"):
        place = violation[mark]
        if place and pathlib.Path(place["file"]).name == script.name and place["line"] in trap.lines[mark]:
            return True
    return not (trap.lines["origin"] or trap.lines["trigger"]) or violation["clause"] in ("flags", "bundle")


def try_one(build, name, keep, repeat):
    clause, edits = TRAPS[name]
    trap, source = load(name)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="stet-contract-"))
    script = folder / (pathlib.Path(name).name + ".py")
    good = source
    try:
        for old, new in edits:
            if old not in good:
                raise Wrong(f"the script has no {old!r}")
            good = good.replace(old, new)
        first, last = (trap.launches[0], trap.launches[-1]) if trap.launches else ("", "")
        script.write_text(good)
        env = launch(build, trap, script, folder, first)
        stet(build, folder, env, "contract", "init")
        for again in range(1 + repeat):
            if again:
                env = launch(build, trap, script, folder, first)
            verdict = held(build, folder, env)
            if not verdict["ok"]:
                raise Wrong(f"the good variant breaks it: {verdict['violations'][0]}")
        script.write_text(source)
        env = launch(build, trap, script, folder, last)
        verdict = held(build, folder, env)
        broken = sorted({v["clause"] for v in verdict["violations"]})
        if broken != clause.split():
            raise Wrong(f"breaks {broken}, not {clause!r}: " + "; ".join(v["family"] or "" for v in verdict["violations"]) + " " +
                        "; ".join(v["message"] for v in verdict["violations"])[:300])
        if clause and not any(points(v, trap, script) for v in verdict["violations"]):
            raise Wrong(f"no line: {verdict['violations'][0]}")
        return name, clause, verdict["violations"], ""
    except (Wrong, subprocess.TimeoutExpired) as wrong:
        return name, clause, [], str(wrong)
    finally:
        if keep:
            shutil.copytree(folder, keep / name.replace("/", "-"), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def table(outcomes, before):
    """Rows of scripts that were not run stay as they were."""
    rows = {name: line for line in before if (name := line.split(" | ")[0].removeprefix("| ")) in TRAPS}
    for name, clause, violations, wrong in outcomes:
        said = wrong and "**wrong** " + wrong.splitlines()[0][:120]
        if violations:
            v = violations[0]
            place = v["origin"] or v["trigger"]
            said = v["message"].split(";")[0][:110]
            if place:
                said += f" (`{pathlib.Path(place['file']).name}:{place['line']}`)"
        rows[name] = f"| {name} | {clause or 'nothing'} | {(said or 'nothing is wrong with it').replace('|', chr(92) + '|')} |"
    ordered = [rows[name] for name in TRAPS if name in rows]
    good = sum(" | **wrong** " not in line for line in ordered)
    return "\n".join(["| trap | breaks | says |", "|---|---|---|", *ordered, "", f"{good} of {len(ordered)} right."])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--once", action="store_true", help="the good variant is run once")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    build = args.build.resolve()
    names = args.only or list(TRAPS)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        outcomes, bad = [], 0
        for one in pool.map(lambda n: try_one(build, n, args.keep, not args.once), names):
            outcomes.append(one)
            bad += bool(one[3])
            print(f"{'wrong' if one[3] else 'right':6} {one[0]:34} {one[1]:13} {one[3]}", flush=True)
            if args.update:
                page = ROOT / "docs" / "check.md"
                runner.put(page, "table", table(outcomes, page.read_text().splitlines()))
    print(f"{len(outcomes) - bad} of {len(outcomes)} right")
    return 1 if bad or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
