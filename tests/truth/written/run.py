"""Runs the written programs and their clean twins under Stet, and prints a table of what was said.

    run.py BUILD_DIR ENVIRONMENTS [--programs DIR] [--only PROGRAM]… [--strict] [--kinds] [--keep DIR | --again DIR]

--programs: a folder of the same layout (README.md), instead of this one.
--keep: what the programs left (sources, recordings) stays there. --again: explain such recordings again, without
running a program; what `stet run` printed is not judged then.
--strict: exit 1 unless each planted cause is named with its line and its function, nothing else is alarmed, and
the four outputs agree. Without it the exit is 1 only if a program or Stet fails.
--kinds: also print how often each cause, and each kind of line to edit, was right.
"""
import argparse
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 600
SUMMARY = re.compile(r"^stet:   \d+× (\S+?)(?: and \S+)?(?:, \S+)* in .*?, (\S+):(\d+), waited", re.M)
EAGER = re.compile(r"tt_jit_\w+_L\d+C\d+_")  # TorchTPU without torch.compile: file, line, function, operation
MARKDOWN = re.compile(r"^\| \d+ \| `([\w-]+)`[^|]*\|[^|]*\| (\S+):(\d+) \|", re.M)


class Failed(Exception):
    """A program, or Stet, did not end as it should."""


class Said:
    """What the outputs of one run report; only what is not harmless."""

    def __init__(self, folder, clean, work, args):
        self.truth = json.loads((folder / "truth.json").read_text())
        self.source = work / "src"
        if args.again:
            for ledger in (work / "state").glob("ledger.db*"):
                ledger.unlink()
        else:
            self.source.mkdir(parents=True)
            for file in [*folder.glob("*.py"), *(folder.glob("clean/*.py") if clean else [])]:
                shutil.copy(file, self.source)
        self.env = dict(os.environ, STET_STATE_DIR=str(work / "state"), STET_STORE="off",
                        TORCHINDUCTOR_CACHE_DIR=str(work / "inductor"), PYTHONDONTWRITEBYTECODE="1")
        if self.truth.get("plain"):
            self.env["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # torch.compile alone, without a device's package
        self.stet = args.build / "bin" / "stet"
        said = "" if args.again else self.run(args.environments / self.truth["env"] / "bin" / "python")
        self.all = json.loads(self.ask("explain", "--format=json"))["stories"]
        self.stories = [s for s in self.all if not s["benign"]]
        report = json.loads(self.ask("report", "--format=json"))["runs"][0]
        told = {place(s) for s in self.stories}
        self.texts = {"run": {(c, name(f), int(n)) for c, f, n in SUMMARY.findall(said)},
                      "markdown": {(c, name(f), int(n)) for c, f, n in
                                   MARKDOWN.findall(self.ask("explain", "--export=markdown").replace("\\_", "_"))},
                      "report": {place(s) for s in report["causes"] if not s["benign"]}}
        # The summary of `stet run` has the most expensive stories alone.
        self.differ = [k for k, v in self.texts.items() if v - told or (k != "run" and told - v)]
        self.live = said.count("compiled again")

    def run(self, python):
        cpu = [] if self.truth.get("plain") else ["--cpu"]
        ended = self.call("run", *cpu, "--", python, self.truth["command"])
        if ended.returncode:
            raise Failed(ended.stderr)
        return ended.stderr

    def ask(self, *command):
        ended = self.call(*command)
        if ended.returncode not in (0, 1):
            raise Failed(ended.stderr)
        return ended.stdout

    def call(self, *command):
        try:
            return subprocess.run([self.stet, *command], cwd=self.source, env=self.env, capture_output=True, text=True,
                                  timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed(f"took longer than {LIMIT} s: {' '.join(map(str, command))}") from None

    def lines(self, planted):
        wanted = [spec.split(": ", 1) for spec in planted["lines"]]
        found = {(file, n) for file, text in wanted
                 for n, line in enumerate((self.source / file).read_text().splitlines(), 1) if line.strip() == text}
        assert len(found) >= len(wanted), planted
        return found


def name(path):
    return path.replace("\\_", "_").rsplit("/", 1)[-1]  # Markdown escapes it


def place(story):
    at = story["source"] or story["origin"] or story["trigger"] or {"file": "", "line": 0}
    return story.get("cause") or story["class"], name(at["file"]), at["line"]


def plain(function):
    """JAX names the program of a lambda `_lambda`."""
    return {"_lambda": "<lambda>"}.get(function, function).rsplit(".", 1)[-1]


def judge(said):
    """A row for each planted cause, and the stories that belong to none."""
    rows, left = [], list(said.stories)
    for planted in said.truth["planted"]:
        named = [s for s in said.all if {s["cause"], *s["also"]} & set(planted["causes"])]
        right = [s for s in named if place(s)[1:] in said.lines(planted)]
        story = (right or named or [None])[0]
        left = [s for s in left if s not in named]
        functions = {plain(f) for f in planted["functions"]}
        # PyTorch/XLA's graphs have no function's name.
        known = story and (functions & {plain(f) for f in story["functions"]} or
                           any(f"_{name}_" in f for f in story["functions"] if EAGER.match(f) for name in functions) or
                           story["functions"] == ["SyncTensorsGraph"])
        rows.append({"planted": planted["causes"][0], "class": story and story["cause"], "line": bool(right),
                     "said": story and "{1}:{2}".format(*place(story)), "function": bool(known),
                     "sure": story and story["confidence"] + (", harmless" if story["benign"] else "")})
    return rows, ["{0} {1}:{2}".format(*place(s)) for s in left]


class Count:
    """How often something was right."""

    def __init__(self):
        self.right, self.all = 0, 0

    def add(self, right):
        self.right, self.all = self.right + bool(right), self.all + 1

    def __str__(self):
        return f"{self.right} of {self.all}" + (f" ({100 * self.right / self.all:.1f} %)" if self.all else "")


def kind_of(source, story):
    """What the line to edit is: the statement that begins there, or the call that waits."""
    _, file, line = place(story)
    trigger = story["trigger"] or {"file": "", "line": 0}
    if (file, line) == (name(trigger["file"]), trigger["line"]):
        return "the waiting call"
    try:
        found = [n for n in ast.walk(ast.parse((source / file).read_text())) if isinstance(n, ast.stmt) and n.lineno == line]
    except (OSError, SyntaxError):
        found = []
    return type(found[0]).__name__ if found else "other"


class Tally:
    """The figures below the table."""

    def __init__(self):
        self.rows, self.causes = Count(), Count()
        self.sure = {word: Count() for word in ("certain", "likely", "guess", "none")}
        self.stories = {word: Count() for word in self.sure}
        self.kinds = {}
        self.extra, self.alarmed, self.failed, self.wrong = 0, 0, 0, False

    def add(self, said, rows, beside, twin):
        for r in rows:
            self.rows.add(r["line"] and r["function"])
            self.causes.add(r["class"])
            if r["class"]:
                self.sure[r["sure"].split(",")[0]].add(r["line"])
        # Of everything that was reported, also what was not planted.
        for story in said.stories:
            right = any({story["cause"], *story["also"]} & set(p["causes"]) and place(story)[1:] in said.lines(p)
                        for p in said.truth["planted"])
            self.stories[story["confidence"]].add(right)
            for kind in (story["cause"], kind_of(said.source, story)):
                self.kinds.setdefault((kind, story["confidence"]), Count()).add(right)
        self.extra, self.alarmed = self.extra + bool(beside), self.alarmed + (twin != "quiet")
        self.wrong |= bool(beside or said.differ) or twin != "quiet" or not all(r["line"] and r["function"] for r in rows)

    def print_kinds(self):
        print("\ncause and line right, by cause and by kind of line:")
        for (kind, word), count in sorted(self.kinds.items()):
            print(f"  {kind:24} {word:8} {count}")

    def print(self):
        print(f"\ncause, line and function: {self.rows}; the cause: {self.causes}; programs with another alarm: "
              f"{self.extra}; clean twins alarmed: {self.alarmed}" + (f"; FAILED: {self.failed}" if self.failed else ""))
        print("calibration, cause and line right (planted causes; all that was reported):")
        for word, count in self.sure.items():
            if count.all or self.stories[word].all:
                print(f"  {word:8} {count}; {self.stories[word]}")


def compare(title, folder, work, args, tally):
    """Runs a program and its twin, prints their rows and counts them."""
    drift, clean = Said(folder, False, work / "drift", args), Said(folder, True, work / "clean", args)
    rows, beside = judge(drift)
    alarms = ["{0} {1}:{2}".format(*place(s)) for s in clean.stories]
    twin = ", ".join(alarms) or (f"{clean.live} live" if clean.live else "quiet")
    for i, r in enumerate(rows):
        line = "right" if r["line"] else r["said"] or "-"
        print(f"| {title} | {r['planted']} | {r['class'] or 'missed'} | {line} | "
              f"{'right' if r['function'] else '-'} | {r['sure'] or '-'} | {'' if i else ', '.join(beside)} | "
              f"{'' if i else twin} | {'' if i else ', '.join(drift.differ) or 'agree'} |", flush=True)
    tally.add(drift, rows, beside, twin)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("environments", type=lambda p: pathlib.Path(p).absolute())
    parser.add_argument("--programs", type=lambda p: pathlib.Path(p).resolve(), default=HERE)
    parser.add_argument("--only", action="append")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--keep", type=lambda p: pathlib.Path(p).absolute())
    parser.add_argument("--again", type=lambda p: pathlib.Path(p).absolute())
    args = parser.parse_args()
    tally = Tally()
    print("| program | planted | class | line | function | confidence | beside it | clean twin | outputs |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for folder in sorted(f.parent for f in args.programs.rglob("truth.json")):
        title = str(folder.relative_to(args.programs))
        if args.only and title not in args.only:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                compare(title, folder, (args.again or args.keep or pathlib.Path(scratch)) / title, args, tally)
            except Failed as failure:
                print(f"{title} failed:\n{failure}", file=sys.stderr)
                tally.failed += 1
    tally.print()
    if args.kinds:
        tally.print_kinds()
    sys.exit(bool(tally.failed or not tally.rows.all or (args.strict and tally.wrong)))


if __name__ == "__main__":
    main()
