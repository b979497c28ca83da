"""Hosts with an agent each, and servers and agents that lie, stall and drip. Imported by the tests of this folder."""
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

import attack
from attack import FAKE, HARNESS, LAYER, STET

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))
from servers import PROGRAM, Nginx, Redis, free_port, wait_for  # noqa: F401 (for the tests)


def in_memory():
    """A folder whose files cost no disk: these tests wait for agents and servers, and should not wait for fsync."""
    try:
        room = os.statvfs("/dev/shm")
        return "/dev/shm" if room.f_bavail * room.f_frsize > 256 << 20 and os.access("/dev/shm", os.W_OK) else None
    except OSError:
        return None


tempfile.tempdir = in_memory()
WAIT_NS = 3_000_000_000  # STET_AGENT_WAIT unless it is set: how long a process waits for an answer


class Host:
    """One machine's user: its keys, its store, its agents. All state is below one folder."""

    def __init__(self, case, name, **env):
        self.case, self.dir = case, f"{case.dir}/{name}"
        os.makedirs(self.dir + "/runtime", mode=0o700)
        self.store = self.dir + "/store"
        self.env = case.environment(
            HOME=self.dir, XDG_CONFIG_HOME=self.dir + "/config", XDG_RUNTIME_DIR=self.dir + "/runtime",
            STET_STATE_DIR=self.dir + "/state", STET_STORE=self.store, STET_AGENT_IDLE="60", STET_AGENT_WAIT="20s", **env)

    def stet(self, *words, timeout=60, cwd=None, **env):
        env = {k: v for k, v in dict(self.env, **env).items() if v is not None}
        return subprocess.run([STET, *words], env=env, capture_output=True, text=True, timeout=timeout, cwd=cwd or self.dir)

    def key(self):
        return json.loads(self.stet("cache", "key", "new", "--format=json").stdout)["own"]

    def run(self, programs, plugin=FAKE, **env):
        """Compiles programs under `stet run`: ({(how served, tier)}, standard error)."""
        done = self.stet("run", "--", HARNESS, plugin, *programs, **env)
        self.case.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(self.stet("show", "--format=json", **env).stdout)
        compiles = [c for p in shown["processes"] for c in p["compiles"]]
        self.case.assertEqual(len(compiles), len(programs))
        return {(c["served"], c.get("tier")) for c in compiles}, done.stderr

    def stop(self, **env):
        """The agent has shared everything when this returns."""
        return self.stet("agent", "stop", **env)

    def forget(self):
        """Empties the store, as on a new machine."""
        subprocess.run(["rm", "-rf", self.store], check=True)


class Case(attack.Case):
    def setUp(self):
        super().setUp()
        self.hosts = []
        self.addCleanup(self.stop_agents)
        self.programs = [self.file(f"p{n}.mlir", PROGRAM.format(n=n + 1)) for n in range(4)]

    def stop_agents(self):
        """Agents outlive runs; each of ours has a lock of its own below this test's folder."""
        for host in self.hosts:
            for name in os.listdir(host.dir + "/runtime/stet") if os.path.isdir(host.dir + "/runtime/stet") else []:
                if name.startswith("agent-") and not name.endswith((".lock", "~")):
                    host.stet("agent", "stop", "--socket", f"{host.dir}/runtime/stet/{name}")

    def host(self, name, *tiers, **env):
        self.hosts.append(Host(self, name, STET_TIERS=" ".join(tiers), **env))
        return self.hosts[-1]

    def redis(self, **kw):
        server = Redis(self.dir, **kw)
        self.addCleanup(server.stop)
        return server

    def nginx(self, **kw):
        server = Nginx(self.dir, **kw)
        self.addCleanup(server.stop)
        return server

    def server(self, behave):
        server = Server(behave)
        self.addCleanup(server.close)
        return server


class Server:
    """Does what it likes with each connection; counts them."""

    def __init__(self, behave, listener=None):
        self.behave, self.connections, self.open = behave, 0, True
        self.listener = listener or socket.create_server(("127.0.0.1", 0), backlog=128)
        self.accepts = threading.Thread(target=self.accept, daemon=True)
        self.accepts.start()

    @property
    def port(self):
        return self.listener.getsockname()[1]

    def accept(self):
        while self.open:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            self.behave(connection)
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def close(self):
        self.open = False
        self.listener.shutdown(socket.SHUT_RDWR)  # or accept() goes on, and takes connections of a later server
        self.accepts.join()
        self.listener.close()


def until_closed(connection):
    """Reads what comes and answers nothing."""
    while connection.recv(1 << 16):
        pass


def redis(answer):
    """Speaks Redis's protocol: answer(words) gives the bytes of each reply."""
    def behave(connection):
        f = connection.makefile("rb")
        while line := f.readline():
            words = []
            for _ in range(int(line[1:])):
                words.append(f.read(int(f.readline()[1:])))
                f.read(2)
            connection.sendall(answer(words))
    return behave


def http(answer):
    """Sends answer(connection, head) once the head of a request is there."""
    def behave(connection):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(1 << 16)
            if not piece:
                return
            head += piece
        answer(connection, head)
    return behave


def drip(connection, start):
    connection.sendall(start)
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def pour(connection, start):
    connection.sendall(start)
    for _ in itertools.repeat(None, 64):
        connection.sendall(b"x" * (1 << 20))
    until_closed(connection)


def thousand(case):
    """A thousand programs, made once for a test."""
    return [case.file(f"many/{n}.mlir", PROGRAM.format(n=n)) for n in range(1, 1001)]


def compile_with(case, programs, agent, **env):
    """Compiles these programs with this agent; every one must be compiled and run. What each question to the agent
    took, in nanoseconds, in the order in which they were asked."""
    with tempfile.TemporaryDirectory(prefix="stet-attack-") as folder:
        done = subprocess.run([HARNESS, FAKE, *programs], stdout=subprocess.PIPE, timeout=250, env=case.environment(
            **{"LD_PRELOAD": LAYER, "STET_DIR": folder + "/run", "STET_STORE": folder + "/store", "STET_CAPTURE": "hash",
               "STET_AGENT": agent, **env}))
        ends = [r for r in case.records(folder + "/run") if r["record"] == "compile_end"]
    case.assertEqual(done.returncode, 0)
    results = json.loads(done.stdout)["results"]
    case.assertFalse([r for r in results if "error" in r])
    case.assertEqual([e.get("served", 0) for e in ends], [0] * len(programs))
    return [e["agent_ns"] for e in ends if e.get("agent_ns")]


def compile_thousand(case, agents):
    """A thousand programs with each of these agents, {name: (socket, environment)}, at the same time.

    A process begins with an account of two waits. A question takes off what it took, and none is asked when nothing
    is left: so all questions but the last fit into the account, by the process's own clock, however busy the machine is.
    None of these agents and tiers ever comes to an end by itself; that the last question ends is its deadline's work."""
    programs, asked, seconds = thousand(case), {}, {}

    def compile_them(name, agent, env):
        begin = time.monotonic()
        asked[name] = compile_with(case, programs, agent, **env)
        seconds[name] = time.monotonic() - begin
    work = [threading.Thread(target=compile_them, args=(name, *how)) for name, how in agents.items()]
    for w in work:
        w.start()
    for w in work:
        w.join()
    print("\n  seconds for 1,000 programs: " + ", ".join(f"{n} {s:.1f}" for n, s in seconds.items()), flush=True)
    case.assertEqual(set(asked), set(agents))
    for name, questions in asked.items():
        case.assertLess(sum(questions[:-1]), 2 * WAIT_NS, name)


class TierCase(Case):
    """Agents of a user with a key, with one tier each."""

    def agent(self, name, tier, **env):
        """The agent of a user with a key, and its log."""
        path, log = f"{self.dir}/{name}.socket", f"{self.dir}/{name}.log"
        env = self.environment(STET_TIERS=tier, **env)
        if not os.path.exists(self.dir + "/config/stet/signing.key"):
            subprocess.run([STET, "cache", "key", "new"], env=env, stdout=subprocess.DEVNULL, check=True)
        with open(log, "wb") as errors:
            p = subprocess.Popen([STET, "agent", "--foreground", "--socket", path], env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=errors)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.assertTrue(wait_for(lambda: os.path.exists(path)))
        return path, log

    def status(self, path):
        return self.stet("agent", "status", "--socket", path).stdout

    def counts(self, path):
        return json.loads(self.stet("agent", "status", "--socket", path, "--format=json").stdout)

    def compile_all(self, tiers, **env):
        """A thousand programs with each of these tiers: all are compiled, nothing is found, and the account is kept."""
        agents = {name: self.agent(re.sub(r"\W", "-", name), tier, **env) for name, tier in tiers.items()}
        compile_thousand(self, {"none": ("off", {}), **{name: (a[0], {}) for name, a in agents.items()}})
        for name, (path, _) in agents.items():
            self.assertRegex(self.status(path), r"(?m)^  asked +\d+$", name)  # it lives, and was asked
            self.assertNotRegex(self.status(path), r"(?m)^  found ", name)
