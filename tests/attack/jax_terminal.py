"""Hostile file, function and source line in a JAX program: what is told while it runs, and every command
afterwards, shows them with their control characters made visible."""
import glob
import os
import re
import subprocess
import sys
import textwrap

import attack

PYTHON = os.path.abspath(sys.argv.pop(1))
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SCRIPT = r"""
import jax, jax.numpy as jnp
evil = "a\x1b]0;PWNED\x07\x1b[31mb\u202egpj\x9b31m\n::error::c"
name = "t\x1b[31mra\u202e\nin.py"
source = "def g(f, make, n):\n    x = make(n)  # \x1b]0;SRC\x07 \u202e token='SEKRET001'\n    return f(x)\n"
with open(name, "w") as f:
    f.write(source)
space = {}
exec(compile(source, name, "exec"), space)
g = space["g"]
g.__code__ = g.__code__.replace(co_name=evil, co_qualname=evil)
def body(x):
    return (x * 2).sum()
body.__name__ = body.__qualname__ = evil
body.__code__ = body.__code__.replace(co_name=evil)
step = jax.jit(body)
for n in range(3, 9):
    g(step, jnp.ones, n)
other = jax.jit(lambda d: d[evil] + 1)
for n in range(3, 6):
    g(other, lambda n: {evil: jnp.ones(n)}, n)
"""


class Terminal(attack.Case):
    def clean(self, raw, where):
        text = raw.decode("utf-8")
        found = CONTROL.search(text)
        self.assertIsNone(found, (where, found and text[max(0, found.start() - 60):found.end() + 60]))
        self.assertFalse([line for line in text.splitlines() if line.lstrip().startswith("::")], where)
        self.assertNotIn("SEKRET", text, where)
        return text

    def stet(self, *words, timeout=120, **env):
        done = subprocess.run([attack.STET, *words], env=self.environment(**env), capture_output=True, timeout=timeout, cwd=self.dir)
        return self.clean(done.stdout, words) + self.clean(done.stderr, words)

    def test_no_command_prints_control_characters_of_a_real_run(self):
        script = self.file("train.py", textwrap.dedent(SCRIPT))
        told = self.stet("run", "--cpu", "--", PYTHON, script)
        self.assertIn("\\x1b]0;PWNED\\x07", told)
        self.assertIn("compiled again", told)
        run = glob.glob(self.dir + "/state/runs/*")[0]
        for words in (["show"], ["explain"], ["runs"], ["top", "--once"], ["diff", run, run], ["check"], ["contract", "init", "-o", "-"],
                      ["cache", "misses"], ["bundle", "show", run]):
            self.stet(*words)
        self.assertIn("\\u202e", self.stet("explain"))
        self.assertIn("\\x1b]0;SRC\\x07", self.stet("explain"))
        self.stet("report", "-o", "r.html")
        with open(os.path.join(self.dir, "r.html"), "rb") as f:
            self.assertNotIn(b"SEKRET", f.read())


attack.main()
