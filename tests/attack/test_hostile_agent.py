"""An agent that is silent, stopped, garbled or lying: what it costs, and that nothing of it is believed."""
import os
import signal
import socket
import struct
import subprocess

import attack
from attack import FAKE, HARNESS, LAYER, STET
from hostile import Case, Server, compile_thousand, compile_with, thousand, until_closed, wait_for

CLIENT = attack.BUILD + "/bin/agent-client"


class Odd(Server):
    """An agent of this user that does what it likes."""

    def __init__(self, path, behave):
        self.path = path
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(64)
        super().__init__(behave, listener)


def garbage(connection):
    connection.recv(1 << 16)
    connection.sendall(b"nonsense" * 1000)


def huge(connection):
    """A frame that says it is four gigabytes long."""
    connection.recv(1 << 16)
    connection.sendall(b"STETAGT\n" + struct.pack("<II", 1, 0xFFFFFFFF) + b"\0" * 16)
    until_closed(connection)


def half(connection):
    """The beginning of a frame, and never its end."""
    connection.recv(1 << 16)
    connection.sendall(b"STETAGT\n")
    until_closed(connection)


class Agents(Case):
    def odd(self, name, behave):
        agent = Odd(f"{self.dir}/{name}", behave)
        self.addCleanup(agent.close)
        return agent.path

    def process(self, words, path, **env):
        p = subprocess.Popen(words, env=self.environment(**env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.assertTrue(wait_for(lambda: os.path.exists(path)))
        return p

    def agent(self, name):
        path = f"{self.dir}/{name}"
        return path, self.process([STET, "agent", "--foreground", "--socket", path], path, STET_TIERS="")

    def test_a_thousand_programs_wait_for_the_agent_no_longer_than_their_account_whatever_it_does(self):
        stopped, process = self.agent("stopped")
        process.send_signal(signal.SIGSTOP)
        liar, waits = f"{self.dir}/liar", f"{self.dir}/waits"
        self.process([CLIENT, "lie", liar], liar)
        self.process([CLIENT, "lie", waits, "wait"], waits)
        agents = {"none": "off", "absent": self.dir + "/nobody", "silent": self.odd("silent", until_closed), "stopped": stopped,
                  "hangs up": self.odd("gone", lambda c: None), "garbage": self.odd("garbage", garbage),
                  "huge frame": self.odd("huge", huge), "half a frame": self.odd("half", half), "lies": liar, "always waits": waits}
        more = {"always waits": {"STET_AGENT_FLIGHT": "3s"}}  # such an agent is believed once, for that long
        compile_thousand(self, {name: (agent, more.get(name, {})) for name, agent in agents.items()})

    def test_destroying_an_executable_does_not_wait_for_a_stopped_agent(self):
        """Kept entries are announced without waiting: the framework's thread is free at once, and so are forks."""
        path, process = self.agent("agent")
        process.send_signal(signal.SIGSTOP)
        waits = self.dir + "/waits"
        asked = compile_with(self, thousand(self)[:30], path, STET_AGENT_WAIT="100ms", COUNT_WAITS=waits,
                             LD_PRELOAD=f"{attack.BUILD}/lib/libcount_waits.so {LAYER}")
        self.assertEqual(len(asked), 1)
        with open(waits) as f:
            self.assertIn(sum(map(int, f)), range(100, 105))  # for the first question, and then never

    def test_two_processes_of_a_run_wait_for_a_stopped_agent_and_the_later_ones_do_not_ask(self):
        path, process = self.agent("agent")
        process.send_signal(signal.SIGSTOP)
        run = dict(LD_PRELOAD=LAYER, STET_DIR=self.dir + "/run", STET_RUN="many", STET_AGENT=path)
        for n in range(20):
            subprocess.run([HARNESS, FAKE, self.programs[0]], stdout=subprocess.DEVNULL, check=True, timeout=60,
                           env=self.environment(**dict(run, STET_STORE=f"{self.dir}/store{n}")))
        ends = [r for r in self.records(self.dir + "/run") if r["record"] == "compile_end"]
        self.assertEqual((len(ends), sum("agent_ns" in e for e in ends)), (20, 2))

    def test_a_run_reports_in_one_line_that_its_agent_does_not_answer(self):
        path, process = self.agent("agent")
        host = self.host("one")
        process.send_signal(signal.SIGSTOP)
        said = host.run(self.programs, STET_AGENT=path, STET_AGENT_WAIT="100ms")[1]
        self.assertEqual([x for x in said.splitlines() if "agent" in x],
                         [f"stet: the agent at {path} does not answer: entries of other hosts may not have been used"])

    def test_an_entry_announced_to_a_busy_agent_is_shared_after_the_process_ended(self):
        redis = self.redis()
        host = self.host("one", redis.url)
        host.key()
        path = f"{self.dir}/agent"
        process = self.process([STET, "agent", "--foreground", "--socket", path], path, **{
            k: v for k, v in host.env.items() if k.startswith(("STET", "XDG", "HOME"))})
        run = subprocess.Popen([HARNESS, FAKE, *self.programs], stdout=subprocess.DEVNULL, env=dict(
            host.env, LD_PRELOAD=LAYER, STET_DIR=f"{self.dir}/run", STET_AGENT=path, FAKE_COMPILE_MS="300",
            STET_AGENT_WAIT="1s"))
        self.assertTrue(wait_for(lambda: b"stet:1:lease" in redis.ask("KEYS", "*")))
        process.send_signal(signal.SIGSTOP)  # while the first program compiles
        self.assertEqual(run.wait(60), 0)
        process.send_signal(signal.SIGCONT)
        self.assertTrue(wait_for(lambda: b"stet:1:entry" in redis.ask("KEYS", "*")))


if __name__ == "__main__":
    attack.main()
