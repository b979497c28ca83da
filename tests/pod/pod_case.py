"""What the tests of jobs share: one `stet run` with a process that has imported JAX and forks the ranks."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def marks(*files):
    """The numbers of marked lines: {"here: way": (file, line)}."""
    found = {}
    for name in files:
        for number, text in enumerate((HERE / name).read_text().splitlines(), 1):
            for kind in ("here", "again", "source"):
                if f"  # {kind}: " in text:
                    found[f"{kind}: " + text.rsplit(f"# {kind}: ", 1)[1]] = (str(HERE / name), number)
    return found


class Case(unittest.TestCase):
    """BUILD and PYTHON are set by the script."""
    BUILD = PYTHON = None

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="stet-pod-")
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        cls.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_", "XLA_", "JAX_", "POD_"))}
        cls.env.update(STET_STATE_DIR=cls.dir + "/state", HOME=cls.dir, PYTHONHASHSEED="random")
        cls.stet_path = cls.BUILD + "/bin/stet"

    @classmethod
    def begin(cls, *options):
        """The process that forks ranks."""
        folder = tempfile.mkdtemp(dir=cls.dir)
        cls.events, cls.out = folder + "/events", folder + "/out"
        os.makedirs(cls.out)
        cls.stderr = open(folder + "/stderr", "w+")
        cls.addClassCleanup(cls.stderr.close)
        pathlib.Path(cls.events).touch()
        cls.run_ = subprocess.Popen([cls.stet_path, "run", "--cpu", "--no-store", "--json-events=" + cls.events, *options, "--",
                                     cls.PYTHON, str(HERE / "jobs.py"), cls.out], env=cls.env, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=cls.stderr, text=True, cwd=cls.dir)
        cls.addClassCleanup(cls.finish)
        assert cls.run_.stdout.readline() == "ready\n"
        cls.counter = 0

    @classmethod
    def finish(cls):
        for pipe in (cls.run_.stdin, cls.run_.stdout):
            pipe.close()
        cls.run_.wait(120)

    def start(self, script, way, ranks, **variables):
        """A job; its name."""
        type(self).counter += 1
        name = f"{way.split(',')[0]}{self.counter}"
        self.seen = os.path.getsize(self.events)
        words = [name, script, way, str(ranks), *(f"{k}={v}" for k, v in variables.items())]
        self.run_.stdin.write(" ".join(words) + "\n")
        self.run_.stdin.flush()
        started = self.run_.stdout.readline().split()
        self.assertEqual(started[:2], ["started", name])
        self.pids, self.running = [int(p) for p in started[2:]], name
        self.addCleanup(self.ended, name, kill=True)
        return name

    def ended(self, name, kill=False):
        """The exit codes of its ranks, when it is over; once."""
        if self.running != name:
            return None
        if kill:
            for pid in self.pids:
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
            self.run_.stdin.write(f"end {name}\n")
            self.run_.stdin.flush()
        words = self.run_.stdout.readline().split()
        self.assertEqual(words[:2], ["ended", name])
        self.running = None
        return [int(w) for w in words[2:]]

    def output(self, name, rank):
        return pathlib.Path(f"{self.out}/{name}.{rank}").read_text()

    def new_events(self):
        with open(self.events) as f:
            f.seek(self.seen)
            return [json.loads(line) for line in f.read().splitlines() if line.endswith("}")]

    def written(self):
        """Differences that were written since the job was started, of any job of the run."""
        return [d for e in self.new_events() if e.get("event") == "divergence" for d in e["divergences"]]

    def divergences(self):
        """Those of the job: what ranks of an earlier one found may be written after they have ended."""
        return [d for d in self.written() if d["pid"] in self.pids]

    def until(self, what, why=lambda: ""):
        """The limit only ends a test that would hang."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.1)
        self.fail(why() or "it did not come about")

    def stet(self, *words):
        return subprocess.run([self.stet_path, *words], env=self.env, capture_output=True, text=True, timeout=120)
