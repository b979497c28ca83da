"""Files that change under Stet's hands: the user's script is edited in place while a run is followed."""
import subprocess

import attack

LINES, FIRST, SECOND = 400, 151, 302  # far enough apart to be in different pages
STEP = """// fake program {name}
// in f32[2,3]
// out f32[2,3]
module @{name} {{
  func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {{
    %c = stablehlo.constant dense<{value}> : tensor<2x3xf32> loc(#l)
    %b = stablehlo.multiply %a, %c : tensor<2x3xf32> loc(#l)
    return %b : tensor<2x3xf32>
  }}
}}
#l = loc("{file}":{line}:4)
"""
# Compiles twice, waits until that was explained, empties the script as an editor that writes in place
# does, and compiles twice again.
COMMAND = """
set -e
"$HARNESS" "$FAKE" first0.mlir first1.mlir > first.out
for i in $(seq 400); do
    grep -q 'y = x [*] first' "$STET_SAYS" && break
    sleep 0.05
done
grep -q 'y = x [*] first' "$STET_SAYS"
: > train.py
"$HARNESS" "$FAKE" second0.mlir second1.mlir > second.out
echo finished
"""


class FilesChange(attack.Case):
    def setUp(self):
        super().setUp()
        lines = ["# " + "x" * 90] * LINES
        lines[FIRST - 1], lines[SECOND - 1] = "y = x * first", "z = x * second"
        self.script = self.file("train.py", "\n".join(lines) + "\n")
        for name, line in (("first", FIRST), ("second", SECOND)):
            for i in range(2):
                self.file(f"{name}{i}.mlir", STEP.format(name=name, value=f"{i}.5", file=self.script, line=line))

    def test_a_script_emptied_during_a_run_does_not_end_the_run(self):
        says = self.dir + "/stderr.txt"
        env = self.environment(HARNESS=attack.HARNESS, FAKE=attack.FAKE, STET_SAYS=says)
        with open(says, "w") as stderr:
            run = subprocess.run([attack.STET, "run", "--", "sh", "-c", COMMAND], env=env, stdout=subprocess.PIPE,
                                 stderr=stderr, text=True, timeout=60, cwd=self.dir)
        with open(says) as f:
            text = f.read()
        self.assertEqual(run.returncode, 0, text)
        self.assertEqual(run.stdout, "finished\n")
        self.assertIn(f"train.py:{FIRST}", text)
        self.assertIn(f"train.py:{SECOND}", text)  # explained, though its source is gone


if __name__ == "__main__":
    attack.main()
