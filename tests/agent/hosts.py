"""Hosts: an agent, a store and clients each; what the tests of this folder share."""
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from servers import PROGRAM, Nginx, Proxy, Redis, wait_for

BUILD = os.path.abspath(sys.argv[1])
SANITIZER = sys.argv[2] if len(sys.argv) > 2 else ""
STET = BUILD + "/bin/stet"
CLIENT = BUILD + "/bin/agent-client"


def patient(tier):
    """A machine may be slow. A test whose subject is a slow server says how long it waits; others give up nothing."""
    if "connect=" in tier or "timeout=" in tier:
        return tier
    return tier + ("&" if "?" in tier else "?") + "connect=30s&timeout=60s"


class Agent:
    """One host: an agent, its store, its socket."""

    def __init__(self, folder, name, tiers, **env):
        self.dir = f"{folder}/{name}"
        self.store, self.socket = self.dir + "/store", self.dir + "/agent"
        os.makedirs(self.store)
        self.log = open(self.dir + "/log", "wb")
        self.env = dict(os.environ, STET_TIERS=" ".join(map(patient, tiers)), STET_STATE_DIR=self.dir + "/state",
                        **{"STET_TRUST": "any", "ASAN_OPTIONS": "detect_leaks=0", **env})
        self.start()

    def start(self):
        self.process = subprocess.Popen([STET, "agent", "--foreground", "--socket", self.socket],
                                        stdin=subprocess.DEVNULL, stderr=self.log, env=self.env)
        assert wait_for(self.answers), open(self.dir + "/log").read()

    def answers(self):
        """A socket that a killed agent left is there too: only a connection tells."""
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.socket) == 0

    def client(self, *args):
        return [CLIENT, args[0], self.socket, self.store, *map(str, args[1:])]

    def ask(self, program, wait_ms=20000):
        """(verdict, tier or reason, milliseconds)"""
        out = subprocess.run(self.client("ask", program, wait_ms), capture_output=True, text=True,
                             timeout=60)
        if out.returncode:
            return "failed", out.stderr.strip(), 0
        words = out.stdout.split()
        return words[0], words[1] if len(words) == 3 else "", int(words[-1])

    def make(self, program, ms=0, wait_ms=20000):
        out = subprocess.run(self.client("make", program, wait_ms, ms), capture_output=True, text=True,
                             timeout=60, check=True)
        return out.stdout.split()[0]

    def message(self, *words):
        """A message between ranks, read or written; the answer."""
        return subprocess.run([CLIENT, "message", self.socket, *words], capture_output=True, text=True, timeout=120,
                              check=True).stdout.rstrip("\n")

    def status(self):
        out = subprocess.run([STET, "agent", "status", "--socket", self.socket, "--format=json"],
                             capture_output=True, text=True, check=True)
        return json.loads(out.stdout)

    def forget(self, key):
        """Removes the entry of a key from the store, wherever in it it lies."""
        found = glob.glob(f"{self.store}/**/{key}.stet", recursive=True)
        assert found
        for path in found:
            os.remove(path)

    def shared(self):
        """Waits until everything is where it should go."""
        return wait_for(lambda: self.status()["queued"] == 0)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(60)
        self.log.close()
        return code


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-agent-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.hosts = 0
        self.programs = []
        for n in range(10):
            self.programs.append(f"{self.dir}/p{n}.mlir")
            with open(self.programs[-1], "w") as f:
                f.write(PROGRAM.format(n=n + 1))

    def host(self, *tiers, **env):
        self.hosts += 1
        a = Agent(self.dir, f"host{self.hosts}", tiers, **env)
        self.addCleanup(a.stop)
        return a

    def redis(self, **kw):
        r = Redis(self.dir, **kw)
        self.addCleanup(r.stop)
        return r

    def nginx(self, **kw):
        n = Nginx(self.dir, **kw)
        self.addCleanup(n.stop)
        return n

    def proxy(self, *args, **kw):
        p = Proxy(*args, **kw)
        self.addCleanup(p.close)
        return p

    def fly(self, hosts, clients, ms=100):
        """`clients` processes, 10 programs each in its own order; the verdicts."""
        running = []
        for c in range(clients):
            order = [self.programs[(c + i) % 10] for i in range(10)]
            host = hosts[c % len(hosts)]
            script = "\n".join(" ".join(host.client("make", p, 20000, ms)) for p in order)
            running.append(subprocess.Popen(["sh", "-ec", script], stdout=subprocess.PIPE, text=True))
        return [r.communicate(timeout=100)[0].split("\n")[:-1] + [r.returncode] for r in running]

    def check_flights(self, answers, compiles):
        for a in answers:
            self.assertEqual((len(a), a[-1]), (11, 0), a)  # ten results, and no failure
        words = [line.split()[0] for a in answers for line in a[:-1]]
        self.assertEqual(words.count("LEAD"), compiles)
        self.assertEqual(words.count("FOUND"), 10 * len(answers) - compiles)

    def lead_and_die(self, host, program, ms=60000):
        """A leader that compiles for long: it is killed, or its host is."""
        p = subprocess.Popen(host.client("make", program, 3000, ms), stdout=subprocess.PIPE, text=True)
        self.assertEqual(p.stdout.readline().split()[0], "LEAD")
        self.addCleanup(p.stdout.close)
        return p

    def keyed(self, name):
        """The environment of a user with a key of its own, and that key."""
        env = {"STET_TRUST": "", "XDG_CONFIG_HOME": f"{self.dir}/{name}"}
        made = subprocess.run([STET, "cache", "key", "new"], env=dict(os.environ, **env), text=True, capture_output=True, check=True)
        return env, made.stdout.split()[0]

    def key(self, program):
        return subprocess.run([CLIENT, "key", program], capture_output=True, text=True, check=True).stdout.strip()

    def entry(self, program, *other):
        subprocess.run([CLIENT, "entry", program, self.dir + "/entry", *other], check=True)
        with open(self.dir + "/entry", "rb") as f:
            return f.read()


