"""Runs every trap script and its variants under Stet, and compares what `stet explain` says with what
the script's header expects.

    run.py BUILD_DIR [--only NAME…] [--seed N] [--variants N] [--keep DIR] [--verbose]
    run.py BUILD_DIR --update       also writes the table and the outputs into docs/traps
                                    (with --variants 0 the outputs alone)

An explanation is right when class, origin line, trigger line, benign or not, the number of recompiles and
the words of the fix are as expected, and nothing else raised an alarm. No entry, or `unknown`, is missed;
everything else is wrong. CTest runs each script as a test of its own: `e2e.trap.jax.shape-drift`.
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
import time
import zlib

import generate
import trap as traps

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRIPTS = ROOT / "examples" / "traps"
DOCS = ROOT / "docs" / "traps"
LANES = {"": "jax", "torchtpu": "torchtpu", "torch_xla": "torchxla"}


@dataclasses.dataclass
class Outcome:
    trap: object
    kind: str
    verdict: str = "right"
    remarks: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    text: str = ""

    def note(self, verdict, remark):
        order = ["right", "missed", "wrong", "failed"]
        self.verdict = max(self.verdict, verdict, key=order.index)
        if remark not in self.remarks:
            self.remarks.append(remark)


def python_of(trap):
    return ROOT / "build" / "env" / LANES.get(trap.lane, "jax") / "bin" / "python"


def other_build(plugin, into):
    """The same plugin as another build: only its build id differs."""
    data = bytearray(plugin.read_bytes())
    at = data.find(b"\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00")
    assert at > 0, "the plugin has no build id"
    data[at + 16] ^= 0xFF
    path = into / plugin.name
    path.write_bytes(data)
    return path


def other_libraries(build, folder):
    """What `--cpu` brings (TorchTPU has no device without it), its plugin as another build."""
    libraries = folder / "lib"
    shutil.copytree(build / "lib" / "stet", libraries / "stet")
    shutil.copy2(build / "lib" / "libstet.so", libraries)
    other_build(build / "lib" / "libstet_cpu.so", libraries)
    return libraries


def launch(build, trap, script, folder, setting):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "PJRT_", "TPU_", "STET_"))}
    env.update(STET_STATE_DIR=str(folder / "state"), STET_CPU_THREADS="1", PYTHONWARNINGS="ignore", NO_COLOR="1")
    env["STET_STORE"] = str(folder / "store")  # what earlier runs left is not served
    # TorchTPU keeps executables in it, by keys that know nothing of flags: a launch has its own, as in a new container.
    env["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "torch-cache")
    shutil.rmtree(folder / "torch-cache", ignore_errors=True)
    key, _, value = setting.partition("=")
    cpu = ["--cpu"] if trap.run == "cpu" else []
    if key == "plugin" and trap.lane == "torchtpu":
        if value == "rebuilt":
            env["STET_LIB_DIR"] = str(other_libraries(build, folder))
    elif key == "plugin":
        plugin = build / "lib" / "libstet_cpu.so"
        if value == "rebuilt":
            plugin = other_build(plugin, folder)
        env.update(PJRT_NAMES_AND_LIBRARY_PATHS=f"stet:{plugin}", JAX_PLATFORMS="stet")
        env.update(PJRT_LIBRARY_PATH=str(plugin), PJRT_DEVICE="LIBRARY")  # PyTorch/XLA's way
        cpu = []
    elif key:
        env[key] = value
    run = [build / "bin" / "stet", "run", "--quiet", *cpu, "--", python_of(trap), script.name]
    return env, subprocess.run(run, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def count_compiles(outcome, build, folder, env):
    """Whether the script provokes what it should, without asking why."""
    show = subprocess.run([build / "bin" / "stet", "show", "--format=json"], cwd=folder, env=env, capture_output=True,
                          text=True, timeout=60, check=True)
    names = [c["name"].removeprefix("jit_") for p in json.loads(show.stdout)["processes"] for c in p["compiles"]]
    trap = outcome.trap
    if trap.function and not trap.launches and names.count(trap.function) != trap.least + 1:
        outcome.note("wrong", f"{names.count(trap.function)} compiles of {trap.function}")


def try_one(build, name, source, kind, keep, count_only):
    trap = traps.parse(name, source)
    outcome = Outcome(trap, kind)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="stet-trap-"))
    script = folder / (pathlib.Path(name).name + ".py")
    script.write_text(source)
    began = time.monotonic()
    try:
        for setting in trap.launches or [""]:
            env, done = launch(build, trap, script, folder, setting)
            if done.returncode:
                outcome.note("failed", (done.stdout + done.stderr).strip()[-600:])
                return outcome
        if count_only:
            count_compiles(outcome, build, folder, env)
            return outcome
        explain = [build / "bin" / "stet", "explain"]
        said = subprocess.run([*explain, "--format=json"], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
        if said.returncode not in (0, 1):
            outcome.note("failed", "stet explain: " + said.stderr.strip()[-300:])
            return outcome
        outcome.seconds = time.monotonic() - began
        judge(outcome, json.loads(said.stdout), script)
        if kind == "original":
            outcome.text = subprocess.run(explain, cwd=folder, env=env, capture_output=True, text=True, timeout=60).stdout
    except subprocess.TimeoutExpired as late:
        outcome.note("failed", f"still running after {late.timeout} s")
    finally:
        if keep:
            shutil.copytree(folder, keep / name.replace("/", "-") / kind, ignore=shutil.ignore_patterns("store"),
                            dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def judge(outcome, explained, script):
    trap = outcome.trap
    mine, strays = [], []
    for r in explained["recompiles"]:
        named = (r.get("function") or "").removeprefix("jit_")
        at = (r.get("trigger") or {}).get("line")
        if trap.launches and not trap.function and r["class"] == trap.id and at not in trap.lines["trigger"]:
            continue  # PyTorch/XLA's graphs have no names: another one's, of the same cause
        if not trap.function or named == trap.function:
            mine.append(r)
        elif not r["benign"] and not (trap.launches and r["class"] == trap.id):
            strays.append(r)  # between launches every function has the same cause
    if trap.id == "none":
        strays = [r for r in mine + strays if not r["benign"]]
        mine = []
    elif not trap.benign:
        mine = [r for r in mine if not r["benign"]]
    for r in strays:
        outcome.note("wrong", f"alarm for {r['function']}: {r['class']}")
    if len(mine) < trap.least:
        outcome.note("missed", f"{len(mine)} of {trap.least} recompiles")
    elif len(mine) > trap.most:
        outcome.note("wrong", f"{len(mine)} recompiles instead of {trap.most}")
    for r in mine:
        judge_one(outcome, trap, r, script)


def judge_one(outcome, trap, r, script):
    classes = {r["class"], *r.get("also", [])}
    if r["class"] == "unknown":
        outcome.note("missed", "unknown")
    elif classes != trap.classes:
        outcome.note("wrong", "class " + " + ".join(sorted(classes)))
    for mark in ("origin", "trigger"):
        place = r.get(mark)
        if not trap.lines[mark]:
            continue
        if not place or not place.get("line"):
            outcome.note("missed", f"no {mark}")
        elif pathlib.Path(place["file"]).name != script.name or place["line"] not in trap.lines[mark]:
            wanted = ", ".join(str(n) for n in sorted(trap.lines[mark]))
            outcome.note("wrong", f"{mark} {pathlib.Path(place['file']).name}:{place['line']}, not {wanted}")
    if r["benign"] != trap.benign:
        outcome.note("wrong", "benign" if r["benign"] else "not benign")
    fix = (r.get("fix") or "").lower()
    for word in trap.fix:
        if word.lower() not in fix:
            outcome.note("wrong", f"fix without {word!r}: {r.get('fix')}")


def kinds_for(trap, wanted, turn):
    """Unless a number is asked for: each kind for the script that bears a trap's name in its lane, one for
    its other forms; with `turn`, one for each script, the kinds by turns."""
    kinds = generate.KINDS
    if not trap.variants:
        return []
    if turn:
        return [kinds[zlib.crc32(trap.name.encode()) % len(kinds)]]
    if wanted is None:
        wanted = 3 if trap.name.split("/")[-1] == trap.id and trap.lane in LANES else 1
        kinds = kinds[-wanted:]
    return [kinds[n % len(kinds)] for n in range(wanted)]


def work_list(args):
    for path in sorted(SCRIPTS.rglob("*.py")):
        if path.parent.name == "torch":  # torch.compile's: tests/torch/test_traps.py
            continue
        trap, source = traps.load(path, SCRIPTS)
        if args.only and trap.name not in args.only:
            continue
        yield trap.name, source, "original"
        for n, kind in enumerate(kinds_for(trap, args.variants, args.one_variant)):
            yield trap.name, generate.variant(source, kind, args.seed + n // len(generate.KINDS)), kind


HEAD = ["| script | class | runs | right | missed | wrong |", "|---|---|---|---|---|---|"]
ROW = re.compile(r"\| (?:\[([^\]]+)\]\([^)]*\)|([^|]+)) \| [^|]* \| (\d+) \| (\d+) \| \d+ \| \d+ \|")


def row(of):
    trap = of[0].trap
    count = lambda *v: sum(o.verdict in v for o in of)
    page = f"[{trap.name}]({trap.id}.md)" if (DOCS / f"{trap.id}.md").exists() else trap.name
    classes = " + ".join([trap.id, *trap.also]) if trap.id != "none" else "no alarm"
    return f"| {page} | {classes} | {len(of)} | {count('right')} | {count('missed')} | {count('wrong', 'failed')} |"


def table(outcomes, before=()):
    """Rows of scripts that were not run stay as they were."""
    rows = {}
    for line in [*before, *(row([o for o in outcomes if o.trap.name == n]) for n in {o.trap.name for o in outcomes})]:
        match = ROW.match(line)
        if match and (SCRIPTS / ((match[1] or match[2]) + ".py")).exists():
            rows[match[1] or match[2]] = (line, int(match[3]), int(match[4]))
    ordered = [rows[n] for n in sorted(rows, key=lambda n: (n.count("/"), n))]
    total = f"{sum(r[2] for r in ordered)} of {sum(r[1] for r in ordered)} right."
    return "\n".join([*HEAD, *(r[0] for r in ordered), "", total])


def put(path, mark, text):
    page = path.read_text()
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    assert begin in page and end in page, f"{path} has no place for {mark}"
    path.write_text(page[: page.index(begin) + len(begin)] + text + "\n" + page[page.index(end) :])


def tidy(text):
    text = re.sub(r"(?:/\S*/)?stet-trap-\w+/", "", text)
    return "```\n" + text.strip() + "\n```"


def update(outcomes, counts):
    before = (DOCS / "README.md").read_text().splitlines()
    if counts:
        put(DOCS / "README.md", "table", table(outcomes, before))
    for o in outcomes:
        page = DOCS / (o.trap.id + ".md")
        if o.kind == "original" and page.exists() and o.trap.name == o.trap.id:
            put(page, "output", tidy(o.text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variants", type=int, help="of each script; 3 of the main ones and 1 of the rest by default")
    parser.add_argument("--one-variant", action="store_true", help="of each script, the kinds by turns")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--count", action="store_true", help="only check how often each script compiles")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    build = args.build.resolve()
    work = list(work_list(args))
    if unknown := set(args.only) - {name for name, _, _ in work}:
        parser.error("no such trap: " + " ".join(sorted(unknown)))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(lambda w: try_one(build, *w, args.keep, args.count), work))
    for o in outcomes:
        print(f"{o.verdict:7} {o.trap.name:28} {o.kind:11} {o.seconds:5.1f} s  " + "; ".join(o.remarks), flush=True)
    print()
    print(table(outcomes))
    if args.update:
        update(outcomes, args.variants != 0)
    return 0 if outcomes and all(o.verdict == "right" for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
