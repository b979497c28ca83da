"""Facts about what Stet prints and installs for other programs, which read it here: groff, three shells, Microsoft's validator
of SARIF, the commands of GitHub's own toolkit, GitHub's renderer of Markdown, and the schemas of three CI services.

usage: test_formats.py BUILD_DIR NPM_DIR [unittest arguments]     run it with the Python of tools/requirements/viewers.txt

NPM_DIR holds the packages that CMake fetched. Perfetto, pprof and speedscope are in tests/report, notebooks in tests/notebook.
"""

import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cmarkgfm
import jsonschema
import pexpect

BUILD, NPM = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTILE = "f|`a` <b>x</b> [l](u) *s* _t_ ~~u~~ &amp;"
RUN, LATER = "20260101-000000-aaaaaa", "20260102-000000-bbbbbb"


def setUpModule():
    """Two runs of a function with a hostile name; the contract of the first does not allow the second."""
    global DIR, ENV
    DIR = tempfile.mkdtemp(prefix="stet-formats-")
    ENV = dict(os.environ, STET_STATE_DIR=os.path.join(DIR, "state"), STET_STORE="off", NO_COLOR="1", HOME=DIR, LC_ALL="C.UTF-8",
               PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"])
    for name in ("STET_LEDGER", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MANPATH"):
        ENV.pop(name, None)
    with open(os.path.join(DIR, "train.py"), "w", encoding="utf-8") as file:
        file.write("import jax\n@jax.jit\ndef f(x):\n    return x.item()\n")
    for run, compiles in ((RUN, 6), (LATER, 9)):
        subprocess.run([os.path.join(BUILD, "bin", "make_run"), ENV["STET_STATE_DIR"], run, str(compiles), "1", os.path.join(DIR, "train.py"),
                        HOSTILE], check=True, timeout=60)
    assert stet("contract", "init", RUN).returncode == 0


def tearDownModule():
    shutil.rmtree(DIR, ignore_errors=True)


def stet(*args, **more):
    return subprocess.run(["stet", *args], cwd=DIR, env=ENV, capture_output=True, text=True, timeout=100, **more)


class Manual(unittest.TestCase):
    def read(self, page):
        path = os.path.join(BUILD, "share", "man", "man1", page)
        out = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", path], env=ENV, capture_output=True, text=True, timeout=60)
        self.assertEqual((out.returncode, out.stderr), (0, ""), page)
        return out.stdout

    def test_groff_has_no_warning_about_any_page_and_shows_every_option(self):
        for command in [None] + re.findall(r"^  ([a-z]+)  +", stet("--help").stdout, re.M):
            page = self.read(f"stet-{command}.1" if command else "stet.1")
            self.assertRegex(page, r"STET[A-Z-]*\(1\)")
            if command:
                parts = re.findall(r"^  ([a-z]+)  +", stet(command, "--help").stdout, re.M)
                for words in [[command]] + [[command, part] for part in parts]:
                    for option in re.findall(r"^  (--[a-z-]+)", stet(*words, "--help").stdout, re.M):
                        self.assertIn(option, page, words)


class Completion(unittest.TestCase):
    def script(self, shell):
        path = os.path.join(DIR, "_stet" if shell == "zsh" else "stet." + shell)
        with open(path, "w", encoding="utf-8") as file:
            file.write(stet("help", f"--completion={shell}").stdout)
        return path

    def types(self, shell, *start):
        """An interactive shell: returns a function that types a line and a tab, and waits for what the line becomes."""
        child = pexpect.spawn(shell[0], shell[1:], cwd=DIR, env=dict(ENV, PS1="% ", TERM="dumb"), encoding="utf-8", timeout=60,
                              dimensions=(50, 200))
        self.addCleanup(child.close, force=True)
        for line in start:
            child.sendline(line)
        child.sendline("echo rea''dy")
        child.expect_exact("\nready")

        def becomes(line, whole):
            child.send(line + "\t")
            child.expect_exact(whole)
            child.sendcontrol("u")

        return becomes

    def check(self, becomes):
        becomes("stet expl", "stet explain ")
        becomes("stet run --on-div", "stet run --on-divergence=")
        becomes("stet check --format=sa", "--format=sarif")
        becomes("stet contract upd", "stet contract update")
        becomes("stet cache ver", "stet cache verify")
        becomes("stet help static-a", "stet help static-argument")

    def test_bash_completes_commands_options_values_and_pages(self):
        self.check(self.types(["bash", "--norc", "--noprofile", "-i"], "bind 'set enable-bracketed-paste off'", f". {self.script('bash')}"))

    def test_zsh_completes_commands_options_values_and_pages(self):
        folder = os.path.dirname(self.script("zsh"))
        self.check(self.types(["zsh", "-f", "-i"], "unsetopt zle_bracketed_paste list_beep", f"fpath=({folder} $fpath)", "autoload -Uz compinit",
                              "compinit -D -u"))

    def test_fish_completes_commands_options_values_and_pages(self):
        script = self.script("fish")

        def completions(line):
            out = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C $argv[1]", line], cwd=DIR, env=ENV,
                                 capture_output=True, text=True, timeout=60)
            self.assertEqual((out.returncode, out.stderr), (0, ""))
            return [word.split("\t")[0] for word in out.stdout.split("\n") if word]

        for line, words in (("stet expl", ["explain"]), ("stet run --on-div", ["--on-divergence"]),
                            ("stet check --format=sa", ["--format=sarif"]), ("stet contract upd", ["update"]), ("stet cache ver", ["verify"]),
                            ("stet help static-a", ["static-argument"])):
            self.assertEqual(completions(line), words)


class Sarif(unittest.TestCase):
    TOOL = os.path.join(NPM, "sarif-multitool")

    def validate(self, document):
        """The rules that a log breaks, of Microsoft's own and of GitHub's. Raises when the log does not follow the schema, which
        the validator reads without a word."""
        with open(os.path.join(self.TOOL, "sarif-2.1.0.json"), encoding="utf-8") as file:
            jsonschema.validate(document, json.load(file))
        log, out = os.path.join(DIR, "log.sarif"), os.path.join(DIR, "out.sarif")
        with open(log, "w", encoding="utf-8") as file:
            json.dump(document, file)
        tool = os.path.join(self.TOOL, "Sarif.Multitool")
        os.chmod(tool, 0o755)
        done = subprocess.run([tool, "validate", log, "--rule-kind", "Sarif;Ghas", "--output", out, "--log", "ForceOverwrite"], cwd=DIR,
                              env=dict(ENV, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1", DOTNET_BUNDLE_EXTRACT_BASE_DIR=DIR),
                              capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(out, encoding="utf-8-sig") as file:
            run = json.load(file)["runs"][0]
        return {r["ruleId"] for r in run["results"] if r.get("level", "warning") in ("error", "warning")}

    def test_the_validator_accepts_what_lint_and_check_print(self):
        for words in (["lint", "--no-config", "train.py"], ["check", LATER]):
            out = stet(*words, "--format=sarif")
            self.assertEqual(out.returncode, 1, out.stderr)
            document = json.loads(out.stdout)
            self.assertTrue(document["runs"][0]["results"])
            self.assertEqual(self.validate(document), {"SARIF2005"})  # Stet has no web site to name
        document["runs"][0]["tool"]["driver"]["rules"][0].pop("help")
        self.assertEqual(self.validate(document), {"SARIF2005", "GH2012"})
        document["runs"][0]["results"][0]["level"] = "loud"
        self.assertRaises(jsonschema.ValidationError, self.validate, document)


class GitHub(unittest.TestCase):
    def test_annotations_are_what_githubs_toolkit_writes(self):
        name = "a,b:c%é.py"
        with open(os.path.join(DIR, "train.py"), encoding="utf-8") as file:
            lines = stet("lint", "--no-config", "--stdin-filename", name, "--format=github", "-", input=file.read()).stdout
        lines += stet("check", LATER, "--format=github").stdout
        commands = re.findall(r"^::(\w+) (.*?)::(.*)$", lines, re.M)
        self.assertGreaterEqual(len(commands), 2, lines)
        self.assertIn(name, {read(part) for _, parts, _ in commands for part in re.findall(r"file=([^,]*)", parts)})
        asked = [[word, {key: read(value) for key, value in (p.split("=", 1) for p in parts.split(","))}, read(text)]
                 for word, parts, text in commands]
        code = "const c = require(process.argv[1]); for (const a of JSON.parse(process.argv[2])) c.issueCommand(...a)"
        toolkit = subprocess.run(["node", "-e", code, os.path.join(NPM, "actions-core", "lib", "command.js"), json.dumps(asked)],
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual(toolkit.returncode, 0, toolkit.stderr)
        self.assertEqual(toolkit.stdout.splitlines(), [line for line in lines.split("\n") if line.startswith("::")])

    def test_the_summary_is_a_table_in_which_names_are_text(self):
        page = cmarkgfm.github_flavored_markdown_to_html(stet("explain", RUN, "--export=markdown").stdout)
        rows = [[html.unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", row, re.S)] for row in re.findall(r"<tr>(.*?)</tr>", page, re.S)]
        self.assertRegex(page, r"<h3>Stet: 5 recompiles")
        self.assertEqual(rows[1][:4], ["5", "<code>shape-drift</code>", HOSTILE, "train.py:3"], page)

    def test_the_files_for_ci_services_have_the_form_that_the_services_publish(self):
        tool = os.path.join(os.path.dirname(sys.executable), "check-jsonschema")
        for schema, *files in (("github-actions", "action.yml"), ("github-workflows", "docs/ci/graph-contract.yml", ".github/workflows/*.yml"),
                               ("gitlab-ci", "docs/ci/gitlab.yml"), ("buildkite", "docs/ci/buildkite.yml")):
            paths = [path for pattern in files for path in glob.glob(os.path.join(TOP, pattern))]
            self.assertGreaterEqual(len(paths), len(files))
            more = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
            out = subprocess.run([tool, "--builtin-schema", "vendor." + schema, *more, *paths], capture_output=True, text=True, timeout=100)
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)


def read(text):
    """What GitHub's runner makes of an escaped value."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


if __name__ == "__main__":
    unittest.main()
