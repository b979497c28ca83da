"""Compiles that did not happen, by line: explain, report, top and metrics give the same numbers, and
a family that is not lifted any more has a line in the summary.

usage: test_avoided.py BUILD PYTHON"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
STET = BUILD / "bin" / "stet"
SCRIPT = """\
import jax
import jax.numpy as jnp

x = jnp.ones((8, 8))


def scaled(k):
    return jax.jit(lambda v: jnp.tanh(v @ v * k))


def refused(k):
    def summed(v):
        return jax.lax.reduce(v, jnp.float32(k), jax.lax.add, (0, 1))

    return jax.jit(summed)


def printing(k):
    def printed(v):
        jax.debug.callback(lambda u: None, v)
        return v * k

    return jax.jit(printed)


def searching(k):
    return jax.jit(lambda v: jax.lax.while_loop(lambda u: u[0, 0] < k, lambda u: u + 1, v))


for k in (1.5, 2.5, 3.5, 4.5):
    scaled(k)(x).block_until_ready()
for k in (1.0, 2.0, 3.0):
    refused(k)(x)
for k in (1.0, 2.0, 3.0):
    searching(k)(x)
for k in (1.0, 2.0):
    printing(k)(x)
jax.clear_caches()
scaled(1.5)(x)
"""
SCALED = SCRIPT.splitlines().index("    scaled(k)(x).block_until_ready()") + 1
AGAIN = SCRIPT.splitlines().index("scaled(1.5)(x)") + 1
PRINTED = SCRIPT.splitlines().index("    printing(k)(x)") + 1
REFUSED = SCRIPT.splitlines().index("    refused(k)(x)") + 1


class Avoided(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.script = cls.folder / "sweep.py"
        cls.script.write_text(SCRIPT)
        cls.environment = dict(os.environ, STET_STATE_DIR=str(cls.folder / "state"),
                               STET_STORE=str(cls.folder / "store"))
        cls.environment.pop("STET_LIFT", None)
        cls.said, cls.counts, cls.ids = [], [], []
        for _ in range(2):  # the second run finds the first one's executables in the store
            cls.said.append(cls.call("run", "--cpu", "--lift", "--", PYTHON, cls.script).stderr)
            cls.ids.append(re.search(r"stet: run (\S+):", cls.said[-1]).group(1))
            cls.counts.append(json.loads(cls.call("explain", "--format=json").stdout))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def call(cls, *arguments):
        done = subprocess.run([STET, *arguments], env=cls.environment, cwd=cls.folder,
                              capture_output=True, text=True, timeout=500, check=False)
        if done.returncode not in (0, 1):
            raise AssertionError(done.stdout + done.stderr)
        return done

    def line(self, counts, number):
        return next(l for l in counts["avoided"]["lines"]
                    if l["file"] == str(self.script) and l["line"] == number)

    def test_lifted_compiles_belong_to_their_line(self):
        first, second = (self.line(c, SCALED)["by"] for c in self.counts)
        self.assertEqual(first["lifted"]["compiles"], 2)
        self.assertEqual((second["lifted"]["compiles"], second["disk"]["compiles"]), (3, 1))
        for by in (first, second):
            self.assertEqual(by["lifted"]["known"], by["lifted"]["compiles"])
            self.assertGreater(by["lifted"]["instead_of_s"], 0)
        self.assertGreater(second["disk"]["instead_of_s"], 0)

    def test_programs_from_memory_belong_to_their_line(self):
        for counts in self.counts:
            by = self.line(counts, AGAIN)["by"]
            self.assertEqual({k: b["compiles"] for k, b in by.items() if b["compiles"]}, {"memory": 1})
            self.assertEqual(by["memory"]["known"], 1)
            self.assertGreater(by["memory"]["instead_of_s"], 0)

    def test_the_lines_add_up(self):
        for counts in self.counts:
            avoided, lines = counts["avoided"], counts["avoided"]["lines"]
            for key in ("compiles", "known"):
                self.assertEqual(sum(l[key] for l in lines), avoided[key])
                self.assertEqual(sum(b[key] for b in avoided["by"].values()), avoided[key])
            served = collections.Counter()
            shown = json.loads(self.call("show", counts["run"], "--format=json").stdout)
            for process in shown["processes"]:
                served.update(c["served"] for c in process["compiles"] if c["served"] != "compiled")
            self.assertEqual({k: b["compiles"] for k, b in avoided["by"].items()}, dict(served))

    def test_compiles_for_comparing_are_counted(self):
        for counts, said in zip(self.counts, self.said):
            self.assertEqual(counts["lifting"]["plain"], 1)
            self.assertEqual(counts["lifting"]["plain_s"], counts["lifting"]["plain_waited_s"])
            self.assertIn("stet: 1 lifted program was compiled as it is too, to compare results: ", said)

    def test_report_and_top_give_the_same(self):
        for counts, run in zip(self.counts, self.ids):
            report = json.loads(self.call("report", "--format=json", run).stdout)
            self.assertEqual(report["runs"][0]["not_compiled"]["avoided"], counts["avoided"])
            top = json.loads(self.call("top", "--format=json", "--once", run).stdout)
            self.assertEqual(top["avoided"], counts["avoided"])
            self.assertEqual(top.get("unlifted"), counts.get("unlifted"))
        page = self.call("top", "--once", self.ids[1]).stdout
        self.assertRegex(page, rf"\n +3 +1 +0 .*sweep\.py:{SCALED}\n")

    def test_metrics_give_the_same(self):
        for counts, run in zip(self.counts, self.ids):
            found = collections.defaultdict(dict)
            text = self.call("metrics", run).stdout
            for name, line, by, value in re.findall(
                    r'^stet_(\w+)_total\{run="[^"]*",line="([^"]*)",by="(\w+)"\} (\S+)$', text, re.M):
                found[line, by][name] = float(value)
            for line in counts["avoided"]["lines"]:
                place = f"{line['file']}:{line['line']}" if line["line"] else "unknown"
                for by, sums in line["by"].items():
                    self.assertEqual(found[place, by]["avoided_compiles"], sums["compiles"])
                    self.assertAlmostEqual(found[place, by]["avoided_seconds"], sums["instead_of_s"])
                    self.assertAlmostEqual(found[place, by]["serving_seconds"], sums["took_s"])
            self.assertEqual(sum(v["avoided_compiles"] for v in found.values()),
                             counts["avoided"]["compiles"])

    def test_text_names_the_line(self):
        text = self.call("explain", "--all", self.ids[1]).stdout
        self.assertRegex(text, rf"\n    sweep\.py:{SCALED}: 3 lifted, 1 from disk: \S+ \S+ ")

    def test_a_family_that_is_not_lifted_is_named(self):
        why = {"summed": (REFUSED, "the value is the initial one of a reduction"),
               "printed": (PRINTED, "a callback into this process")}
        self.assertEqual(self.counts[0]["unlifted"], [
            {"function": name, "file": str(self.script), "line": line, "why": reason} for name, (line, reason) in why.items()])
        for name, (line, reason) in why.items():
            self.assertIn(f"stet: {name} (sweep.py:{line}) is not lifted, so each of its programs is compiled: {reason}\n",
                          self.said[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
