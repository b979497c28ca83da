"""Facts about `stet top`: on a terminal of any size (tmux), in logs, while jobs end, die or lie.

usage: test_top.py BUILD_DIR [unittest arguments]
"""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
HARNESS = os.path.join(BUILD, "bin", "pjrt_harness")
FAKE = os.path.join(BUILD, "lib", "libfake_pjrt.so")


class Screen:
    """A terminal that can be looked at and resized."""

    def __init__(self, test, env, width, height, *args):
        self.name = f"stet-top-{os.getpid()}-{id(self)}"
        self.test = test
        inner = " ".join([f"{k}='{v}'" for k, v in env.items()] + [STET, "top", *args])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  f"env {inner}; echo exit $?; sleep 60")
        test.addCleanup(self.tmux, "kill-server")

    def tmux(self, *args):
        env = dict(os.environ, TMUX_TMPDIR=self.test.dir)
        env.pop("TMUX", None)
        return subprocess.run(["tmux", "-u", "-L", self.name, *args], env=env, capture_output=True, text=True,
                              timeout=60).stdout

    def rows(self):
        return self.tmux("capture-pane", "-p").splitlines()

    def until(self, *wanted, seconds=60):
        deadline = time.time() + seconds
        while time.time() < deadline:
            text = "\n".join(self.rows())
            if all(re.search(w, text) for w in wanted):
                return text
            time.sleep(0.1)
        self.test.fail(f"{wanted} is not on the screen:\n{text}")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))


class Top(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-top-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.state = {"STET_STATE_DIR": os.path.join(self.dir, "state"),
                      "XDG_CACHE_HOME": os.path.join(self.dir, "cache")}
        self.env = dict(os.environ, **self.state)
        for name in ("LD_PRELOAD", "TORCH_TRACE", "STET", "STET_DIR", "STET_RUN", "RANK", "COLUMNS"):
            self.env.pop(name, None)
        self.program = os.path.join(self.dir, "program.txt")
        with open(self.program, "w") as f:
            f.write("any bytes do\n")

    def stet(self, *args, **more):
        more.setdefault("env", self.env)
        return subprocess.run([STET, *args], capture_output=True, text=True, timeout=60, cwd=self.dir, **more)

    def job(self, *ranks, tail="true"):
        one = f"{HARNESS} --execute 5 --repeat 2 {FAKE} {self.program} >/dev/null"
        return ["sh", "-c", "; ".join(f"RANK={r} {one}" for r in ranks) + "; " + tail]

    def start(self, *ranks, tail="read x; exit 6"):
        """A job that has done its work and waits for a line."""
        done = tempfile.mktemp(prefix="done-", dir=self.dir)
        p = subprocess.Popen([STET, "run", "--quiet", "--", *self.job(*ranks, tail=f"touch {done}; {tail}")],
                             cwd=self.dir, env=self.env, stdin=subprocess.PIPE, text=True)
        self.addCleanup(lambda: p.poll() is None and (p.kill(), p.wait()))
        self.addCleanup(p.stdin.close)
        while not os.path.exists(done):
            time.sleep(0.05)
        return p

    def test_a_running_job_is_shown_resized_and_ends(self):
        p = self.start(0, 1)
        screen = Screen(self, self.state, 80, 24)
        text = screen.until(r"^ stet top .* running .*; exit 6\n", r"\ncompiles +4 in", r"executions 20 ",
                            r"\n +0 +\d+ ", r"\n +1 +\d+ ", r"transfers +to device", r"store +memory \d")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        screen.resize(160, 50)
        screen.until(r"ended +\S+\n")  # the host has room now
        screen.resize(20, 5)
        text = screen.until(r"^ stet top  2")
        self.assertLessEqual(max(map(len, text.splitlines())), 20)
        screen.resize(80, 24)
        screen.until("compiles +4 in")
        p.communicate("\n", timeout=60)
        screen.until(r"^ stet top \S* +\S+ +exit 6 ", "compiles +4 in")
        screen.press("q")
        screen.until("^exit 0")

    def test_added_operations_and_arguments_are_marked_with_a_plus(self):
        data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "data")
        for other, wanted in (("branch", "+ operation cosine f32[4,8]: "), ("mask", "+ argument batch['mask'] f32[4,8]: ")):
            self.stet("run", "--quiet", "--", HARNESS, FAKE, os.path.join(data, "base.mlirbc"),
                      os.path.join(data, other + ".mlirbc"))
            self.assertIn(wanted, self.stet("top", "--once").stdout)

    def test_keys_do_what_the_help_describes(self):
        self.start(0, 1)
        screen = Screen(self, dict(self.state, NO_COLOR="1"), 80, 24)
        screen.until("compiles +4 in")
        self.assertNotRegex(screen.tmux("capture-pane", "-p", "-e"), "\033\\[[0-9;]*3[0-7]m")
        screen.press("h")
        screen.until("another order .now: rank", "q +quit")
        screen.press("s")
        screen.until("now: step rate")
        screen.press("S", "S")
        screen.until("now: last change")
        screen.press("h", "r")
        screen.until("compiles +2 in", "running .*  rank 0  ….*; exit 6\n")
        screen.press("Right")
        screen.until("compiles +2 in", "  rank 1  ….*; exit 6\n")
        screen.press("R", "R")
        screen.until("compiles +4 in")
        screen.press("p")
        screen.until("PAUSED")
        screen.press(" ")
        screen.press("x", "F5")  # nothing
        screen.until("compiles +4 in")
        screen.press("q")
        screen.until("^exit 0")

    def test_colour_is_there_without_no_color(self):
        self.start(0)
        screen = Screen(self, self.state, 80, 24)
        screen.until("compiles +2 in")
        self.assertRegex(screen.tmux("capture-pane", "-p", "-e"), "\033\\[[0-9;]*3[0-7]m")

    def test_a_killed_job_is_shown_as_cut_off(self):
        p = self.start(0, tail="exec sleep 60")
        screen = Screen(self, self.state, 80, 24)
        screen.until("compiles +2 in", " running ")
        child = json.loads(self.stet("top", "--once", "--format=json").stdout)
        with open(os.path.join(self.run_folder(), "run.json")) as f:
            pid = json.load(f)["pid"]
        p.kill()  # no last word in run.json
        p.wait()
        os.kill(pid, signal.SIGKILL)
        screen.until("^ stet top .* cut off ", "compiles +2 in")
        self.assertTrue(child["running"])
        screen.press("q")
        screen.until("^exit 0")

    def run_folder(self):
        runs = os.path.join(self.dir, "state", "runs")
        return os.path.join(runs, sorted(os.listdir(runs))[-1])

    def test_a_damaged_journal_that_grows_is_shown_all_the_same(self):
        self.start(0)
        folder = os.path.join(self.run_folder(), "journal")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "ab") as f:
                f.write(os.urandom(5000))
        with open(os.path.join(folder, "not-a-journal.stj"), "wb") as f:
            f.write(b"nonsense" * 100)
        screen = Screen(self, self.state, 80, 24)
        screen.until("compiles +2 in")
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "ab") as f:
                f.write(b"\x5d\xc3\xe7\x9a" * 500)
        time.sleep(1.5)
        screen.until("compiles +2 in")
        screen.press("q")
        screen.until("^exit 0")

    def test_a_job_is_found_by_any_of_its_processes(self):
        p = self.start(0, tail="read x; exit 0")
        with open(os.path.join(self.run_folder(), "run.json")) as f:
            run = json.load(f)
        sleeper = subprocess.Popen(["sleep", "60"], env=dict(self.env, STET_RUN=run["id"]))
        self.addCleanup(lambda: (sleeper.kill(), sleeper.wait()))
        for name in (run["pid"], p.pid, sleeper.pid, run["id"], run["id"][:17], "newest", self.run_folder()):
            out = self.stet("top", "--once", "--format=json", str(name))
            self.assertEqual(out.returncode, 0, (name, out.stderr))
            self.assertEqual(json.loads(out.stdout)["run"], run["id"])

    def test_the_newest_running_job_is_the_default(self):
        self.start(0)
        running = os.path.basename(self.run_folder())
        time.sleep(1.1)  # ids go by the second
        self.stet("run", "--quiet", "--", "true")
        self.assertNotEqual(os.path.basename(self.run_folder()), running)
        self.assertEqual(json.loads(self.stet("top", "--once", "--format=json").stdout)["run"], running)

    def test_several_jobs_are_watched_at_once(self):
        first = self.start(0, 1)
        one = os.path.basename(self.run_folder())
        time.sleep(1.1)  # ids go by the second
        second = self.start(0, 1, 2, tail="read x; exit 7")
        two = os.path.basename(self.run_folder())
        left = Screen(self, self.state, 80, 24, str(first.pid))
        right = Screen(self, self.state, 100, 30)  # the newest
        log = subprocess.Popen([STET, "top", "--interval=0.2", one], env=self.env, cwd=self.dir, stdout=subprocess.PIPE, text=True)
        left.until(f"^ stet top  {one}  running", "compiles +4 in", "processes 0 of 2")
        right.until(f"^ stet top  {two}  running", "compiles +6 in", "processes 0 of 3")
        left.resize(60, 12)
        text = left.until(f"^ stet top  {one}  running", "compiles +4 in")
        self.assertLessEqual(max(map(len, text.splitlines())), 60)
        first.communicate("\n", timeout=60)
        left.until(f"^ stet top  {one}  exit 6 ")
        right.until(f"^ stet top  {two}  running")
        heads = re.findall(r"^ stet top +(\S+) +(running|exit \d)", log.communicate(timeout=60)[0], re.M)
        self.assertEqual({run for run, _ in heads}, {one})
        self.assertEqual(heads[-1][1], "exit 6")
        left.resize(80, 24)
        left.press("n")  # on to the one that still runs
        left.until(f"^ stet top  {two}  running", "compiles +6 in")
        second.communicate("\n", timeout=60)
        left.until(f"^ stet top  {two}  exit 7 ")
        right.until(f"^ stet top  {two}  exit 7 ")

    def test_a_log_gets_one_block_per_interval_until_the_end(self):
        p = self.start(0)
        log = subprocess.Popen([STET, "top", "--interval=0.2"], env=self.env, cwd=self.dir, stdout=subprocess.PIPE,
                               text=True)
        out = ""
        while len(re.findall(r"^ stet top +\S+ +running", out, re.M)) < 4:
            line = log.stdout.readline()
            self.assertTrue(line, out)
            out += line
        p.communicate("\n", timeout=60)
        out += log.communicate(timeout=60)[0]
        self.assertEqual(log.returncode, 0)
        heads = re.findall(r"^ stet top +\S+ +(running|exit 6)", out, re.M)
        self.assertEqual(heads[-1], "exit 6")
        self.assertEqual(heads.count("exit 6"), 1)
        self.assertNotIn("\033", out)
        self.assertIn("compiles   2 in", out)
        lines = self.stet("top", "--format=json").stdout.splitlines()  # it is over: one
        self.assertEqual([json.loads(line)["outcome"] for line in lines], ["exit 6"])

    def test_terminals_of_any_size_and_dumb_ones_work(self):
        self.start(0)
        for rows, columns, term in ((1, 1, "xterm"), (2, 3, "vt100"), (200, 500, "xterm-256color"), (24, 80, "linux"),
                                    (5, 20, "screen"), (0, 0, "xterm")):
            with self.subTest(rows=rows, columns=columns, term=term):
                self.assertEqual(self.in_pty(rows, columns, term)[0], 0)
        for term in ("dumb", "no-such-terminal", ""):  # blocks of lines, until it is told to end
            with self.subTest(term=term):
                code, text = self.in_pty(24, 80, term, "--once")
                self.assertEqual(code, 0)
                self.assertIn(b"compiles", text)

    def in_pty(self, rows, columns, term, *options):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            subprocess.run(["stty", "rows", str(rows), "cols", str(columns)])
            os.execve(STET, [STET, "top", "--interval=0.1", *options], dict(self.env, TERM=term))
        text, end, press = b"", time.time() + 60, time.time() + 0.7
        while time.time() < end:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    chunk = os.read(fd, 65536)
                except OSError:
                    break
                if not chunk:
                    break
                text += chunk
            if time.time() > press and not options:  # what comes before it listens is lost
                try:
                    os.write(fd, b"q")
                except OSError:
                    break
                press = time.time() + 0.5
        else:
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        os.close(fd)
        return os.waitstatus_to_exitcode(status), text

    def test_an_interrupt_leaves_the_terminal_as_it_was(self):
        self.start(0)
        screen = Screen(self, self.state, 80, 24)
        screen.until("compiles +2 in")
        screen.press("C-c")
        screen.until("^exit ")

    def test_usage_errors_and_missing_runs_have_messages(self):
        for wrong in (["--interval=0"], ["--interval=x"], ["a", "b"], ["--nonsense"]):
            self.assertEqual(self.stet("top", *wrong).returncode, 2)
        out = self.stet("top")
        self.assertEqual(out.returncode, 3)
        self.assertIn("no run yet", out.stderr)


if __name__ == "__main__":
    unittest.main()
