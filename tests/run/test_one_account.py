"""One account of a run: what `stet run` prints live, --json-events, explain, report, top and metrics say about its
recompiles is the same: how many, of which class, harmless or not, and how long was waited.

usage: test_one_account.py BUILD_DIR ENVIRONMENTS [unittest arguments]
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, ENVS = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).absolute()
STET, EXAMPLES = str(BUILD / "bin" / "stet"), pathlib.Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = {
    "train.py": "jax",
    "traps/host-sync.py": "jax",
    "traps/python-counter.py": "jax",
    "traps/eager-storm.py": "jax",
    "traps/torch_xla/shape-drift.py": "torchxla",
    "traps/torch_xla/benign-training.py": "torchxla",
    "traps/torchtpu/shape-drift.py": "torchtpu",
    "traps/torch/combined.py": "torchtpu",
}


class Account:
    """A run, as each of the commands shows it."""

    def __init__(self, folder, script, env):
        state = os.path.join(folder, "state")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_", "XLA_", "JAX_", "PJRT_"))}
        self.env.update(STET_STATE_DIR=state, XDG_CACHE_HOME=os.path.join(folder, "cache"), PYTHONWARNINGS="ignore",
                        TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"))
        self.folder, events = folder, os.path.join(folder, "events")
        if script.startswith("traps/torch/"):
            self.env["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
        shutil.copy(EXAMPLES / script, folder)
        run = self.stet("run", "--cpu", "--no-store", f"--json-events={events}", "--",
                        str(ENVS / env / "bin" / "python"), os.path.basename(script))
        # the last block about a function counts: of two values nobody knows that they are those of a counter
        self.live = {f: c for c, f in
                     re.findall(r"^stet: ([a-z-]+)[^:\n]*: (\S+) .*(?:compiled again|in the loop)", run.stderr, re.M)}
        self.summary = run.stderr
        with open(events) as file:
            lines = [json.loads(line) for line in file]
        # a later line about the same recompile replaces the one before
        self.events = list({(e["lane"], e["process"], e["compile"], e["event"], str(e["origin"])): e for e in lines}.values())
        self.explain = json.loads(self.stet("explain", "--format=json", fine=(0, 1)).stdout)
        self.text = self.stet("explain", fine=(0, 1)).stdout
        self.report = json.loads(self.stet("report", "--format=json").stdout)["runs"][0]
        self.top = json.loads(self.stet("top", "--once", "--format=json").stdout)
        self.metrics = self.stet("metrics").stdout
        self.alarms = [r for r in self.explain["recompiles"] if not r["benign"]]

    def stet(self, *args, fine=(0,)):
        done = subprocess.run([STET, *args], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=400)
        assert done.returncode in fine, (args, done.returncode, done.stderr)
        return done

    def total(self, name, lane="xla"):
        """The sum over all labels of one lane, or of what has no lane."""
        found = re.findall(rf"^{name}\{{(.*)\}} (\S+)$", self.metrics, re.M)
        return sum(float(v) for labels, v in found if "lane=" not in labels or f'lane="{lane}"' in labels)

    def samples(self, name):
        """Sums by cause."""
        sums = collections.Counter()
        for labels, value in re.findall(rf"^{name}\{{(.*)\}} (\S+)$", self.metrics, re.M):
            sums[re.search(r'cause="([^"]*)"', labels)[1]] += float(value)
        return sums


def by_class(rows, of=lambda r: 1):
    sums = collections.Counter()
    for r in rows:
        sums[r["class"]] += of(r)
    return sums


def place(line):
    return (line["file"], line["line"]) if line and line["file"] else None


class OneAccount(unittest.TestCase):
    def check_totals(self, a):
        """Every number that has a name in more than one place: compiles, programs, seconds, executions."""
        compiles = a.explain["compiles"]
        totals, top = a.report["totals"], a.top
        self.assertEqual((totals["compiles"], top["compiles"], a.total("stet_compiles_total")), (compiles,) * 3)
        for seconds in (totals["compile_s"], top["compile_s"], a.total("stet_compile_seconds_total")):
            self.assertAlmostEqual(seconds, a.explain["compile_s"], 6)
        programs = a.explain["settled"]["programs"]
        self.assertEqual((totals["programs"], top["programs"], a.total("stet_programs")), (programs,) * 3)
        self.assertEqual((top["executions"], a.total("stet_executions_total")), (totals["executions"],) * 2)
        self.assertEqual(totals["torch_compiles"], top["torch"]["compiles"])
        self.assertAlmostEqual(totals["torch_compile_s"], top["torch"]["compile_s"], 6)
        if compiles:
            self.assertRegex(a.summary, rf"(?m)^stet: run \S+: {compiles} compiles? ")
            self.assertRegex(a.summary, rf"(?m)^stet: .*\b{programs} programs?\b")
            self.assertRegex(a.text, rf"(?m)^run \S+: {compiles} compiles?,")
            self.assertRegex(a.text, rf"(?m)^  .*\b{programs} programs?\b")

    def check_stories(self, a):
        """A story has one name, number, wait and line everywhere. The first three are in the summary too."""
        stories = [s for s in a.explain["stories"] if not s["benign"]]
        causes = [c for c in a.report["causes"] if not c["benign"]]
        key = lambda cause, times, wait, line: (cause, times, round(wait, 6), place(line))
        told = [key(s["cause"], len(s["recompiles"]), s["wait_s"], s["source"]) for s in stories]
        self.assertEqual(sorted(map(str, told)), sorted(str(key(c["class"], c["times"], c["wait_s"], c["source"])) for c in causes))
        self.assertEqual(sorted(map(str, told)), sorted(str(key(c["class"], c["times"], c["wait_s"], c)) for c in a.top["causes"]))
        lines = re.findall(r"^stet:   (\d+)× ([a-z-]+) in (.*), waited (.*?)(?: \(|$)", a.summary, re.M)
        self.assertEqual(len(lines), min(3, len(stories)), a.summary)
        for (times, cause, _, waited), story in zip(lines, stories):
            self.assertEqual((cause, int(times)), (story["cause"], len(story["recompiles"])))
            block = re.search(rf"^{cause}\b.*, waited {re.escape(waited)}(?: \(|$)", a.text, re.M)
            self.assertIsNotNone(block, a.text)
            if story["events"].get("single-operation"):
                self.assertIn(f"{times} single operation", block[0])

    def check_questions(self, a):
        """An answer counts the stories whose first cause gives it, in the same words everywhere."""
        stories = [s for s in a.explain["stories"] if not s["benign"]]
        for q in a.report["questions"]:
            mine = a.explain["questions"][q["key"]]
            self.assertEqual((mine["recompiles"], mine["beside"], mine["evidence"]), (q["recompiles"], q["beside"], q["evidence"]))
            words = [re.search(rf"^{lead}{re.escape(q['text'])} +(.*)$", text, re.M)[1] for lead, text in (("stet: ", a.summary), ("  ", a.text))
                     if q["text"] in text]
            self.assertEqual(len(set(words)), min(1, len(words)), words)
            if q["recompiles"]:
                self.assertRegex(words[0], rf"^yes, {q['recompiles']}× \({q['class']}\)")
                self.assertGreaterEqual(q["recompiles"], sum(len(s["recompiles"]) for s in stories if s["cause"] == q["class"]))
        self.assertLessEqual(sum(q["recompiles"] for q in a.report["questions"]), sum(len(s["recompiles"]) for s in stories))

    def near(self, a, b, what):
        self.assertEqual(a.keys(), b.keys(), what)
        for k in a:
            self.assertAlmostEqual(a[k], b[k], 6, f"{what}: {k}")

    def check(self, script):
        with tempfile.TemporaryDirectory(prefix="stet-account-") as folder:
            a = Account(folder, script, PROGRAMS[script])
        again = sum(r["event"] == "recompile" for r in a.alarms)
        wait = sum(r["wait_s"] for r in a.alarms)
        waits = by_class(a.alarms, lambda r: r["wait_s"])
        stories = sorted((s["cause"], len(s["recompiles"]), round(s["wait_s"], 6)) for s in a.explain["stories"] if not s["benign"])
        self.assertAlmostEqual(a.explain["wait_s"], wait, 6)
        # top
        self.assertEqual(a.top["recompiles"] + a.top["torch"]["recompiles"], again)
        self.assertAlmostEqual(a.top["wait_s"] + a.top["torch"]["wait_s"], wait, 6)
        self.assertEqual(sorted((c["class"], c["times"], round(c["wait_s"], 6)) for c in a.top["causes"]), stories)
        # metrics
        self.near(a.samples("stet_recompiles_total"), by_class(r for r in a.alarms if r["event"] == "recompile"), "metrics")
        self.near(a.samples("stet_recompile_seconds_total"), waits, "metrics, seconds")
        # report
        self.assertEqual(a.report["totals"]["recompiles"], again)
        self.assertAlmostEqual(a.report["totals"]["wait_s"], wait, 6)
        self.assertEqual(sorted((c["class"], c["times"]) for c in a.report["causes"] if not c["benign"]),
                         sorted((c, n) for c, n, _ in stories))
        # what was printed live, and the summary
        self.assertLessEqual(set(a.live.items()), {(r["function"], r["class"]) for r in a.alarms}, a.summary)
        if again:
            self.assertIn(f"{again} recompile", a.summary)
            self.assertIn(f"{again} recompile", a.text.splitlines()[0])
        self.check_totals(a)
        self.check_stories(a)
        self.check_questions(a)
        return a

    def check_events(self, a):
        """Every row of the events file is a row of explain, with the same class, flag and wait."""
        key = lambda r: (r["lane"], r["process"], r["compile"], r["event"], str(r["origin"]))
        told = {key(r): r for r in a.explain["recompiles"]}
        for e in a.events:
            r = told.pop(key(e), None)
            self.assertIsNotNone(r, e)
            self.assertEqual((e["class"], e["benign"]), (r["class"], r["benign"]), e)
            self.assertAlmostEqual(e["wait_s"], r["wait_s"], 6, e)
        self.assertEqual(list(told), [])


def one(script):
    def test(self):
        a = self.check(script)
        if script == "traps/torchtpu/shape-drift.py":  # a guard and its program are two events and one row
            self.assertLessEqual({r["class"] for r in a.alarms}, {e["class"] for e in a.events})
        else:
            self.check_events(a)
    return test


for name in PROGRAMS:
    setattr(OneAccount, "test_" + re.sub(r"\W", "_", name), one(name))

if __name__ == "__main__":
    unittest.main()
