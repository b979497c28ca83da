"""What a new user meets in the first hours: one drifting script, and one that does not drift, seen through every command.

usage: test_first_hours.py BUILD_DIR JAX_PYTHON [unittest arguments]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SCRIPT = '''
import sys
from functools import partial
import jax, jax.numpy as jnp, numpy as np

@partial(jax.jit, static_argnames=("rate",))
def train(params, batch, rate):
    loss, grads = jax.value_and_grad(lambda w: jnp.mean((batch["x"] @ w - batch["y"]) ** 2))(params)
    return params - rate * grads, loss

@jax.jit
def evaluate(params, x):
    return (x @ params).sum()

def scaled(x):
    return jax.jit(lambda v: v * 2.0)(x)

DRIFTS = "drift" in sys.argv
params, rate = jnp.zeros((4, 1)), 0.1
for epoch in range(3):
    for rows in (16, 16, 12):
        x = np.ones((rows if DRIFTS else 16, 4), np.float32)
        params, loss = train(params, {"x": x, "y": x[:, :1], **({"unused": x[0]} if "unused" in sys.argv else {})}, rate)
        if DRIFTS and epoch:
            print(float(jnp.sum(params)))
    if DRIFTS:
        rate *= 0.9
        scaled(params)
        evaluate(params, np.ones((5 + epoch, 4), np.float32))
for rows in range(20, 33) if "many" in sys.argv else ():
    x = np.ones((rows, 4), np.float32)
    params, loss = train(params, {"x": x, "y": x[:, :1]}, rate)
'''


def setUpModule():
    """A drifting run on a store that is empty, then a good one with a contract."""
    global DIR, ENV, LIVE, DRIFT, GOOD
    DIR = tempfile.mkdtemp(prefix="stet-first-hours-")
    with open(os.path.join(DIR, "train.py"), "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    ENV = dict(os.environ, STET_STATE_DIR=os.path.join(DIR, "state"), STET_STORE=os.path.join(DIR, "store"), NO_COLOR="1",
               PATH=os.path.join(BUILD, "bin") + ":" + os.path.dirname(PYTHON) + ":" + os.environ["PATH"])
    for name in ("JAX_PLATFORMS", "PJRT_DEVICE", "PJRT_NAMES_AND_LIBRARY_PATHS", "XLA_FLAGS", "STET_LEDGER"):
        ENV.pop(name, None)
    LIVE = run("drift").stderr
    DRIFT = latest()
    run()
    GOOD = latest()


def tearDownModule():
    shutil.rmtree(DIR, ignore_errors=True)


def stet(*args, **env):
    return subprocess.run(["stet", *args], cwd=DIR, env=dict(ENV, **env), capture_output=True, text=True, timeout=200)


def run(*args, device=("--cpu",), **env):
    out = stet("run", *device, "--", "python", "train.py", *args, **env)
    assert out.returncode == 0, out.stderr
    return out


def latest():
    return json.loads(stet("runs", "--limit=1", "--format=json").stdout)["runs"][0]["run"]


def ns(text):
    """'145 ms' as nanoseconds."""
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


class Explain(unittest.TestCase):
    def setUp(self):
        self.text = stet("explain", DRIFT).stdout

    def test_the_most_expensive_cause_comes_first(self):  # M12
        waits = [ns(w) for w in re.findall(r"^[a-z-]+: .*waited ([0-9.]+ \w+)", self.text, re.M)]
        self.assertEqual(len(waits), 5, self.text)
        self.assertEqual(waits, sorted(waits, reverse=True))

    def test_a_summary_counts_the_causes_that_it_leaves_out(self):  # M13
        self.assertEqual(len(re.findall(r"^stet:   \d+× ", LIVE, re.M)), 3)
        self.assertRegex(LIVE, r"\nstet:   and 2 more, waited ")

    def test_a_first_compile_in_the_loop_is_counted_apart(self):  # M14
        self.assertRegex(self.text, r"9 recompiles, 1 first compile in the loop \(waited")
        self.assertRegex(self.text, r"\nhost-sync: _reduce_sum first compiled in the loop at step ")
        self.assertIn("harmless, not shown (--all): 2 first compiles in the loop", self.text)

    def test_a_short_batch_that_closes_each_pass_is_the_last_batch(self):  # M11; when it comes first, nothing can know that yet
        self.assertRegex(self.text, r"\nlast-batch: train compiled again at step 2,")
        for text in (LIVE, self.text):  # those that waited longer first
            self.assertRegex(text, r"Did input shapes change\? +yes, 3× \((1 last-batch, 2 shape-drift|2 shape-drift, 1 last-batch)\)")

    def test_a_count_so_far_has_its_wait_in_a_unit_that_shows_it(self):
        live = run("many").stderr
        self.assertRegex(live, r"\nstet: shape-drift: train compiled again 10 times so far, waited [1-9][\w. ]*s\n", live)
        self.assertNotIn(" 0.0 s", live)

    def test_nothing_is_printed_about_a_store_that_was_empty(self):  # M38
        self.assertNotIn("the store served", self.text)
        self.assertNotIn("nearest entry", self.text)

    def test_a_cause_ends_in_the_command_that_shows_more(self):
        self.assertIn("\n  more     stet help last-batch\n", self.text)

    def test_lines_are_wrapped_on_a_narrow_terminal(self):
        narrow = subprocess.run(["script", "-qec", f"stty cols 60; stet explain {DRIFT}", "/dev/null"], cwd=DIR, env=dict(ENV, TERM="dumb"),
                                capture_output=True, text=True, timeout=60).stdout
        prose = [line for line in narrow.replace("\r", "").split("\n") if re.match(r"  (fix|evidence) |           ", line)]
        self.assertTrue(prose)
        self.assertLessEqual(max(map(len, prose)), 60)


class OneNumber(unittest.TestCase):
    def test_every_command_counts_the_same(self):  # M20
        explained = json.loads(stet("explain", DRIFT, "--format=json").stdout)
        report = json.loads(stet("report", DRIFT, "--format=json").stdout)["runs"][0]
        listed = next(r for r in json.loads(stet("runs", "--format=json").stdout)["runs"] if r["run"] == DRIFT)
        text, markdown = stet("explain", DRIFT).stdout, stet("explain", DRIFT, "--export=markdown").stdout
        again = [r for r in explained["recompiles"] if r["event"] == "recompile" and not r["benign"]]
        self.assertEqual({len(again), report["totals"]["recompiles"], listed["recompiles"]}, {9})
        for said in (LIVE, text, markdown):
            self.assertIn("9 recompiles, 1 first compile in the loop", said)
        programs = report["totals"]["programs"]
        self.assertIn(f"{programs} programs", LIVE)
        self.assertIn(f"{programs} programs", text)
        rows = re.findall(r"^\| (\d+) \| `([a-z-]+)`", markdown, re.M)
        stories = [(str(c["times"]), c["class"]) for c in report["causes"] if not c["benign"]]
        self.assertEqual(rows, stories)
        self.assertEqual(sorted(re.findall(r"^stet:   (\d+)× ([a-z-]+)", LIVE, re.M)), sorted(stories[:3]))

    def test_a_run_is_settled_after_its_last_compile(self):  # M21
        run = json.loads(stet("report", GOOD, "--format=json").stdout)["runs"][0]
        settled = int(re.search(r"settled at step (\d+)", stet("explain", GOOD).stdout)[1])
        self.assertGreaterEqual(settled, max(run["events"]["step"]))


class Contract(unittest.TestCase):
    def test_an_argument_that_is_not_used_is_not_taken_for_a_static_one(self):  # M23
        self.assertEqual(stet("contract", "init", "--force", GOOD).returncode, 0)
        run("unused")
        out = stet("check")
        self.assertNotIn("identical-rehash", out.stdout)
        self.assertEqual(out.returncode, 0, out.stdout)


    def test_a_contract_counts_recompiles_as_explain_does(self):  # M20
        out = stet("contract", "init", "--output", "drift.contract", DRIFT)
        self.assertIn("this run recompiled 9 times", out.stderr)

    def test_a_size_in_a_first_compile_is_not_explained_by_when_it_came(self):
        path = os.path.join(DIR, "drift.contract")
        stet("contract", "init", "--force", "--output", path, DRIFT)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("{5,6,7}", text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("{5,6,7}", "{6,7}"))
        out = stet("check", "--contract", path, DRIFT).stdout
        self.assertIn("dims of evaluate: dimension 0 of x is 5, allowed is {6,7}\n", out)
        self.assertNotIn("hidden-branch", out)
        self.assertIn("\n  more     stet help contract\n", out)


class Runs(unittest.TestCase):
    def test_another_platform_is_a_difference_of_two_runs(self):  # M30
        run(JAX_PLATFORMS="tpu")
        out = stet("diff", GOOD, "latest")
        self.assertEqual(out.returncode, 1, out.stdout)
        self.assertIn("platform  cpu -> tpu", out.stdout)

    def test_dumps_of_xlas_own_client_have_the_frameworks_names(self):  # M31
        run("drift", device=(), JAX_PLATFORMS="cpu")
        text = stet("explain").stdout
        self.assertIn("argument batch['x'] dimension 0  16 -> 12", text)
        self.assertNotIn("batch__x__", text)

    def test_what_was_not_watched_is_explained_by_what_was_given(self):  # M36
        for words, said in ((["--cpu", "--", "true"], "no process of the command used the CPU backend"),
                            (["--", "false"], "the command failed (exit 1) before it compiled anything"),
                            (["--", "true"], "run it with `stet run --cpu -- …`")):
            self.assertIn(said, stet("run", *words).stderr)

    def test_the_headline_names_the_file_from_the_folder_of_the_run(self):
        elsewhere = subprocess.run(["stet", "report", "-o", os.path.join(DIR, "elsewhere.html"), DRIFT], cwd="/", env=ENV,
                                   capture_output=True, text=True)
        self.assertEqual(elsewhere.returncode, 0, elsewhere.stderr)
        with open(os.path.join(DIR, "elsewhere.html"), encoding="utf-8") as page:
            self.assertRegex(page.read(), r"<h1[^>]*>[^\n]* <code>train\.py:\d+</code>")

    def test_an_empty_run_is_reported_with_the_way_out(self):
        stet("run", "--", "true")
        self.assertEqual(stet("report", "-o", "empty.html").returncode, 0)
        with open(os.path.join(DIR, "empty.html"), encoding="utf-8") as page:
            self.assertIn("stet run --cpu", page.read())


if __name__ == "__main__":
    unittest.main()
