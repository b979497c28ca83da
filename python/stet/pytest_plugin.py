"""A pytest plugin: `pytest --stet` counts what each test compiles, and holds tests to a budget (docs/test.md).

Without --stet it adds its options and its marker and does nothing else."""

import ctypes
import os
import sys
import time

import pytest

from stet.locate import answer, command

UNCHECKED = pytest.StashKey()
JOURNAL_S = 120  # the layer writes its journal a few milliseconds after a compile


def pytest_addoption(parser):
    group = parser.getgroup("stet", "what tests compile")
    group.addoption("--stet", action="store_true", help="run on Stet's CPU backend and count what each test compiles")
    group.addoption("--stet-device", action="store_true", help="count on the device that the tests run on by themselves")
    group.addoption("--stet-slowest", type=int, default=5, metavar="N", help="list the N slowest compiles (default 5)")
    parser.addini("stet_compiles", "how many functions a test may compile, unless it is marked otherwise", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Starts this command again under Stet, before anything of the user's is imported."""
    options = early_config.known_args_namespace
    if "STET_RUN" in os.environ or not (options.stet or options.stet_device):
        return
    args = early_config.invocation_params.args
    again = getattr(sys, "orig_argv", None) or [sys.executable, "-m", "pytest", *args]
    how = ["run", "--quiet"] if options.stet_device else ["test"]
    early_config.pluginmanager.getplugin("capturemanager").stop_global_capturing()
    os.execv(command(), ["stet", *how, "--", *again])


def pytest_configure(config):
    config.addinivalue_line("markers", "compiles(max): under --stet, the test fails if it compiles more functions than this")
    count = getattr(ctypes.CDLL(None), "stet_layer_compiles", None) if "STET_RUN" in os.environ else None
    if count:
        count.restype = ctypes.c_uint64
        config.pluginmanager.register(Compiles(config, count), "stet-compiles")


def budget(item):
    """The most functions that a test may compile, or None."""
    marker = item.get_closest_marker("compiles")
    if marker:
        return int(marker.kwargs.get("max", marker.args[0] if marker.args else 0))
    default = item.config.getini("stet_compiles")
    return int(default) if default else None


def pytest_collection_modifyitems(config, items):
    if not config.pluginmanager.has_plugin("stet-compiles"):
        config.stash[UNCHECKED] = sum(budget(item) is not None for item in items)


def pytest_terminal_summary(terminalreporter, config):
    unchecked = config.stash.get(UNCHECKED, 0)
    if unchecked:
        terminalreporter.write_line(f"stet: the compile budgets of {unchecked} tests were not checked: run pytest with --stet")


class Compiles:
    """What the tests of this process compile, and, in the process that reports, of all of them."""

    def __init__(self, config, count):
        self.run, self.count = os.environ["STET_RUN"], count
        self.slowest = config.getoption("--stet-slowest")
        self.reports = not hasattr(config, "workerinput")  # a worker of pytest-xdist leaves it to the first process
        self.tests = {}  # compiles by test

    def pytest_report_header(self):
        where = "on Stet's CPU backend" if "STET_CPU_LIBRARY" in os.environ else "on their own device"
        return f"stet: run {self.run}, {where}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        first = self.count()
        try:
            result = yield
        finally:
            last = self.count()
            item.user_properties.append(("stet_compiles", last - first))
        most = budget(item)
        if most is not None and last - first > most:
            self.judge(first, last, most)
        return result

    def judge(self, first, last, most):
        """Fails the test if more than `most` of these compiles are of functions."""
        number, process = self.mine(self.processes(last))
        compiles = process["compiles"]
        functions = [c for c in compiles if first <= c["compile"] < last and not c["operation"]]
        if len(functions) <= most:
            return
        reasons = {r["compile"]: r for r in answer("explain", self.run, "--format=json")["recompiles"]
                   if r["lane"] == "xla" and r["process"] == number}
        groups = {}
        for c in functions:
            r = reasons.get(c["compile"])
            groups.setdefault((r["class"], r["function"], place_of(r), r["fix"]) if r else c["compile"], []).append((c, r))
        lines = [f"{len(functions)} compiles of functions, where at most {most} are allowed:"]
        for group in sorted(groups.values(), key=lambda g: -sum(c["wait_s"] for c, _ in g)):
            lines += told(group)
        pytest.fail("\n".join(lines), pytrace=False)

    def mine(self, processes):
        """The number of this process in the run, and what the run knows of it; or None."""
        found = [(n, p) for n, p in enumerate(processes) if p["pid"] == os.getpid()]
        return found[-1] if found else None

    def processes(self, wanted):
        """The processes of the run; waits until the journal of this one has `wanted` compiles."""
        until = time.monotonic() + JOURNAL_S
        while True:
            processes = answer("show", self.run, "--format=json")["processes"]
            mine = self.mine(processes)
            written = sum(c["kind"] == "compile" and c["ended"] for c in mine[1]["compiles"]) if mine else 0
            if written >= wanted:
                return processes
            if time.monotonic() > until:
                pytest.fail(f"stet: run {self.run} has no record of what this process compiled", pytrace=False)
            time.sleep(0.02)

    # ---- the summary

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.tests[report.nodeid] = dict(report.user_properties).get("stet_compiles", 0)

    def pytest_terminal_summary(self, terminalreporter):
        if not self.reports:
            return
        seen = [c for p in self.processes(self.count()) for c in p["compiles"]]
        functions = sum(not c["operation"] for c in seen)
        waited, compiler = sum(c["wait_s"] for c in seen), sum(c["cost_s"] for c in seen)
        head = (f"{len(seen)} compiles ({functions} of functions, {len(seen) - functions} of single operations), "
                f"waited {waited:.1f} s (compiler {compiler:.1f} s)")
        slowest = [brief(c) for c in sorted(seen, key=lambda c: -c["wait_s"])[: self.slowest]]
        write = terminalreporter.write_line
        terminalreporter.section("stet")
        write(head)
        for line in slowest:
            write(line)
        write(f"why functions were compiled again: stet explain {self.run}")
        self.tell_github(head, slowest)

    def tell_github(self, head, slowest):
        """Adds the summary to the page of a GitHub job."""
        page = os.environ.get("GITHUB_STEP_SUMMARY")
        if not page:
            return
        most = sorted(self.tests.items(), key=lambda t: -t[1])[: self.slowest]
        with open(page, "a", encoding="utf-8") as file:
            file.write(f"### Compiles\n\n{head}\n\n| test | compiles |\n|---|---|\n")
            file.writelines(f"| `{test}` | {n} |\n" for test, n in most)
            file.write("\nSlowest:\n\n" + "\n".join(["```", *slowest, "```"]) + "\n")


def place_of(reason):
    """The line to edit, else the line that waited."""
    return at(reason["source"] or reason["origin"] or reason["trigger"])


def at(place):
    return f"{os.path.relpath(place['file'])}:{place['line']}" if place else "line unknown"


def brief(compile):
    return f"  {compile['wait_s']:6.2f} s  {compile['name']}, {at(compile['trigger'])}"


def told(group):
    """Lines about the compiles of one cause, or about a first one."""
    compile, reason = group[0]
    if not reason:
        return [brief(compile) + ", its first compile"]
    wait = sum(c["wait_s"] for c, _ in group)
    lines = [f"  {wait:6.2f} s  {len(group)}× {reason['class']} in {reason['function']}, {place_of(reason)}"]
    lines += [f"            {r['changes'][0]['what']}  {r['changes'][0]['from']} -> {r['changes'][0]['to']}"
              for _, r in group if r["changes"]]
    return [*lines, f"            fix: {reason['fix']}"]
