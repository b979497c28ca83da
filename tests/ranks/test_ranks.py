"""Jobs that hang in each way: `stet ranks`, from outside, names rank, kind and line.

usage: test_ranks.py BUILD_DIR PYTHON     a Python with JAX"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD, PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
STET, HARNESS, FAKE = BUILD + "/bin/stet", BUILD + "/bin/pjrt_harness", BUILD + "/lib/libfake_pjrt.so"
JOB = str(HERE / "job.py")
LINES = {text.rsplit("here: ", 1)[1]: number
         for number, text in enumerate((HERE / "job.py").read_text().splitlines(), 1) if "  # here: " in text}


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-ranks-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_", "XLA_", "JAX_"))}
        self.env.update(STET_STATE_DIR=self.dir + "/state", HOME=self.dir)

    def start(self, ranks, *options, world=None):
        """[(command, variables)…] under one `stet run`, which ends them all when it is killed."""
        script = "".join(f"RANK={n} WORLD_SIZE={world or len(ranks)} {variables} {command} & echo $! >>pids; "
                         for n, (command, variables) in enumerate(ranks)) + "wait"
        self.stderr = open(self.dir + "/stderr", "w+")
        self.addCleanup(self.stderr.close)
        self.run_ = subprocess.Popen([STET, "run", "--no-store", *options, "--", "sh", "-c", script], env=self.env,
                                     cwd=self.dir, stderr=self.stderr, start_new_session=True)
        self.addCleanup(self.end)

    def end(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.run_.wait(60)

    def pids(self):
        try:
            return [int(p) for p in pathlib.Path(self.dir + "/pids").read_text().split()]
        except FileNotFoundError:
            return []

    def stet(self, *words):
        return subprocess.run([STET, *words], env=self.env, capture_output=True, text=True, timeout=60)

    def until(self, fits):
        """The ranks by their number, when they are as expected: journals are written a moment after the fact."""
        end, ranks = time.monotonic() + 120, {}
        while time.monotonic() < end:
            out = self.stet("ranks", "--format=json")
            if out.returncode == 0:
                listed = json.loads(out.stdout)
                ranks = {r["rank"]: r for r in listed["ranks"]}
                if fits(ranks):
                    return ranks, [r["rank"] for r in listed["ranks"]]
            time.sleep(0.2)
        self.fail(json.dumps(ranks, indent=1) + self.stet("runs").stdout)

    def kinds(self, ranks):
        return [ranks[n]["kind"] for n in sorted(ranks)]

    def line(self, rank):
        return (rank["line"] or {}).get("line")


class Hangs(Case):
    def hang(self, *modes, world=None):
        self.start([(f"{PYTHON} {JOB} {m}", "") for m in modes], "--cpu", "--quiet", world=world)

    def test_a_loop_a_lock_and_a_loader_are_named_with_their_lines(self):
        self.hang("spin", "deadlock", "loader", world=4)
        modes = ("spin", "deadlock", "loader")
        ranks, order = self.until(lambda r: all(self.line(r[n]) == LINES[m] and r[n]["executions"] == 7
                                                for n, m in enumerate(modes) if n in r) and
                                  self.kinds(r) == ["host code", "waiting", "waiting", "missing"])
        self.assertEqual(order[:2], [3, 0])  # the missing first, then the one that runs
        for n in range(3):
            self.assertTrue(ranks[n]["line_is_now"])
            self.assertEqual(ranks[n]["line"]["file"], JOB)
        self.assertEqual(ranks[1]["blocked_for"], "a lock, a queue or a result")
        self.assertRegex(ranks[2]["innermost"]["file"], r"/threading\.py$")
        self.assertEqual(ranks[0]["steps"], 5)

    def test_a_stopped_a_dead_and_a_sleeping_rank_are_distinguished(self):
        self.hang("stop", "die", "sleep")
        ranks, order = self.until(lambda r: len(r) == 3 and r[1]["kind"] == "dead" and
                                  self.line(r[0]) == LINES["stop"] and self.line(r[2]) == LINES["sleep"] and
                                  self.kinds(r) == ["stopped", "dead", "waiting"])
        self.assertEqual(order, [1, 0, 2])
        self.assertEqual(ranks[2]["blocked_for"], "sleep")
        self.assertEqual([ranks[n]["counts_are_lower_bounds"] for n in range(3)], [True, True, False])
        self.assertFalse(ranks[1]["line_is_now"])  # a dead process has no line

    def test_a_program_that_does_not_end_is_named_with_the_rank_that_has_not_started_it(self):
        self.start([(f"{PYTHON} {JOB} deadlock", "STEPS=9"), (f"{PYTHON} {JOB} loader", "STEPS=7"),
                    (f"{PYTHON} {JOB} endless", "")], "--cpu", "--quiet")
        ranks, _ = self.until(lambda r: self.kinds(r) == ["waiting", "waiting", "device"] and
                              self.line(r[0]) == LINES["deadlock"] and self.line(r[1]) == LINES["loader"] and
                              r[0]["program_runs"] == 9 and r[0]["behind_runs"] == 5 and r[1]["program_runs"] == 7)
        self.assertEqual(self.line(ranks[2]), LINES["endless"])
        self.assertRegex(ranks[2]["innermost"]["file"], r"/site-packages/jax/")
        self.assertEqual((ranks[0]["behind_rank"], ranks[0]["behind_runs"], ranks[0]["ranks_behind"]), (2, 5, 2))
        self.assertEqual((ranks[1]["behind_rank"], ranks[1]["ranks_behind"]), (2, 1))

    def test_stet_run_prints_a_hang_by_itself(self):
        """The two seconds of --hang-after are the subject; how long the start takes does not matter."""
        self.start([(f"{PYTHON} {JOB} spin", "")], "--cpu", "--quiet", "--hang-after=2s")
        end, said = time.monotonic() + 120, ""
        while time.monotonic() < end and f"job.py:{LINES['spin']} in spin" not in said:
            said = pathlib.Path(self.dir + "/stderr").read_text()
            time.sleep(0.2)
        self.assertRegex(said, r"stet: no execution and no compile for [\d.]+ s; run \S+, running")
        self.assertIn(f"job.py:{LINES['spin']} in spin", said)


class Others(Case):
    def test_a_compile_that_does_not_return_is_named(self):
        program = self.dir + "/p.mlir"
        pathlib.Path(program).write_text("// fake program p\n// in f32[2]\n// out f32[2]\nmodule @p {\n  func.func @main(%a: "
                                         "tensor<2xf32>) -> tensor<2xf32> {\n    return %a : tensor<2xf32>\n  }\n}\n")
        self.start([(f"{HARNESS} {FAKE} {program}", "FAKE_HANG=PJRT_Client_Compile")])
        ranks, _ = self.until(lambda r: r.get(0, {}).get("kind") == "compiling")
        self.assertGreater(ranks[0]["compiling_ns"], 0)
        self.assertRegex(self.stet("ranks").stdout, r"rank 0 \(process \d+\)  compiling for [\d.]+ m?s\n")

    def test_wrong_arguments_are_refused(self):
        for words, text in ((("ranks", "a", "b"), "one run at a time"), (("run", "--hang-after=soon", "--", "true"), "--hang-after"),
                            (("run", "--hang-after=0", "--", "true"), "--hang-after"),
                            (("run", "--hang-after=5x", "--", "true"), "--hang-after")):
            out = self.stet(*words)
            self.assertEqual(out.returncode, 2)
            self.assertIn(text, out.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
