"""Facts about the pytest plugin and `stet test`: a small project is tested with them, as a user would.

usage: test_plugin.py BUILD_DIR PYTEST_ENV [unittest arguments]     run it with the Python of an environment that has JAX
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

BUILD, PYTEST = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PYTEST_COMMAND = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
ALL_COMPILES = ("--stet-slowest", "100")  # which five are slowest depends on the machine
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROJECT = """\
import jax, jax.numpy as jnp, pytest

@jax.jit
def step(x):
    return (x * 2).sum()

@pytest.mark.compiles(max=1)
def test_one_size():
    for _ in range(3):
        assert float(step(jnp.ones(4))) == 8

@pytest.mark.compiles(max=2)
def test_drifting_sizes():
    for n in (5, 6, 7, 8):
        assert float(step(jnp.ones(n))) == 2 * n

@pytest.mark.compiles(max=0)
def test_operations_are_not_functions():
    assert float(jnp.sin(jnp.arange(9.0))[0]) == 0

def test_wrong():
    assert float(step(jnp.ones(3))) == 7
"""


def setUpModule():
    global DIR
    DIR = tempfile.mkdtemp(prefix="stet-pytest-")
    site = os.path.join(DIR, "site")
    for package in ("stet", "stet_cpu"):
        shutil.copytree(os.path.join(TOP, "python", package), os.path.join(site, package))
    files = [os.path.relpath(os.path.join(at, name), site) for at, _, names in os.walk(site) for name in names]
    with open(os.path.join(TOP, "pyproject.toml"), encoding="utf-8") as file:
        entry = re.search(r"\[project.entry-points.(pytest11)\]\n(.*)\n", file.read())
    info = os.path.join(site, "stet_plugin_only-0.dist-info")  # found by its entry point, as the wheel's is
    os.makedirs(info)
    write(info + "/METADATA", "Metadata-Version: 2.1\nName: stet-plugin-only\nVersion: 0\n")
    write(info + "/RECORD", "".join(f"{name},,\n" for name in files))
    write(info + "/entry_points.txt", f"[{entry[1]}]\n{entry[2].replace(chr(34), '')}\n")
    write(DIR + "/test_model.py", PROJECT)
    for name in ("JAX_PLATFORMS", "PJRT_NAMES_AND_LIBRARY_PATHS", "STET_RUN", "STET_DIR", "GITHUB_STEP_SUMMARY"):
        os.environ.pop(name, None)
    os.environ.update(STET_STATE_DIR=DIR + "/state", PATH=BUILD + "/bin:" + os.environ["PATH"],
                      PYTHONPATH=site + ":" + glob.glob(PYTEST + "/lib/python3*/site-packages")[0])


def tearDownModule():
    shutil.rmtree(DIR, ignore_errors=True)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def pytest(*args, **env):
    return run(*PYTEST_COMMAND, *args, **env)


def run(*command, **env):
    out = subprocess.run(command, cwd=DIR, env=dict(os.environ, **env), capture_output=True, text=True)
    return out.returncode, out.stdout, out.stderr


class Plugin(unittest.TestCase):
    def check(self, out):
        """What every way of running the project must print."""
        self.assertIn("4 compiles of functions, where at most 2 are allowed:", out)
        self.assertRegex(out, r"4× shape-drift in step, test_model.py:14\n +argument x dimension 0  4 -> 5\n(.*\n){3} +fix: Pad ")
        self.assertEqual(set(re.findall(r"^FAILED test_model.py::(\w+)", out, re.M)), {"test_drifting_sizes", "test_wrong"})
        self.assertRegex(out, r"= stet =+\n\d+ compiles \(\d+ of functions, \d+ of single operations\), waited ")
        self.assertRegex(out, r"\n +\d+\.\d\d s  jit_step, test_model.py:\d+\n")

    def test_a_budget_is_kept_and_reasons_are_named(self):
        junit, page = DIR + "/junit.xml", DIR + "/summary.md"
        code, out, err = pytest("--stet", "-q", *ALL_COMPILES, "--junitxml=" + junit, GITHUB_STEP_SUMMARY=page)
        self.assertEqual(code, 1, out + err)
        self.check(out)
        self.assertRegex(err, r"stet: run \S+: \d+ compiles")
        counts = {case.get("name"): int(case.find(".//property[@name='stet_compiles']").get("value"))
                  for case in xml.parse(junit).iter("testcase")}
        self.assertGreaterEqual(counts["test_drifting_sizes"], 4)
        self.assertGreaterEqual(counts["test_wrong"], 1)  # counted though it failed
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("### Compiles"), 1)
        self.assertIn(f"| `test_model.py::test_drifting_sizes` | {counts['test_drifting_sizes']} |", text)

    def test_workers_of_xdist_count_too(self):
        page = DIR + "/workers.md"
        code, out, err = pytest("--stet", "-q", *ALL_COMPILES, "-n", "2", "--dist", "loadfile", GITHUB_STEP_SUMMARY=page)
        self.assertEqual(code, 1, out + err)
        self.check(out)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read().count("### Compiles"), 1)

    def test_stet_test_runs_any_command(self):
        code, out, err = run("stet", "test", "--", *PYTEST_COMMAND, "-q", *ALL_COMPILES)
        self.assertEqual(code, 1, out + err)
        self.check(out)
        self.assertNotIn("compiled again", err)  # the summary gives totals alone
        self.assertRegex(err, r"(?m)^stet: about [\d.]+ m?s of compiling avoided: ")
        code, out, err = run("stet", "test", "--", sys.executable, "-c", "import jax; print(jax.devices()[0].platform)")
        self.assertEqual((code, out), (0, "cpu\n"), err)

    def test_an_ini_option_is_the_budget_of_unmarked_tests(self):
        write(DIR + "/test_plain.py", "import jax\ndef test_it():\n    assert jax.jit(lambda x: x + 1)(1) == 2\n")
        code, out, _ = pytest("--stet", "-q", "-o", "stet_compiles=0", "test_plain.py")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"1 compiles of functions, where at most 0 are allowed:\n.* jit__lambda_?, test_plain.py:3, its first compile")
        code, out, _ = pytest("--stet", "-q", "--stet-slowest=1", "-o", "stet_compiles=1", "test_plain.py")
        self.assertEqual((code, len(re.findall(r"^ +\d+\.\d\d s  jit_", out, re.M))), (0, 1), out)
        self.assertNotIn("warning", out)  # such as: stet_cpu was imported before it could be rewritten

    def test_without_stet_budgets_are_named_and_nothing_else_happens(self):
        code, out, _ = pytest("-q", "--strict-markers", JAX_PLATFORMS="cpu")
        self.assertEqual(set(re.findall(r"^FAILED test_model.py::(\w+)", out, re.M)), {"test_wrong"})
        self.assertIn("stet: the compile budgets of 3 tests were not checked: run pytest with --stet", out)


if __name__ == "__main__":
    unittest.main()
