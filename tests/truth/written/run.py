"""Runs the written programs and their clean twins under Stet, and prints a table of what was said.

    run.py BUILD_DIR ENVIRONMENTS [--only PROGRAM]… [--strict] [--keep DIR]

--strict: exit 1 unless each planted cause is named with its line and its function, nothing else is alarmed, and
the four outputs agree. Without it the exit is 1 only if a program or Stet fails.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = re.compile(r"^stet:   \d+× (\S+?)(?: and \S+)?(?:, \S+)* in .*?, (\S+):(\d+), waited", re.M)
MARKDOWN = re.compile(r"^\| \d+ \| `([\w-]+)`[^|]*\|[^|]*\| (\S+):(\d+) \|", re.M)


class Said:
    """What the outputs of one run report; only what is not harmless."""

    def __init__(self, folder, clean, work, args):
        self.truth = json.loads((folder / "truth.json").read_text())
        self.source = work / "src"
        self.source.mkdir(parents=True)
        for file in [*folder.glob("*.py"), *(folder.glob("clean/*.py") if clean else [])]:
            shutil.copy(file, self.source)
        self.env = dict(os.environ, STET_STATE_DIR=str(work / "state"), STET_STORE="off",
                        TORCHINDUCTOR_CACHE_DIR=str(work / "inductor"), PYTHONDONTWRITEBYTECODE="1")
        if self.truth.get("plain"):
            self.env["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # torch.compile alone, without a device's package
        self.stet = args.build / "bin" / "stet"
        python = args.environments / self.truth["env"] / "bin" / "python"
        cpu = [] if self.truth.get("plain") else ["--cpu"]
        run = self.ask("run", *cpu, "--", python, self.truth["command"])
        if run.returncode:
            raise SystemExit(f"{folder.name} failed:\n{run.stderr}")
        self.all = json.loads(self.ask("explain", "--format=json").stdout)["stories"]
        self.stories = [s for s in self.all if not s["benign"]]
        report = json.loads(self.ask("report", "--format=json").stdout)["runs"][0]
        told = {place(s) for s in self.stories}
        self.texts = {"run": {(c, name(f), int(n)) for c, f, n in SUMMARY.findall(run.stderr)},
                      "markdown": {(c, name(f), int(n)) for c, f, n in
                                   MARKDOWN.findall(self.ask("explain", "--export=markdown").stdout)},
                      "report": {place(s) for s in report["causes"] if not s["benign"]}}
        # The summary of `stet run` has the most expensive stories alone.
        self.differ = [k for k, v in self.texts.items() if v - told or (k != "run" and told - v)]
        self.live = run.stderr.count("compiled again")

    def ask(self, *command):
        return subprocess.run([self.stet, *command], cwd=self.source, env=self.env, capture_output=True, text=True)

    def lines(self, planted):
        wanted = [spec.split(": ", 1) for spec in planted["lines"]]
        found = {(file, n) for file, text in wanted
                 for n, line in enumerate((self.source / file).read_text().splitlines(), 1) if line.strip() == text}
        assert len(found) >= len(wanted), planted
        return found


def name(path):
    return path.rsplit("/", 1)[-1]


def place(story):
    at = story["source"] or story["origin"] or story["trigger"] or {"file": "", "line": 0}
    return story.get("cause") or story["class"], name(at["file"]), at["line"]


def plain(function):
    return function.rsplit(".", 1)[-1]


def judge(said):
    """A row for each planted cause, and the stories that belong to none."""
    rows, left = [], list(said.stories)
    for planted in said.truth["planted"]:
        named = [s for s in said.all if {s["cause"], *s["also"]} & set(planted["causes"])]
        lines = said.lines(planted)
        right = [s for s in named if place(s)[1:] in lines]
        story = (right or named or [None])[0]
        left = [s for s in left if s not in named]
        functions = {plain(f) for f in planted["functions"]}
        # PyTorch/XLA's graphs have no function's name.
        known = story and (functions & {plain(f) for f in story["functions"]} or
                           story["functions"] == ["SyncTensorsGraph"])
        rows.append({"planted": planted["causes"][0], "class": story and story["cause"], "line": bool(right),
                     "said": story and "{1}:{2}".format(*place(story)), "function": bool(known),
                     "sure": story and story["confidence"] + (", harmless" if story["benign"] else "")})
    return rows, ["{0} {1}:{2}".format(*place(s)) for s in left]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("environments", type=lambda p: pathlib.Path(p).absolute())
    parser.add_argument("--only", action="append")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--keep", type=lambda p: pathlib.Path(p).absolute())
    args = parser.parse_args()
    folders = sorted(f.parent for f in HERE.rglob("truth.json"))
    count, good, alarmed, extra = 0, 0, 0, 0
    wrong = False
    print("| program | planted | class | line | function | confidence | beside it | clean twin | outputs |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for folder in folders:
        title = str(folder.relative_to(HERE))
        if args.only and title not in args.only:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            work = (args.keep or pathlib.Path(scratch)) / title
            drift, clean = Said(folder, False, work / "drift", args), Said(folder, True, work / "clean", args)
            rows, beside = judge(drift)
        alarms = ["{0} {1}:{2}".format(*place(s)) for s in clean.stories]
        twin = ", ".join(alarms) or (f"{clean.live} live" if clean.live else "quiet")
        for i, r in enumerate(rows):
            line = "right" if r["line"] else r["said"] or "-"
            print(f"| {title} | {r['planted']} | {r['class'] or 'missed'} | {line} | "
                  f"{'right' if r['function'] else '-'} | {r['sure'] or '-'} | {'' if i else ', '.join(beside)} | "
                  f"{'' if i else twin} | {'' if i else ', '.join(drift.differ) or 'agree'} |", flush=True)
            count, good = count + 1, good + (r["line"] and r["function"])
        extra, alarmed = extra + bool(beside), alarmed + (twin != "quiet")
        wrong |= bool(beside or drift.differ) or twin != "quiet" or not all(r["line"] and r["function"] for r in rows)
    print(f"\ncause, line and function: {good} of {count}; programs with another alarm: {extra}; "
          f"clean twins alarmed: {alarmed}")
    sys.exit(args.strict and wrong)


if __name__ == "__main__":
    main()
