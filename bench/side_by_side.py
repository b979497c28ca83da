"""Runs tests of other projects on XLA's CPU and on the embedded CPU backend, and compares them test by test.

A library for jax_tests.py and suites.py. Each part (a file or folder of tests) is one pytest process per
side. A seeded sample of its tests is run: the same on both sides.
"""
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STET = ROOT / "build/release/bin/stet"

# Loaded into each pytest: chooses the sample, and writes what became of each test.
PLUGIN = '''
import hashlib, json, os

SEED, MOST, OUT = os.environ["SAMPLE_SEED"], int(os.environ["SAMPLE_MOST"]), os.environ["SAMPLE_OUT"]


def rank(item):
    return hashlib.sha256((SEED + item.nodeid).encode()).hexdigest()


def pytest_collection_modifyitems(config, items):
    if MOST and len(items) > MOST:
        chosen = set(map(id, sorted(items, key=rank)[:MOST]))
        config.hook.pytest_deselected(items=[i for i in items if id(i) not in chosen])
        items[:] = [i for i in items if id(i) in chosen]


def say(what, test, why=""):
    with open(OUT, "a") as out:
        out.write(json.dumps([what, test, " ".join(why.split())[-600:]]) + "\\n")


def pytest_runtest_logstart(nodeid, location):
    say("began", nodeid)


def pytest_runtest_logreport(report):
    if report.failed:
        say("failed", report.nodeid, report.longreprtext)
    elif report.skipped:
        say("skipped", report.nodeid)
    elif report.when == "call":
        say("passed", report.nodeid)


def pytest_collectreport(report):
    if report.failed:
        say("failed", report.nodeid, report.longreprtext)
'''


class Side:
    """XLA's CPU, or the backend."""

    def __init__(self, name, before, environment):
        self.name, self.before, self.environment = name, before, environment


XLA = Side("XLA:CPU", [], {"JAX_PLATFORMS": "cpu"})
BACKEND = Side("stet test", [str(STET), "test", "--"], {})
STRICT = Side("stet test --strict", [str(STET), "test", "--strict", "--"], {})


class Result:
    """What became of one part on one side."""

    def __init__(self, outcomes, reasons, cpu, clock, output):
        self.outcomes, self.reasons, self.cpu, self.clock, self.output = outcomes, reasons, cpu, clock, output

    def count(self, outcome):
        return sum(o == outcome for o in self.outcomes.values())


def read(path):
    """A test that began and did not end took the process with it."""
    outcomes, reasons = {}, {}
    for line in path.read_text().splitlines() if path.exists() else ():
        what, test, why = json.loads(line)
        if what == "began":
            outcomes[test] = "crashed"
        elif outcomes.get(test) not in ("failed", "skipped"):  # a failed teardown counts, a passed one adds nothing
            outcomes[test] = what
        if what == "failed":
            outcomes[test] = "failed"
            reasons[test] = why
    return outcomes, reasons


def run(side, python, arguments, cwd, seed, most, timeout, environment=()):
    """Runs pytest with `arguments`; at most `most` tests (0: all)."""
    with tempfile.TemporaryDirectory(prefix="stet-side-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "stet_sample.py").write_text(PLUGIN)
        out = scratch / "outcomes"
        command = [*side.before, str(python), "-m", "pytest", "-q", "-p", "stet_sample", "-p", "no:cacheprovider", "--tb=short", *arguments]
        env = {**os.environ, **side.environment, **dict(environment), "SAMPLE_SEED": str(seed), "SAMPLE_MOST": str(most),
               "SAMPLE_OUT": str(out), "PYTHONPATH": os.pathsep.join([str(scratch), *filter(None, [dict(environment).get("PYTHONPATH")])]),
               "STET_STATE_DIR": str(scratch / "state")}
        begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        log = scratch / "log"
        with open(log, "w") as to:
            process = subprocess.Popen(command, cwd=cwd, stdout=to, stderr=subprocess.STDOUT, env=env, start_new_session=True)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        return Result(*read(out), cpu, time.monotonic() - begin, log.read_text(errors="replace")[-6000:])


def differing(xla, ours):
    """Tests that pass on XLA's CPU and not here, with the reason."""
    return {test: (ours.outcomes.get(test, "not run"), ours.reasons.get(test, ""))
            for test, outcome in xla.outcomes.items() if outcome == "passed" and ours.outcomes.get(test) != "passed"}


def seeded(text, seed):
    return hashlib.sha256(f"{seed}{text}".encode()).hexdigest()


def save(path, data):
    pathlib.Path(path).write_text(json.dumps(data, indent=1) + "\n")
