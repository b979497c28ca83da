"""Foreign text must not act on the terminal that shows it, nor on a CI runner that reads the log: no
command prints a control character that came from a name, a file, a source line or an error."""
import glob
import json
import os
import pty
import re
import subprocess

import attack

EVIL = "a\x1b]0;PWNED\x07\x1b[2J\x1b[31mb\rc\x7fd\u009b31me\u202egpj\u2066f\u2028g\x08h"
LINES = "x\n::error file=a::injected\n##[error]injected\n"
DATA = os.path.abspath(os.path.dirname(__file__) + "/../data")
SOURCES = os.path.abspath(os.path.dirname(__file__) + "/../../src")
# What may pass: line ends, tabs, and nothing else below a blank; no C1, no bidirectional control.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OWN = re.compile("\x1b\\[(0|1|2|31|32|33|36)m")


class Terminal(attack.Case):
    def clean(self, raw, where, coloured=False):
        text = raw.decode("utf-8")  # bytes that are no UTF-8 may not pass either
        if coloured:
            text = OWN.sub("", text).replace("\r\n", "\n")
        found = CONTROL.search(text)
        self.assertIsNone(found, (where, found and text[max(0, found.start() - 60):found.end() + 60]))
        for line in text.splitlines():
            self.assertFalse(line.lstrip().startswith("::"), (where, line))
            self.assertNotIn("##[", line, where)

    def run_stet(self, *words, **env):
        done = subprocess.run([attack.STET, *words], env=self.environment(**env), capture_output=True, timeout=60,
                              cwd=self.dir)
        self.assertIn(done.returncode, (0, 1, 2, 3, 127), (words, done.stderr))
        self.clean(done.stdout, words)
        self.clean(done.stderr, words)
        return done.stdout.decode() + done.stderr.decode()

    def on_terminal(self, *words):
        """The same on a terminal, where Stet prints colours."""
        master, slave = pty.openpty()
        child = subprocess.Popen([attack.STET, *words], env=self.environment(TERM="xterm"), stdin=slave, stdout=slave,
                                 stderr=slave, cwd=self.dir)
        os.close(slave)
        read = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            read += part
        os.close(master)
        child.wait(timeout=60)
        self.clean(read, words, coloured=True)
        return read.decode()

    def test_control_characters_in_a_run_are_printed_visibly(self):
        # Names in the program, the error of the plugin, the command line, the platform.
        name = EVIL.replace('"', "") + LINES.replace("\n", " ")
        good = self.file("good.mlir", attack.program(name='"' + name + '"').replace("// fake program", "// fake program"))
        other = self.file("other.mlir", attack.program("multiply", name='"' + name + '"'))
        bad = self.file("bad.mlir", "// fake program p\n// error 3 " + EVIL + "\nmodule @p {}\n")
        strange = os.path.join(self.dir, "pr\x1b[31mog\n::error::x.mlir")
        with open(strange, "w") as f:
            f.write(attack.program("subtract"))
        says = f"for f in '{good}' '{other}' '{bad}'; do {attack.HARNESS} {attack.FAKE} \"$f\"; done >&2; true"
        hostile = [EVIL, LINES, "x=" + EVIL]
        # The command's own output is its own; only what Stet says is looked at.
        with open(self.dir + "/said", "wb") as said:
            subprocess.run([attack.STET, "run", "--", "sh", "-c", f"exec 2>/dev/null >/dev/null; {says}", *hostile],
                           env=self.environment(FAKE_PLATFORM="p" + EVIL, JAX_PLATFORMS=EVIL, XLA_FLAGS="--a=" + EVIL), stderr=said,
                           timeout=60, cwd=self.dir, check=True)
        with open(self.dir + "/said", "rb") as said:
            self.clean(said.read(), "run")
        run = glob.glob(self.dir + "/state/runs/*")[0]
        shown = self.run_stet("show", run)
        self.assertIn("\\x1b]0;PWNED\\x07", shown)
        self.assertIn("\\u202e", shown)
        self.assertIn("\\n", shown)
        program = glob.glob(run + "/programs/*.mlir.zst")[0]
        for words in (["runs"], ["show", run], ["explain", run], ["top", run, "--once"], ["bundle", "show", run],
                      ["bundle", "diff", run, run], ["cache", "ls"], ["cache", "misses", run], ["diff", run, run],
                      ["metrics", run, "--once"], ["check", run], ["contract", "init", run, "-o", "-"], ["torch", "show", run],
                      ["show", strange], ["show", good], ["diff", good, other], ["fingerprint", good, strange],
                      ["diff", strange, other], ["show", program], ["doctor"]):
            self.run_stet(*words)
            if words[0] not in ("metrics", "contract"):
                self.run_stet(*words, "--format=json")
            if words[0] not in ("doctor",):
                self.on_terminal(*words)

    def test_control_characters_in_arguments_are_printed_visibly(self):
        for words in (["show", EVIL], ["explain", EVIL], ["diff", EVIL, LINES], [EVIL], ["help", EVIL], ["run", "--" + EVIL], ["run", "--", EVIL],
                      ["lint", EVIL], ["lint", "--select=" + EVIL, "."], ["bundle", EVIL], ["cache", EVIL], ["torch", EVIL], ["cache", "show", EVIL],
                      ["report", EVIL], ["fingerprint", EVIL], ["check", EVIL], ["runs", "--prune=" + EVIL], ["top", EVIL], ["metrics", EVIL],
                      ["run", "--contract=" + EVIL, "--", "true"], ["run", "--metrics-port=" + EVIL, "--", "true"]):
            self.run_stet(*words)

    def test_control_characters_in_linted_sources_are_printed_visibly(self):
        folder = self.dir + "/" + "repo"
        os.mkdir(folder)
        source = "import jax\n\n@jax.jit\ndef f(x):\n    if x > 0:  # \x1b]0;SRC\x07 \u202e \x9b ##[error]x\n        return x\n    return -x\n"
        for name in ("::error file=a::b.py", "a\n::error file=a::b.py", "b\x1b[31m\u202e.py", "##[error]c.py"):
            with open(os.path.join(folder, name), "w") as f:
                f.write(source)
        with open(os.path.join(folder, "broken\x1b[2J.py"), "wb") as f:
            f.write(b"\xff\xfe\x00")
        inside = subprocess.run([attack.STET, "lint", "."], env=self.environment(), capture_output=True, cwd=folder)
        self.assertIn(b"\\x1b]0;SRC\\x07", inside.stdout)
        self.clean(inside.stdout + inside.stderr, "lint")
        inside = subprocess.run([attack.STET, "lint", *os.listdir(folder)], env=self.environment(), capture_output=True, cwd=folder)
        self.clean(inside.stdout + inside.stderr, "lint of names")
        for words in (["lint", "repo"], ["lint", "repo", "--statistics"], ["lint", "repo", "--format=json"]):
            self.run_stet(*words)
        self.on_terminal("lint", "repo")

    def test_control_characters_in_torch_traces_are_printed_visibly(self):
        """Functions and files as a torch.compile trace names them; the files have hostile lines."""
        path = self.file("t\x1b[31mr\u202ea\n::error::.py", "x\x1b]0;SRC\x07 = f(y)  # \u202e ##[error]\n" * 40)
        log = subprocess.run(["zstd", "-dc", DATA + "/torch/train.log.zst"], capture_output=True, check=True).stdout.decode()
        lines = log.split("\n")
        for i, line in enumerate(lines):
            if line.startswith("V"):
                lines[i] = line.replace('"/home/ada/train.py"', json.dumps(path)).replace('"name": "f"', '"name": ' + json.dumps(EVIL))
        folder = os.path.dirname(self.file("trace/dedicated_log_torch_trace_x.log", "\n".join(lines)))
        self.assertIn("\\x1b[31mr\\u202ea\\n::error", self.run_stet("torch", "frames", folder))
        self.run_stet("torch", "ingest", folder)
        self.assertIn("\\x1b[31mr", self.run_stet("explain"))
        for words in (["torch", "frames"], ["torch", "breaks"], ["torch", "fixes"], ["torch", "caches"], ["runs"], ["explain"], ["show"],
                      ["top", "--once"], ["check"], ["contract", "init", "-o", "-"]):
            self.run_stet(*words)
            self.on_terminal(*words)

    def test_every_message_goes_through_the_filter(self):
        """Whoever adds a message finds out here: printf and its like know nothing of foreign text."""
        allowed = {
            "args.c": {"printf", "fprintf"}, "main.c": {"fputs", "fprintf"},  # help texts
        }
        call = re.compile(r"(?<![\w])(printf|fprintf|fputs|puts|putchar|dprintf|fwrite|perror)\s*\(")
        for path in glob.glob(SOURCES + "/cli/*.c") + glob.glob(SOURCES + "/lint/*.c"):
            name = os.path.basename(path)
            with open(path) as f:
                for number, line in enumerate(f, 1):
                    for used in call.findall(line):
                        fixed = used == "perror" and '"' in line
                        self.assertTrue(fixed or used in allowed.get(name, ()), f"{path}:{number}: {line.strip()}")


attack.main()
