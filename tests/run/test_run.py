"""Facts about `stet run`: it changes nothing for the command, and says what it saw.

usage: test_run.py BUILD_DIR [unittest arguments]
"""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
LAYER = os.path.join(BUILD, "lib", "libstet.so")
HARNESS = os.path.join(BUILD, "bin", "pjrt_harness")
FAKE = os.path.join(BUILD, "lib", "libfake_pjrt.so")


class Run(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-run-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.dir, "state"))
        for name in ("LD_PRELOAD", "TORCH_TRACE", "STET", "STET_DIR", "STET_RUN"):
            self.env.pop(name, None)

    def stet(self, *args, **more):
        more.setdefault("env", self.env)
        return subprocess.run(
            [STET, *args], capture_output=True, text=True, timeout=60, cwd=self.dir, **more
        )

    def last_run(self):
        out = self.stet("runs", "--format=json")
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)["runs"][0]

    def test_exit_code_and_streams_are_the_commands_own(self):
        out = self.stet("run", "--", "sh", "-c", "read x; echo out:$x; echo err >&2; exit 7", input="hello\n")
        self.assertEqual(out.returncode, 7)
        self.assertEqual(out.stdout, "out:hello\n")
        self.assertTrue(out.stderr.startswith("err\n"))
        self.assertEqual(self.last_run()["exit"], 7)

    def test_options_of_the_command_stay_with_the_command(self):
        out = self.stet("run", "--quiet", "echo", "--format=json", "--", "--help")
        self.assertEqual((out.returncode, out.stdout, out.stderr), (0, "--format=json -- --help\n", ""))

    def test_a_command_that_dies_of_a_signal_takes_stet_with_it(self):
        out = self.stet("run", "--", "sh", "-c", "kill -KILL $$")
        self.assertEqual(out.returncode, -signal.SIGKILL)
        self.assertEqual(self.last_run()["signal"], signal.SIGKILL)

    def test_a_signal_sent_to_stet_reaches_the_command_once(self):
        script = "import signal,sys,time\nn=0\n" \
            "def f(*a):\n global n; n+=1\n" \
            "signal.signal(signal.SIGTERM,f); print('ready',flush=True)\n" \
            "while not n: time.sleep(0.05)\n" \
            "time.sleep(0.5); print(n); sys.exit(3)\n"
        p = subprocess.Popen([STET, "run", "--", sys.executable, "-c", script], env=self.env, cwd=self.dir,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(p.stdout.readline(), "ready\n")
        p.send_signal(signal.SIGTERM)
        out, _ = p.communicate(timeout=60)
        self.assertEqual((out, p.returncode), ("1\n", 3))

    def test_a_signal_long_after_the_command_ended_is_stets_own(self):
        # The command leaves no room in the pipe, so stet waits with its summary for somebody to read.
        fill = "import os; os.set_blocking(2, False)\ntry:\n    while True: os.write(2, b'x' * 65536)\nexcept BlockingIOError: pass\n" \
               "try:\n    while True: os.write(2, b'x')\nexcept BlockingIOError: pass\nos.set_blocking(2, True); print(os.getpid(), flush=True)"
        process = subprocess.Popen([STET, "run", "--", sys.executable, "-c", fill], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            command = int(process.stdout.readline())
            while os.path.exists(f"/proc/{command}"):
                time.sleep(0.01)
            time.sleep(1.5)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), -signal.SIGTERM)
        finally:
            process.kill()
            process.stderr.close()
            process.stdout.close()

    def test_an_ignored_signal_stays_ignored(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        out = self.stet("run", "--quiet", "--", "sh", "-c", "kill -HUP $PPID; kill -HUP $$; echo alive",
                        preexec_fn=ignore)
        self.assertEqual((out.returncode, out.stdout), (0, "alive\n"))

    def test_a_terminal_stays_a_terminal(self):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(STET, [STET, "run", "--quiet", "--", "sh", "-c", "test -t 0 && test -t 1 && stty size"],
                      self.env)
        text = b""
        while True:
            try:
                chunk = os.read(fd, 4096)
            except OSError:
                break
            if not chunk:
                break
            text += chunk
        self.assertEqual(os.waitpid(pid, 0)[1], 0, text)

    def test_a_missing_command_is_exit_code_127(self):
        out = self.stet("run", "--", "no-such-command-here")
        self.assertEqual(out.returncode, 127)
        self.assertIn("no-such-command-here", out.stderr)

    def test_a_command_that_is_not_executable_is_126(self):
        path = os.path.join(self.dir, "plain")
        with open(path, "w") as f:
            f.write("x")
        self.assertEqual(self.stet("run", "--", path).returncode, 126)

    def test_a_run_without_a_plugin_is_reported(self):
        self.assertIn("no process loaded a compiler plugin", self.stet("run", "--", "true").stderr)
        idle = self.stet("run", "--", HARNESS, FAKE).stderr
        self.assertIn("a compiler plugin was loaded, and compiled nothing\nstet: nothing was watched: ", idle)
        self.assertIn("`stet run --cpu -- …`", idle)

    def test_an_existing_preload_and_trace_folder_are_kept(self):
        self.env["LD_PRELOAD"] = "/lib/x86_64-linux-gnu/libdl.so.2"
        self.env["TORCH_TRACE"] = "/elsewhere"
        out = self.stet("run", "--quiet", "--", "sh", "-c", "echo $LD_PRELOAD; echo $TORCH_TRACE")
        self.assertEqual(out.stdout, f"{LAYER}:/lib/x86_64-linux-gnu/libdl.so.2\n/elsewhere\n")

    def test_a_run_inside_a_run_has_the_layer_once(self):
        out = self.stet("run", "--quiet", "--", STET, "run", "--quiet", "--", "sh", "-c", "echo $LD_PRELOAD")
        self.assertEqual(out.stdout, LAYER + "\n")

    def test_an_unwritable_state_folder_runs_the_command_without_the_layer(self):
        self.env["STET_STATE_DIR"] = "/proc/nowhere"
        out = self.stet("run", "--", "sh", "-c", "echo ran; echo ${LD_PRELOAD-none}; exit 5")
        self.assertEqual((out.returncode, out.stdout), (5, "ran\nnone\n"))
        self.assertIn("without the layer", out.stderr)

    def test_compiles_and_executions_are_counted(self):
        program = os.path.join(self.dir, "program.txt")
        with open(program, "w") as f:
            f.write("any bytes do\n")
        bare = subprocess.run([HARNESS, FAKE, program], capture_output=True, text=True, env=self.env, timeout=60)
        seen = self.stet("run", "--", HARNESS, FAKE, program)
        self.assertEqual(seen.returncode, 0, seen.stderr)
        # What the plugin counted differs: the layer asks questions of its own.
        self.assertEqual(seen.stdout.split(' "plugin":')[0], bare.stdout.split(' "plugin":')[0])
        run = self.last_run()
        self.assertEqual((run["processes"], run["compiles"]), (1, 1), seen.stderr)
        self.assertGreater(run["executions"], 0)
        show = json.loads(self.stet("show", "--format=json").stdout)
        plugin = show["processes"][0]["plugins"][0]
        self.assertEqual(os.path.realpath(plugin["path"]), os.path.realpath(FAKE))

    def test_children_of_every_launcher_are_seen(self):
        program = os.path.join(self.dir, "program.txt")
        with open(program, "w") as f:
            f.write("any bytes do\n")
        script = (
            "import multiprocessing as m, subprocess, sys\n"
            "def work(a): subprocess.run(a, check=True, stdout=subprocess.DEVNULL)\n"
            "if __name__ == '__main__':\n"
            "  for kind in ('fork', 'spawn', 'forkserver'):\n"
            "    p = m.get_context(kind).Process(target=work, args=(sys.argv[1:],))\n"
            "    p.start(); p.join(); assert p.exitcode == 0\n"
        )
        path = os.path.join(self.dir, "launch.py")
        with open(path, "w") as f:
            f.write(script)
        out = self.stet("run", "--", sys.executable, path, HARNESS, FAKE, program)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(self.last_run()["processes"], 3, out.stderr)

    def build(self, name, compiler, *flags):
        source = os.path.join(self.dir, name + ".c")
        with open(source, "w") as f:
            f.write("#include <unistd.h>\nint main(void) { sleep(2); return 0; }\n")
        target = os.path.join(self.dir, name)
        subprocess.run([compiler, *flags, "-o", target, source], check=True, timeout=60)
        return target

    def strangers(self, command):
        out = self.stet("run", "--", "sh", "-c", f"{command}; true")
        self.assertEqual(out.returncode, 0, out.stderr)
        return out.stderr

    def test_a_static_child_is_reported(self):
        self.assertIn("still (pid", self.strangers(self.build("still", "gcc", "-static")))

    def test_a_musl_child_is_reported(self):
        self.assertIn("musl libc", self.strangers(self.build("small", "musl-gcc")))

    def test_a_setuid_child_is_reported(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a file setuid for another user")
        path = self.build("other", "gcc")
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        os.chmod(self.dir, 0o755)
        self.assertIn("setuid", self.strangers(path))

    def test_a_child_with_a_cleared_environment_is_reported(self):
        path = self.build("bare", "gcc")
        self.assertIn("environment without LD_PRELOAD", self.strangers(f"env -i {path}"))

    def test_runs_are_found_by_id_prefix_and_folder(self):
        self.stet("run", "--quiet", "--", "true")
        run = self.last_run()["run"]
        for name in (run, run[:-1], os.path.join(self.dir, "state", "runs", run), "latest"):
            out = self.stet("show", name, "--format=json")
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertEqual(json.loads(out.stdout)["run"], run)
        self.assertEqual(self.stet("show", "no-such-run").returncode, 3)

    def test_a_damaged_run_json_is_counted_not_fatal(self):
        self.stet("run", "--quiet", "--", "true")
        self.stet("run", "--quiet", "--", "true")
        first = os.path.join(self.dir, "state", "runs", self.last_run()["run"])
        with open(os.path.join(first, "run.json"), "r+") as f:
            f.truncate(20)
        out = json.loads(self.stet("runs", "--format=json").stdout)
        self.assertEqual((len(out["runs"]), out["unreadable"]), (1, 1))

    def test_a_run_whose_parent_was_killed_is_still_a_run(self):
        p = subprocess.Popen([STET, "run", "--", "sleep", "600"], env=self.env, cwd=self.dir)
        while not (os.path.isdir(os.path.join(self.dir, "state", "runs")) and self.last_run_or_none()):
            self.assertIsNone(p.poll())
            time.sleep(0.05)
        with open(os.path.join(self.dir, "state", "runs", self.last_run()["run"], "run.json")) as f:
            child = json.load(f)["pid"]
        p.kill()
        p.wait()
        os.kill(child, signal.SIGKILL)
        self.assertIsNone(self.last_run()["exit"])

    def last_run_or_none(self):
        runs = json.loads(self.stet("runs", "--format=json").stdout)["runs"]
        return runs[0] if runs else None


if __name__ == "__main__":
    unittest.main(verbosity=1)
