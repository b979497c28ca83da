"""docs/agents.md is right: its commands run, and the documents that they print have the fields and schemas it names.

usage: test_agents.py BUILD_DIR [unittest arguments]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open(os.path.join(TOP, "docs", "agents.md"), encoding="utf-8") as file:
    PAGE = file.read()
RUN, LATER = "20260101-000000-aaaaaa", "20260102-000000-bbbbbb"


def setUpModule():
    global DIR, ENV
    DIR = tempfile.mkdtemp(prefix="stet-agents-")
    ENV = dict(os.environ, STET_STATE_DIR=os.path.join(DIR, "state"), STET_STORE=os.path.join(DIR, "store"), NO_COLOR="1",
               PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"])
    ENV.pop("STET_LEDGER", None)
    with open(os.path.join(DIR, "train.py"), "w", encoding="utf-8") as script:
        script.write("import jax\n\n@jax.jit\ndef step(x):\n    if x.sum() > 0:\n        return x\n    return -x\n")
    for run, compiles in ((RUN, 6), (LATER, 9)):
        subprocess.run([os.path.join(BUILD, "bin", "make_run"), ENV["STET_STATE_DIR"], run, str(compiles), "1", os.path.join(DIR, "train.py")],
                       check=True, timeout=60)
    trace = os.path.join(TOP, "tests", "data", "torch", "train.log.zst")
    subprocess.run(["stet", "torch", "ingest", trace], cwd=DIR, env=ENV, check=True, capture_output=True, timeout=60)


def tearDownModule():
    shutil.rmtree(DIR, ignore_errors=True)


def stet(words):
    return subprocess.run(words, cwd=DIR, env=ENV, capture_output=True, text=True, timeout=100)


def ask(words, codes=(0, 1)):
    out = stet(words)
    assert out.returncode in codes, (words, out.returncode, out.stderr)
    return json.loads(out.stdout)


class Agents(unittest.TestCase):
    def test_every_command_of_the_page_is_understood(self):
        commands = sorted(set(re.findall(r"`(stet [^`]+)`", PAGE)))
        self.assertGreater(len(commands), 12)
        for command in commands:
            words = command.replace("PATH…", "train.py").replace("RUN", RUN).replace("DAYS", "3").replace("ID", "shape-drift").split()
            if words[1] in ("run", "doctor"):  # doctor tries every plugin of the machine
                words = words[:2] + ["--help"]
            if words[1:3] == ["contract", "init"]:
                words += ["--force", RUN]
            out = stet(words)
            self.assertNotEqual(out.returncode, 2, (command, out.stderr))
            self.assertNotIn("unknown option", out.stderr, command)

    def test_a_recompile_has_the_fields_of_the_table(self):
        table = PAGE[PAGE.index("Fields of an entry of `recompiles`"):PAGE.index("Sort by `wait_s`")]
        fields = [f for row in re.findall(r"^\| (`.*?) \|", table, re.M) for f in re.findall(r"`(\w+)`", row)]
        self.assertGreater(len(fields), 12)
        entries = ask(["stet", "explain", RUN, "--format=json"])["recompiles"]
        self.assertTrue(entries)
        for entry in entries:
            self.assertEqual([f for f in fields if f not in entry], [])
            self.assertIn(entry["sure"], re.search(r"`sure` \| (.*?)\. ", table)[1])
        changes = re.search(r"`changes` \|.*: (.*) \|", table)[1]
        self.assertEqual(set(re.findall(r"`(\w+)`", changes)) - set(entries[0]["changes"][0]), set())
        self.assertEqual(set(entries[0]["trigger"]), {"file", "line", "function"})

    def test_a_violation_has_the_fields_of_the_page(self):
        self.assertEqual(stet(["stet", "contract", "init", RUN]).returncode, 0)
        found = ask(["stet", "check", LATER, "--format=json"], (1,))["violations"]
        named = re.search(r"Each entry of `violations` has\n(.*?)\. `stet contract", PAGE, re.S)[1]
        self.assertEqual([f for f in re.findall(r"`(\w+)`", named) if f not in found[0]], [])

    def test_documents_have_the_schema_of_the_table(self):
        table = dict(re.findall(r"^\| `(stet [^`]+)` \| `(stet\.[^`]+)`", PAGE, re.M))
        self.assertGreater(len(table), 1)
        for command, schema in table.items():
            if " doctor " in command:
                continue  # cli.doctor has it
            self.assertEqual(ask(command.replace("RUN", RUN).split())["schema"], schema)


if __name__ == "__main__":
    unittest.main()
