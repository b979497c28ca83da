"""Facts about explanations of a real run: live, at its end, afterwards, and between launches.

usage: test_explain.py BUILD_DIR PYTHON_WITH_JAX [unittest arguments]
"""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
PYTHON = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "train.py")

RANKS = """
import os
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def train_step(weights, batch):
    return weights - 0.1 * jnp.mean(jnp.tanh(batch) * weights)


@jax.jit
def norm(weights):
    return jnp.sqrt(jnp.sum(weights * weights))


weights = np.ones(4, np.float32)
for step in range(6):
    rows = 16 if step % 3 == 2 else 8
    if os.environ["RANK"] == "1" and step == 4:
        rows = 12
    weights = train_step(weights, np.ones((rows, 4), np.float32))
    if os.environ["RANK"] == "0" and step == 3:
        norm(weights)
"""


EVALUATES = """
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w - 0.1 * jnp.mean(x * w)


@jax.jit
def evaluate(w, x):
    return jnp.sum(w * x)


w = np.ones(4, np.float32)
for i in range(30):
    w = step(w, np.ones((8, 4), np.float32))
    if i % 10 == 9:
        float(evaluate(w, np.ones((8, 4), np.float32)))
"""


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="stet-explain-")
        shutil.copy(SCRIPT, cls.dir)
        cls.env = dict(os.environ, STET_STATE_DIR=os.path.join(cls.dir, "state"),
                       STET_STORE=os.path.join(cls.dir, "store"), NO_COLOR="1")
        for name in ("JAX_PLATFORMS", "PJRT_DEVICE", "PJRT_NAMES_AND_LIBRARY_PATHS", "XLA_FLAGS", "STET_LEDGER"):
            cls.env.pop(name, None)
        cls.run_out = cls.stet("run", "--cpu", "--json-events", "events.jsonl", "--", PYTHON, "train.py")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir, ignore_errors=True)

    @classmethod
    def stet(cls, *args, **env):
        return subprocess.run([STET, *args], cwd=cls.dir, env=dict(cls.env, **env), capture_output=True, text=True,
                              timeout=120)

    def explained(self, *args, **env):
        out = self.stet("explain", "--format=json", *args, **env)
        self.assertEqual(out.returncode, 1, out.stderr)
        return json.loads(out.stdout), out.stderr

    def causes(self, explained):
        return [(r["class"], r["origin"]["line"], r["trigger"]["line"], r["step"]) for r in explained["recompiles"]]

    WANTED = [("last-batch", 17, 44, 2), ("static-argument", 28, 44, 3), ("static-argument", 28, 44, 5),
              ("hidden-branch", 21, 44, 6), ("last-batch", 17, 44, 8)]

    def test_the_three_traps_are_named_with_their_lines_and_steps(self):
        explained, _ = self.explained()
        self.assertEqual(explained["schema"], "stet.explain/1")
        self.assertEqual(self.causes(explained), self.WANTED)
        self.assertEqual([explained["questions"][q]["answer"] for q in ("shapes", "profile", "branch")],
                         [True, False, True])
        self.assertIsNone(explained["settled"]["step"])
        for r in explained["recompiles"]:
            self.assertTrue(r["fix"] and r["evidence"] and r["cost_s"] > 0 and r["changes"])

    def test_recompiles_are_printed_while_the_command_runs_and_summed_up_at_the_end(self):
        told = self.run_out.stderr
        for words in ("stet: static-argument: train_step compiled again", "train.py:46", "5 recompiles",
                      "Did a hidden graph branch become active? yes", "2× static-argument in train_step"):
            self.assertIn(words, told)
        blocks = re.findall(r"^stet: ([a-z-]+)[^:\n]*: train_step .* again,.*\n((?:  .*\n)+)", told, re.M)
        self.assertIn("static-argument", [cause for cause, _ in blocks])
        for cause, block in blocks:
            fix, more = block.splitlines()[-2:]
            self.assertTrue(fix.startswith("  fix      "), block)
            self.assertEqual(more, f"  more     stet help {cause}")
        with open(os.path.join(self.dir, "events.jsonl")) as f:
            events = [json.loads(line) for line in f]
        # The first short batch has its name when it came again, or when the run ends: its place is not fixed.
        self.assertEqual(sorted(e["compile"] for e in events), [5, 6, 7, 8, 9])

    def test_the_table_and_the_ledger_agree(self):
        self.explained()
        rows = list(csv.DictReader(io.StringIO(self.stet("explain", "--export=csv").stdout)))
        self.assertEqual([(r["class"], int(r["origin_line"])) for r in rows], [c[:2] for c in self.WANTED])
        db = sqlite3.connect(os.path.join(self.dir, "state", "ledger.db"))
        self.assertEqual([r[0] for r in db.execute("SELECT class FROM recompile WHERE run = ? ORDER BY id", (self.first_run(),))],
                         [c[0] for c in self.WANTED])
        self.assertEqual(db.execute("SELECT count(*) FROM compile WHERE run = ?", (self.first_run(),)).fetchone()[0], 10)
        db.close()
        runs = json.loads(self.stet("runs", "--format=json").stdout)["runs"]
        self.assertEqual(runs[-1]["recompiles"], 5)

    def test_without_a_usable_ledger_the_run_alone_is_read(self):
        explained, complaint = self.explained(STET_LEDGER="/proc/none/ledger.db")
        self.assertEqual(self.causes(explained), self.WANTED)
        self.assertIn("/proc/none", complaint)

    def test_a_client_inside_the_framework_is_explained_from_dumps(self):
        flags = "--xla_cpu_enable_fast_math=false"
        out = self.stet("run", "--", PYTHON, "train.py", JAX_PLATFORMS="cpu", XLA_FLAGS=flags)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("stet: static-argument: train_step compiled again", out.stderr)
        explained, _ = self.explained()
        mine = [(r["class"], r["origin"]["line"], r["trigger"]["line"]) for r in explained["recompiles"]
                if not r["benign"]]
        self.assertEqual(mine, [c[:3] for c in self.WANTED])
        dump = os.path.join(self.dir, "state", "runs", explained["run"], "dump")
        by_hand, _ = self.explained("--dump", dump)
        self.assertEqual([r["class"] for r in by_hand["recompiles"]], [r["class"] for r in explained["recompiles"]])
        moved = self.stet("diff", "--format=json", self.first_run(), explained["run"])
        self.assertEqual(json.loads(moved.stdout)["schema"], "stet.rundiff/1")
        shutil.rmtree(os.path.dirname(dump))

    def first_run(self):
        return sorted(os.listdir(os.path.join(self.dir, "state", "runs")))[0]

    def test_changes_between_launches_are_reported(self):
        with open(os.path.join(self.dir, "train.py")) as f:
            source = f.read()
        with open(os.path.join(self.dir, "train.py"), "w") as f:
            f.write(source.replace("size=(44, 16)", "size=(44, 24)").replace("size=(16, 32)", "size=(24, 32)"))
        self.stet("run", "--cpu", "--quiet", "--", PYTHON, "train.py")
        with open(os.path.join(self.dir, "train.py"), "w") as f:
            f.write(source)
        last = sorted(os.listdir(os.path.join(self.dir, "state", "runs")))[-1]
        out = self.stet("diff", "--format=json", self.first_run(), last)
        self.assertEqual(out.returncode, 1, out.stderr)
        told = json.loads(out.stdout)
        self.assertEqual((told["moved"], told["together"]), (["shapes"], False))
        self.assertIn("argument batch['x'] dimension 1", [c["what"] for c in told["changes"]])
        self.assertEqual(self.stet("diff", last, last).returncode, 0)
        shutil.rmtree(os.path.join(self.dir, "state", "runs", last))
        self.stet("run", "--cpu", "--quiet", "--", PYTHON, "train.py", JAX_PLATFORMS="tpu")  # the backend as a TPU
        last = sorted(os.listdir(os.path.join(self.dir, "state", "runs")))[-1]
        told = json.loads(self.stet("diff", "--format=json", self.first_run(), last).stdout)
        self.assertIn("profile", told["moved"])
        self.assertIn(("platform", "cpu", "tpu"), [(c["what"], c["from"], c["to"]) for c in told["changes"]])
        shutil.rmtree(os.path.join(self.dir, "state", "runs", last))

    def test_programs_from_a_store_are_reported_and_waited_for(self):
        out = self.stet("run", "--cpu", "--", PYTHON, "train.py")
        self.assertRegex(out.stderr, r"5 recompiles \(waited [^,;]*; all came from the store\)")
        self.assertIn("10 of 10 programs came from the store", out.stderr)
        self.assertRegex(out.stderr, "first step after [^:]*: imports .*, tracing .*, lowering .*, loading ")
        self.assertNotIn("compiled again", out.stderr)
        explained, _ = self.explained()
        self.assertEqual(self.causes(explained), self.WANTED)
        self.assertEqual((explained["lost_s"], explained["saved"]["served"]), (0, 10))
        self.assertGreater(explained["wait_s"], 0)  # they were traced and lowered
        self.assertEqual({r["served"] for r in explained["recompiles"]}, {"disk"})
        shutil.rmtree(os.path.join(self.dir, "state", "runs", explained["run"]))

    def test_a_recompile_costs_what_was_waited_for_it(self):
        run = self.first_run()
        explained, _ = self.explained(run)
        for r in explained["recompiles"]:
            self.assertGreater(r["wait_s"], r["cost_s"])
        self.assertAlmostEqual(explained["wait_s"],
                               sum(r["wait_s"] for r in explained["recompiles"] if not r["benign"]), 5)
        shown = json.loads(self.stet("show", run, "--format=json").stdout)
        for c in (c for p in shown["processes"] for c in p["compiles"]):
            # JAX lowers every program, and every program of this script runs.
            self.assertGreater(c["lower_s"], 0, c)
            self.assertGreater(c["until_run_s"], 0, c)
            whole = c["cost_s"] + c["layer_s"] + c["trace_s"] + c["lower_s"]
            self.assertGreaterEqual(c["wait_s"] + 1e-6, whole + c["between_s"])
            self.assertLessEqual(c["wait_s"], whole + c["between_s"] + c["until_run_s"] + 1e-6)
        step = [c for p in shown["processes"] for c in p["compiles"] if c["compile"] == explained["recompiles"][0]["compile"]]
        self.assertAlmostEqual(step[0]["wait_s"], explained["recompiles"][0]["wait_s"], 6)

    def test_advice_is_a_field_of_the_json(self):
        explained, _ = self.explained(self.first_run())
        branch = next(r for r in explained["recompiles"] if r["class"] == "hidden-branch")
        self.assertEqual([(a["class"], a["programs"]) for a in branch["advice"]["alone"]],
                         [("static-argument", 2), ("hidden-branch", 1)])

    def test_programs_of_one_rank_alone_are_reported(self):
        with open(os.path.join(self.dir, "ranks.py"), "w") as f:
            f.write(RANKS)
        out = self.stet("run", "--cpu", "--quiet", "--", "sh", "-c",
                        f"RANK=0 {PYTHON} ranks.py & RANK=1 {PYTHON} ranks.py; wait", WORLD_SIZE="2")
        self.assertEqual(out.returncode, 0, out.stderr)
        explained, _ = self.explained()
        told = [(r["rank"], r["changes"][0]["to"]) for r in explained["recompiles"] if "rank-divergence" in r["also"]]
        self.assertEqual(told, [(1, "12")])
        # one rank alone may compute a norm
        self.assertEqual([r["function"] for r in explained["recompiles"] if r["class"] == "rank-divergence"], [])
        self.assertEqual([(r["function"], r["benign"]) for r in explained["recompiles"]],
                         [("train_step", False), ("norm", True), ("train_step", False), ("train_step", False)])
        shutil.rmtree(os.path.join(self.dir, "state", "runs", explained["run"]))

    def test_a_run_has_settled_when_its_last_program_was_compiled(self):
        with open(os.path.join(self.dir, "evaluates.py"), "w") as f:
            f.write(EVALUATES)
        own = {"STET_STATE_DIR": os.path.join(self.dir, "own")}
        out = self.stet("run", "--cpu", "--", PYTHON, "evaluates.py", **own)
        self.assertIn("settled at step 10 with 2 programs", out.stderr)
        told = self.stet("explain", **own)
        self.assertEqual(told.returncode, 0, told.stdout)
        self.assertNotIn("the store served", told.stdout)  # the first launch of this command
        report = json.loads(self.stet("report", "--format=json", **own).stdout)["runs"][0]
        self.assertEqual((report["totals"]["programs"], report["settled"]["step"]), (2, 10))

    def test_the_text_is_for_people(self):
        out = self.stet("explain").stdout
        for words in ("last-batch: train_step compiled again 2 times", "Drop the short last batch",
                      "46 |         lr *= 0.9"):
            self.assertIn(words, out)
        self.assertNotIn("\033", out)
        self.assertEqual(out.count("\n  fix "), out.count("\n  more     stet help "))


if __name__ == "__main__":
    unittest.main()
