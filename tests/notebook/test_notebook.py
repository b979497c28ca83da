"""Facts about Stet in a notebook: notebooks are executed by nbclient, with JAX's interpreter as the kernel.

usage: test_notebook.py BUILD_DIR JAX_PYTHON VIEWERS_DIR [unittest arguments]     run it with VIEWERS_DIR/bin/python
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BUILD, JAX, VIEWERS = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEP = "import jax, jax.numpy as jnp\n@jax.jit\ndef step(x):\n    return (x * 2).sum()\n"
LOOP = "for n in (4, 5, 6, 7):\n    total = float(step(jnp.ones(n)))\nprint('total', total)\n"


def setUpModule():
    global DIR
    DIR = tempfile.mkdtemp(prefix="stet-notebook-")
    site = glob.glob(os.path.join(VIEWERS, "lib", "python3*", "site-packages"))[0]
    os.environ.update(STET_STATE_DIR=os.path.join(DIR, "state"), STET_STORE="off", JUPYTER_PATH=os.path.join(DIR, "share", "jupyter"),
                      IPYTHONDIR=os.path.join(DIR, "ipython"), PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"],
                      PYTHONPATH=os.path.join(DIR, "site") + ":" + site)
    for package in ("stet", "stet_cpu"):  # as the wheel installs them
        shutil.copytree(os.path.join(TOP, "python", package), os.path.join(DIR, "site", package))
    for name in ("JAX_PLATFORMS", "PJRT_DEVICE", "PJRT_NAMES_AND_LIBRARY_PATHS", "XLA_FLAGS", "STET_LEDGER", "STET_RUN", "STET_DIR"):
        os.environ.pop(name, None)
    folder = os.path.join(DIR, "share", "jupyter", "kernels", "plain")
    os.makedirs(folder)
    with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
        json.dump({"argv": [JAX, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "plain", "language": "python"}, file)


def tearDownModule():
    shutil.rmtree(DIR, ignore_errors=True)


def execute(*cells, kernel="plain"):
    """What each cell printed."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(book, kernel_name=kernel, timeout=200, resources={"metadata": {"path": DIR}}).execute()
    return ["".join(o.get("text", "") for o in c.outputs if o.output_type == "stream" and o.name == "stdout") for c in book.cells]


class InThisKernel(unittest.TestCase):
    def test_a_cell_prints_what_it_compiled_again(self):
        loaded, cpu, _, first, again, explained = execute("%load_ext stet", "%stet cpu", STEP, "%%stet\n" + LOOP,
                                                          "%%stet\n# again\n" + LOOP, "%stet explain")
        self.assertRegex(loaded, r"stet: this kernel is run \d{8}-")
        self.assertIn("JAX runs on Stet's CPU backend", cpu)
        self.assertTrue(first.startswith("total 14.0\n"), first)
        self.assertRegex(first, r"stet: 3 recompiles in this cell, waited [0-9.]+ s\n  3× shape-drift in step, In\[4\]:3, waited")
        self.assertIn("     fix: ", first)
        self.assertTrue(again.endswith("stet: nothing was compiled again in this cell\n"), again)
        self.assertIn("shape-drift: step", explained)
        self.assertIn("source   In[4]:3 in <module>\n          3 |     total = float(step(jnp.ones(n)))\n", explained)
        self.assertIn("origin   In[3]:4 in step\n", explained)

    def test_the_run_ends_with_the_kernel(self):
        execute("%load_ext stet", "%stet cpu")
        runs = subprocess.run(["stet", "runs", "--format=json"], capture_output=True, text=True, timeout=60).stdout
        self.assertEqual(json.loads(runs)["runs"][0]["exit"], 0)

    def test_an_error_in_a_cell_is_the_cells(self):
        with self.assertRaisesRegex(CellExecutionError, "ZeroDivisionError"):
            execute("%load_ext stet", "%%stet\n1 / 0")

    def test_a_framework_that_has_its_devices_is_reported_as_not_seen(self):
        loaded, = execute("import os; os.environ['JAX_PLATFORMS'] = 'cpu'\nimport jax; jax.devices()\n%load_ext stet")
        self.assertIn("its compiles are not seen; use a kernel that runs under Stet", loaded)


class KernelUnderStet(unittest.TestCase):
    def test_the_installed_kernel_is_a_run(self):
        made = subprocess.run([JAX, "-m", "stet.kernel", "--cpu", "--prefix", DIR], capture_output=True, text=True, timeout=60)
        self.assertEqual(made.returncode, 0, made.stderr)
        loaded, _, first = execute("%load_ext stet", STEP, "%%stet\n" + LOOP, kernel="stet-cpu")
        run = re.search(r"stet: this kernel is run (\S+)\n", loaded)[1]
        self.assertIn("3× shape-drift in step", first)
        runs = subprocess.run(["stet", "runs", "--format=json"], capture_output=True, text=True, timeout=60).stdout
        self.assertIn(run, [r["run"] for r in json.loads(runs)["runs"]])


if __name__ == "__main__":
    unittest.main()
