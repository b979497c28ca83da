"""The report of a real JAX run, cold and warm, and of TorchTPU's two lanes, in a real browser.

usage: test_run.py BUILD_DIR PYTHON_WITH_JAX PYTHON_WITH_TORCHTPU [--shots DIR | unittest arguments]

--shots writes the pictures of docs/report.md instead.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from browser import Browser

BUILD = os.path.abspath(sys.argv.pop(1))
PYTHON = os.path.abspath(sys.argv.pop(1))
TORCHTPU = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "train.py")

CLEAN = """\
import jax, jax.numpy as jnp

@jax.jit
def step(p, x):
    return jax.tree.map(lambda w: w - 0.1 * x.sum(), p)

p = {"a": jnp.ones((8, 16)) * 0.1, "b": jnp.ones((16, 1)) * 0.1}
for i in range(10):
    p = step(p, jnp.zeros((4,)))
"""


def setUpModule():
    """Two launches of the example: the second finds the programs of the first in the store."""
    global TOP, DIR, ENV, RUNS
    TOP = tempfile.mkdtemp(prefix="stet-report-")
    DIR = os.path.join(TOP, "project")
    os.mkdir(DIR)
    shutil.copy(SCRIPT, DIR)
    ENV = dict(os.environ, STET_STATE_DIR=os.path.join(TOP, "state"), STET_STORE=os.path.join(TOP, "store"), NO_COLOR="1",
               PATH=os.path.dirname(PYTHON) + ":" + os.environ["PATH"])
    for name in ("JAX_PLATFORMS", "PJRT_DEVICE", "PJRT_NAMES_AND_LIBRARY_PATHS", "XLA_FLAGS", "STET_LEDGER"):
        ENV.pop(name, None)
    for _ in range(2):
        out = stet("run", "--cpu", "--", "python", "train.py")
        assert out.returncode == 0, out.stderr
    RUNS = [r["run"] for r in json.loads(stet("runs", "--format=json").stdout)["runs"]][::-1]


def tearDownModule():
    shutil.rmtree(TOP, ignore_errors=True)


def stet(*args):
    return subprocess.run([STET, *args], cwd=DIR, env=ENV, capture_output=True, text=True, timeout=120)


def written(*runs):
    path = os.path.join(DIR, "report.html")
    out = stet("report", *runs, "-o", path)
    assert out.returncode == 0, out.stderr
    return "file://" + path


class Run(unittest.TestCase):
    def data(self, *args):
        return json.loads(stet("report", "--format=json", *args).stdout)

    def test_steps_and_what_was_saved_are_known(self):
        cold, warm = self.data(*RUNS)["runs"]
        self.assertEqual(cold["processes"][0]["steps"], 9)
        done = cold["processes"][0]["steps_done"]
        self.assertEqual([step for step, _ in done], list(range(1, 10)))
        self.assertEqual([at for _, at in done], sorted(at for _, at in done))
        self.assertEqual(cold["saved"], [])
        self.assertEqual([(s["served"], s["times"], s["known"]) for s in warm["saved"]], [("disk", 10, 10)])

    def test_buckets_of_the_last_batch_are_drawn(self):
        cold = self.data(RUNS[0])["runs"][0]
        (found,) = [b for b in cold["buckets"] if b["short_last"]]
        self.assertEqual([s["programs"] for s in found["curve"]], [1, 2])
        self.assertEqual(found["today"]["programs"], 2)
        with Browser() as browser:
            page = browser.page()
            page.open(written(RUNS[0]))
            self.assertEqual(page.js("document.querySelectorAll('#buckets svg circle').length"), len(cold["buckets"]))
            self.assertIn(found["function"], page.js("document.getElementById('buckets').textContent"))
            self.assertEqual(page.problems(), [])

    def test_the_lines_of_the_traps_are_marked_on_the_page(self):
        with Browser() as browser:
            page = browser.page()
            page.open(written(RUNS[0]))
            marked = page.js("[...document.querySelectorAll('.cause > dl > dd > .code mark')].map(m => m.textContent.trim())")
            self.assertEqual(sorted(int(m.split(" ")[0]) for m in marked), [43, 44, 46])
            classes = page.js("[...document.querySelectorAll('.cause')].map(c => c.dataset.class)")
            self.assertEqual(sorted(classes), ["hidden-branch", "last-batch", "static-argument"])
            head = page.js("document.querySelector('.head').textContent")
            self.assertRegex(head, r"(?s)\d× [a-z-]+ in train_step, train\.py:\d+, waited .*Fix: .* stet help [a-z-]+"
                                   r"Next: \d× [a-z-]+ in train_step, train\.py:\d+, waited ")
            share = self.data(RUNS[0])["runs"][0]["totals"]["wait_share"]
            self.assertTrue(0 < share < 1, share)
            self.assertRegex(head, rf"of the run’s time({share * 100:.0f}|{share * 100:.1f}) %")
            self.assertEqual(page.problems(), [])

    def test_harmless_cards_are_folded_away_and_offer_no_fix(self):
        with open(os.path.join(DIR, "clean.py"), "w") as f:
            f.write(CLEAN)
        out = stet("run", "--cpu", "--no-store", "--", "python", "clean.py")
        self.assertEqual(out.returncode, 0, out.stderr)
        run = json.loads(stet("runs", "--format=json").stdout)["runs"][0]["run"]
        causes = self.data(run)["runs"][0]["causes"]
        self.assertTrue(causes)
        self.assertTrue(all(c["benign"] and c["fix"] for c in causes), causes)
        with Browser() as browser:
            page = browser.page()
            page.open(written(run))
            self.assertFalse(page.js("document.getElementById('filter-harmless').checked"))
            self.assertEqual(page.js("document.querySelectorAll('.cause').length"), 0)
            page.click("#filter-harmless")
            self.assertEqual(page.js("document.querySelectorAll('.cause').length"), len(causes))
            self.assertIn("(harmless)", page.js("document.querySelector('.cause').textContent"))
            self.assertEqual(page.js("document.querySelectorAll('.cause .fix').length"), 0)
            self.assertEqual(page.problems(), [])

    def test_two_launches_are_shown_side_by_side(self):
        with Browser() as browser:
            page = browser.page(dark=True)
            page.open(written(*RUNS))
            text = page.js("document.getElementById('two').textContent")
            self.assertIn("time compiling", text)
            self.assertIn("hidden-branch in train_step", text)
            self.assertEqual(page.problems(), [])


class BothLanes(unittest.TestCase):
    def test_a_recompile_that_shows_in_both_lanes_has_one_cause_and_one_rank(self):
        script = os.path.join(os.path.dirname(SCRIPT), "traps", "torchtpu", "shape-drift.py")
        shutil.copy(script, DIR)
        env = dict(ENV, SLURM_PROCID="1", PYTHONWARNINGS="ignore", TORCHINDUCTOR_CACHE_DIR=os.path.join(TOP, "inductor"))
        done = subprocess.run([STET, "run", "--quiet", "--cpu", "--", TORCHTPU, "shape-drift.py"], cwd=DIR, env=env, capture_output=True,
                              text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = json.loads(stet("report", "--format=json").stdout)["runs"][0]
        self.assertEqual([(c["class"], c["times"]) for c in run["causes"]], [("shape-drift", 2)])
        self.assertEqual([p["rank"] for p in run["processes"]], [1, 1])
        lanes = [run["families"][f]["lane"] for f in run["events"]["family"]]
        for lane in ("xla", "torch"):
            causes = [c for c, of in zip(run["events"]["cause"], lanes) if of == lane]
            self.assertEqual(causes.count(0), 2, (lane, causes))
        run = next(r["run"] for r in json.loads(stet("runs", "--format=json").stdout)["runs"])
        with Browser() as browser:
            for how in ({}, {"dark": True}, {"width": 360, "height": 740, "mobile": True}):
                page = browser.page(**how)
                page.open(written(run))
                self.assertIn("torch frame, 3 compiles", page.js("document.getElementById('families').textContent"))
                self.assertLessEqual(page.js("document.documentElement.scrollWidth"), how.get("width", 1280))
                self.assertEqual(page.problems(), [])


def shots(folder):
    setUpModule()
    with Browser() as browser:
        for name, runs, how in (("light", RUNS[:1], {"width": 1440, "height": 900}), ("dark", RUNS, {"width": 1440, "height": 900, "dark": True}),
                                ("narrow", RUNS[:1], {"width": 360, "height": 900, "mobile": True})):
            page = browser.page(**how)
            page.open(written(*runs))
            time.sleep(0.3)
            print(name, page.screenshot(os.path.join(folder, f"report-{name}.png")), "bytes")
    tearDownModule()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--shots"]:
        shots(sys.argv[2])
    else:
        unittest.main()
