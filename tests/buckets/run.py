"""`stet buckets` on real runs: what it sees, what it writes, and that a program which uses it keeps the contract.

    run.py BUILD_DIR PYTHON
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STET, PYTHON = pathlib.Path(sys.argv[1]).resolve() / "bin" / "stet", sys.argv[2]
LENGTHS = [9, 30, 12, 9, 30, 9, 40, 12, 9, 9, 30, 12, 40, 9]


class Folder:
    """A working folder with the script and a state of its own."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        shutil.copy(HERE / "train.py", self.path)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "STET_"))}
        self.env.update(STET_STATE_DIR=str(self.path / "state"), STET_STORE="off", STET_CPU_THREADS="1", NO_COLOR="1")

    def stet(self, *args, code=0):
        done = subprocess.run([STET, *args], cwd=self.path, env=self.env, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def train(self, lengths):
        return self.stet("run", "--cpu", "--", PYTHON, "train.py", *map(str, lengths))

    def functions(self, *args):
        done = subprocess.run([STET, "buckets", "--format=json", *args], cwd=self.path, env=self.env,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)["functions"]


def sizes_that_came(f):
    f.train(LENGTHS)
    (seen,) = f.functions()
    count = collections.Counter(LENGTHS)
    assert seen["function"] == "train_step" and seen["runs"] == len(LENGTHS) and seen["sizes"] == len(count), seen
    assert [(d["argument"], d["dim"], d["axis"]) for d in seen["dimensions"]] == [("tokens", 1, 0), ("mask", 1, 0)], seen
    padded = {s["programs"]: (s["sizes"], s["padding"]) for s in seen["curve"]}
    assert padded[1][0] == [40] and padded[len(count)] == (sorted(count), 0), padded
    assert abs(padded[1][1] - (1 - sum(LENGTHS) / (40 * len(LENGTHS)))) < 1e-6, padded
    assert seen["today"]["programs"] == len(count) and not seen["short_last"] and seen["form"] == "any"
    # With the same times for all, only the number of programs counts.
    (one,) = f.functions("--step=1:1,2:1", "--compile=5")
    assert one["best"] == 1 and one["unit"] == "s", one


def explain_counts_as_buckets_does(f):
    """Also if a constant drifts beside the sizes: each size then has several programs."""
    f.stet("run", "--cpu", "--", PYTHON, "train.py", "--rates=3", *map(str, LENGTHS))
    (seen,) = f.functions("--model=linear")
    padded = [[s["sizes"], round(s["padding"], 6)] for s in seen["curve"]]
    advice = [c["advice"] for c in json.loads(f.stet("explain", "--format=json", code=1))["recompiles"]
              if c["class"] == "shape-drift"]
    assert advice and seen["runs"] == 3 * len(LENGTHS), (advice, seen)
    count = collections.Counter(LENGTHS)
    for one in advice:
        assert {s["size"]: s["runs"] for s in one["sizes"]} == {n: 3 * count[n] for n in count}, one["sizes"]
        assert [[b["sizes"], round(b["padding"], 6)] for b in one["buckets"]] == padded[:len(one["buckets"])], (one, padded)


def contract_and_program(f):
    f.stet("contract", "init")
    f.stet("buckets", "--programs=2", "--write-contract")
    text = (f.path / "stet.contract").read_text()
    (seen,) = f.functions("--programs=2")
    chosen = next(s["sizes"] for s in seen["curve"] if s["programs"] == 2)
    allowed = "{%s}" % ",".join(map(str, chosen))
    assert f"tokens: int32[4, {allowed}]" in text and f"mask: float32[4, {allowed}]" in text, text
    assert "at most 2 programs" in text and text.startswith("stet contract 1"), text
    f.stet("check", code=1)
    (f.path / "buckets.py").write_text(f.stet("buckets", "--programs=2", "--emit=python"))
    f.train(LENGTHS)
    f.stet("check")
    # What the run shows now are the buckets; the lengths before padding come from a file.
    (f.path / "lengths").write_text("".join(f"{n}\n" for n in LENGTHS))
    (both,) = f.functions("--lengths=lengths", "latest")
    assert both["today"]["sizes"] == chosen and both["today"]["padding"] > 0 and both["sizes"] == 4, both
    (f.path / "buckets.py").unlink()


def a_module_of_shapes(f):
    """It pads several axes, and counts them from the end too."""
    (f.path / "shapes").write_text("8x512 10\n8x100 40\n4x50 10\n")
    module = f.stet("buckets", "--lengths=shapes", "--programs=2", "--emit=python")
    use = "x = pad(np.ones((4, 2, 50)), (0, -1), fill=7)\nassert x.shape == (8, 2, 100) and x.sum() == 400 + 7 * 1200, x"
    subprocess.run([PYTHON, "-c", module + use], check=True, timeout=300)


def forms(f):
    f.train([8, 16, 32, 8, 16])
    assert f.functions()[0]["form"] == "powers-of-two"
    f.train([24, 24, 24, 10] * 3)
    assert f.functions()[0]["short_last"]
    f.train([24, 10, 24, 24, 10, 24])
    assert not f.functions()[0]["short_last"]
    f.train([24] * 5)
    assert f.functions() == []
    assert "no size of a function varied" in f.stet("buckets")


def main():
    with tempfile.TemporaryDirectory() as folder:
        f = Folder(folder)
        sizes_that_came(f)
        explain_counts_as_buckets_does(f)
        contract_and_program(f)
        a_module_of_shapes(f)
        forms(f)
    print("fine")


main()
