"""The store's key under JAX: programs that differ in names alone are one, and flags set too late poison nothing.

usage: jax_keys.py BUILD_DIR PYTHON [unittest arguments]
"""
import json
import sys

import attack

PYTHON = sys.argv.pop(1)
TWINS = """
import jax, jax.numpy as jnp
f = jax.jit(lambda x: x + 1)
g = jax.jit(lambda x: (x + 1,))
h = jax.jit(lambda x: {"a": x + 1})
x = jnp.zeros(8)
for _ in range(3): f(x), g(x), h(x)
"""
FLAG = 'os.environ["LIBTPU_INIT_ARGS"] = "--xla_late=1"'
LATE = f"import os, jax\njax.devices()\n{FLAG}\nprint(float(jax.jit(lambda x: x * 3)(2.0)))\n"
EARLY = f"import os\n{FLAG}\nimport jax\njax.devices()\nprint(float(jax.jit(lambda x: x * 3)(2.0)))\n"


class Keys(attack.Case):
    def test_programs_that_differ_in_names_alone_are_all_reloaded(self):
        done = self.stet("cache", "prove", "--cpu", "--format=json", "--", PYTHON, self.file("twins.py", TWINS))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        proof = json.loads(done.stdout)
        self.assertEqual((proof["programs"], proof["reloaded"], proof["missed"]), (5, 5, []))

    def served(self, script):
        self.assertEqual(self.stet("run", "--cpu", "--", PYTHON, script).returncode, 0)
        shown = json.loads(self.stet("show", "--format=json").stdout)
        return [c["served"] for p in shown["processes"] for c in p["compiles"]]

    def test_flags_set_after_the_client_was_made_poison_nothing(self):
        late, early = self.file("late.py", LATE), self.file("early.py", EARLY)
        self.assertEqual([self.served(late), self.served(early)], [["compiled"], ["compiled"]])
        self.assertEqual([self.served(late), self.served(early)], [["disk"], ["disk"]])


if __name__ == "__main__":
    attack.main()
