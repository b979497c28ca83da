"""A signal reaches the command of `stet run` as often as it was sent, whichever processes it was sent to."""
import os
import pty
import select
import signal
import subprocess
import sys
import time

import attack

# Counts interrupts without Python's own handling of them, says each, and ends when it is told to.
COUNTER = r"""
import os, signal, sys
def on(number, frame):
    os.write(1, f"got {number}\n".encode())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
    signal.signal(number, on)
os.write(1, b"ready\n")
r, w = os.pipe()
signal.signal(signal.SIGUSR2, lambda *a: os.write(w, b"x"))
while True:
    if os.read(r, 1):
        break
os.write(1, b"over\n")
sys.exit(42)
"""


def descendants(pid):
    found = [pid]
    for at in found:
        for task in os.listdir(f"/proc/{at}/task"):
            with open(f"/proc/{at}/task/{task}/children") as f:
                found += [int(p) for p in f.read().split()]
    return found


def command_of(pid):
    with open(f"/proc/{pid}/cmdline") as f:
        return f.read().split("\0")


def name_of(pid):
    with open(f"/proc/{pid}/comm") as f:
        return f.read()


def state(pid):
    """As /proc tells it; - when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "-"


class Signals(attack.Case):
    def begin(self, *before, script=COUNTER, **more):
        path = self.file("counter.py", script)
        self.child = subprocess.Popen([*before, attack.STET, "run", "--quiet", "--", sys.executable, path], env=self.environment(),
                                      stdout=subprocess.PIPE, start_new_session=True, cwd=self.dir, **more)
        self.addCleanup(self.end)
        self.text = b""
        self.until(b"ready\n")
        return self.child.pid

    def end(self):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.child.stdout.close()

    def until(self, word, times=1):
        deadline = time.monotonic() + 60
        while self.text.count(word) < times:
            left = deadline - time.monotonic()
            self.assertGreater(left, 0, (word, self.text))
            if select.select([self.child.stdout], [], [], left)[0]:
                part = os.read(self.child.stdout.fileno(), 4096)
                self.assertTrue(part, (word, self.text))
                self.text += part

    def wait_for(self, pids, wanted):
        deadline = time.monotonic() + 60
        while not all(state(p) in wanted for p in pids):
            self.assertLess(time.monotonic(), deadline, pids)
            time.sleep(0.02)

    def trainer(self):
        """The pid of the command itself."""
        return [p for p in descendants(self.child.pid) if "counter.py" in command_of(p)[-2]][-1]

    def finish(self, *wanted):
        """The command gets these signals and no other. What is one too many has a second to come as well; then the
        marker is sent to the command alone."""
        for number in wanted:
            self.until(f"got {number}\n".encode(), wanted.count(number))
        time.sleep(1)
        os.kill(self.trainer(), signal.SIGUSR2)
        self.until(b"over\n")
        self.assertEqual(self.child.wait(60), 42)
        got = [int(line[4:]) for line in self.text.decode().splitlines() if line.startswith("got ")]
        self.assertEqual(got, list(wanted))

    def test_signals_to_stet_alone_reach_the_command(self):
        pid = self.begin()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            os.kill(pid, number)
            self.until(f"got {number}\n".encode())
        self.finish(signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)

    def test_a_signal_to_the_process_group_arrives_once(self):
        pid = self.begin()
        os.killpg(pid, signal.SIGINT)
        self.finish(signal.SIGINT)

    def test_two_signals_to_the_process_group_arrive_twice(self):
        pid = self.begin()
        os.killpg(pid, signal.SIGINT)
        self.until(b"got 2\n")
        time.sleep(0.5)
        os.killpg(pid, signal.SIGINT)
        self.finish(signal.SIGINT, signal.SIGINT)

    def test_a_signal_to_every_process_of_a_control_group_arrives_once(self):
        """As systemd and Slurm do: each process of the group by itself."""
        pid = self.begin()
        for one in descendants(pid):
            os.kill(one, signal.SIGTERM)
        self.finish(signal.SIGTERM)

    def test_a_signal_to_every_process_in_reverse_arrives_once(self):
        pid = self.begin()
        for one in reversed(descendants(pid)):
            os.kill(one, signal.SIGTERM)
        self.finish(signal.SIGTERM)

    def test_a_later_signal_to_stet_alone_is_not_swallowed(self):
        """What was seen of one signal must not swallow a later one."""
        pid = self.begin()
        os.killpg(pid, signal.SIGTERM)
        self.until(b"got 15\n")
        time.sleep(0.5)
        os.kill(pid, signal.SIGTERM)
        self.finish(signal.SIGTERM, signal.SIGTERM)

    def test_timeout_ends_a_command_once(self):
        pid = self.begin("timeout", "-s", "INT", "600")
        os.kill(pid, signal.SIGALRM)  # as its timer would; it signals its child, and then its group
        self.until(b"got 2\n")
        time.sleep(1)
        self.assertEqual(self.text.count(b"got 2\n"), 1)

    def test_a_signal_to_every_process_called_stet_reaches_the_command(self):
        """Who signals every process called stet means the command as well: it must not be lost."""
        pid = self.begin()
        named = [one for one in descendants(pid) if "stet" in name_of(one) or "stet" in command_of(one)[0]]
        self.assertIn(pid, named)
        for one in named:
            os.kill(one, signal.SIGTERM)
        self.finish(signal.SIGTERM)

    def test_a_signal_by_the_executable_ends_a_command_without_a_handler(self):
        pid = self.begin(script="import os, time\nos.write(1, b'ready\\n')\ntime.sleep(60)\n")
        executables = {one: os.readlink(f"/proc/{one}/exe") for one in descendants(pid)}
        for one, exe in executables.items():
            if exe == executables[pid]:
                os.kill(one, signal.SIGTERM)
        self.assertEqual(self.child.wait(60), -signal.SIGTERM)

    def test_no_process_is_left_behind(self):
        pid = self.begin()
        all_of = descendants(pid)
        os.kill(pid, signal.SIGKILL)
        self.child.wait()
        os.kill(all_of[-1], signal.SIGUSR2)
        for one in all_of:
            self.wait_for([one], "Z-")

    def on_terminal(self, keys):
        path = self.file("counter.py", COUNTER)
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(attack.STET, [attack.STET, "run", "--quiet", "--", sys.executable, path], self.environment())
        text = b""
        deadline = time.monotonic() + 60
        waiting = list(keys)
        while True:
            if waiting and text.count(b"ready") + text.count(b"got") > len(keys) - len(waiting):
                os.write(master, waiting.pop(0))
            elif not waiting and text.count(b"got") >= len(keys):
                break
            self.assertLess(time.monotonic(), deadline, text)
            if select.select([master], [], [], 1)[0]:
                text += os.read(master, 4096)
        time.sleep(1)
        child = [p for p in descendants(pid) if "counter.py" in command_of(p)[-2]][-1]
        os.kill(child, signal.SIGUSR2)
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:
                break
            if not part:
                break
            text += part
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 42)
        os.close(master)
        return text.count(b"got 2\r\n")

    def test_ctrl_c_arrives_once(self):
        self.assertEqual(self.on_terminal([b"\x03"]), 1)

    def test_two_ctrl_c_arrive_twice(self):
        self.assertEqual(self.on_terminal([b"\x03", b"\x03"]), 2)

    def test_ctrl_z_stops_and_continues_both(self):
        pid = self.begin()
        both = [pid, self.trainer()]
        os.killpg(pid, signal.SIGSTOP)
        self.wait_for(both, "T")
        os.killpg(pid, signal.SIGCONT)
        self.wait_for(both, "SR")
        self.finish()


attack.main()
