"""Facts about explanations of a real run: live, at its end, afterwards, and between launches.

usage: test_explain.py BUILD_DIR PYTHON_WITH_JAX [unittest arguments]
"""

import csv
import io
import json
import os
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


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="stet-explain-")
        shutil.copy(SCRIPT, cls.dir)
        cls.env = dict(os.environ, STET_STATE_DIR=os.path.join(cls.dir, "state"), NO_COLOR="1")
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

    def test_they_are_told_while_it_runs_and_summed_up_at_the_end(self):
        told = self.run_out.stderr
        for words in ("stet: static-argument: train_step compiled again", "train.py:28", "5 recompiles",
                      "Did a hidden graph branch become active? yes", "2× static-argument in train_step"):
            self.assertIn(words, told)
        with open(os.path.join(self.dir, "events.jsonl")) as f:
            events = [json.loads(line) for line in f]
        self.assertEqual([e["compile"] for e in events], [5, 6, 7, 8, 9])

    def test_the_table_and_the_ledger_say_the_same(self):
        self.explained()
        rows = list(csv.DictReader(io.StringIO(self.stet("explain", "--export=csv").stdout)))
        self.assertEqual([(r["class"], int(r["origin_line"])) for r in rows], [c[:2] for c in self.WANTED])
        db = sqlite3.connect(os.path.join(self.dir, "state", "ledger.db"))
        self.assertEqual([r[0] for r in db.execute("SELECT class FROM recompile ORDER BY id")],
                         [c[0] for c in self.WANTED])
        self.assertEqual(db.execute("SELECT count(*) FROM compile").fetchone()[0], 10)
        db.close()
        runs = json.loads(self.stet("runs", "--format=json").stdout)["runs"]
        self.assertEqual(runs[-1]["recompiles"], 5)

    def test_without_a_usable_ledger_the_run_alone_is_asked(self):
        for env, words in (({"STET_TEST_FILESYSTEM": "NFS"}, "STET_LEDGER"),
                           ({"STET_LEDGER": "/proc/none/ledger.db"}, "/proc/none")):
            explained, complaint = self.explained(**env)
            self.assertEqual(self.causes(explained), self.WANTED)
            self.assertIn(words, complaint)

    def test_the_text_is_for_people(self):
        out = self.stet("explain").stdout
        for words in ("last-batch: train_step compiled again 2 times", "Drop the short last batch",
                      "28 |     return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss"):
            self.assertIn(words, out)
        self.assertNotIn("\033", out)


if __name__ == "__main__":
    unittest.main()
