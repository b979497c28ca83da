"""Canonical batches: against NumPy on random arrays, on trees, and in a run that keeps its contract.

    test_batch.py BUILD_DIR [Torch]
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(__file__).resolve().parents[2]
os.environ["STET_BATCH_LIBRARY"] = str(BUILD / "lib" / "libstet_batch.so")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(ROOT / "python"))

import numpy as np

import stet

WITH_TORCH = sys.argv[1:] == ["Torch"]
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def one(dtype, dims, fill=0):
    make = stet.Canonical({"x": stet.Leaf(dtype, dims, fill)})
    return lambda value: make({"x": value})["x"]


class Arrays(unittest.TestCase):
    def test_random_arrays_are_what_numpy_makes(self):
        rng = np.random.default_rng(1)
        for round_ in range(3000):
            rank = int(rng.integers(0, 5))
            inner = tuple(int(n) for n in rng.integers(0, 6, size=rank))
            outer = tuple(n + int(rng.integers(0, 3)) for n in inner)
            have, want = rng.choice(TYPES, size=2)
            value = rng.integers(0, 100, size=inner).astype(have)
            if rank > 1 and round_ % 3 == 0:
                value = np.ascontiguousarray(value.T).T  # other strides
            if rank and round_ % 5 == 0:
                value = np.repeat(value, 2, axis=rank - 1)[..., ::2]
            if rank and round_ % 7 == 0:
                value = value[::-1]
            fill = int(rng.integers(0, 3))
            pad = one(want, outer, fill)
            fits = have == want or (want != "bool" and (want.startswith("float") or not have.startswith("float")))
            if not fits:
                with self.assertRaisesRegex(ValueError, "is not converted"):
                    pad(value)
                continue
            expected = np.full(outer, fill).astype(want)
            expected[tuple(slice(n) for n in inner)] = value.astype(want)
            got = pad(value)
            self.assertEqual((got.dtype.name, got.shape), (want, outer))
            np.testing.assert_array_equal(got, expected)

    def test_integers_that_do_not_fit_are_refused(self):
        for have, want, value in [("int64", "int32", 1 << 31), ("int64", "int32", -(1 << 31) - 1), ("int64", "uint8", -1),
                                  ("uint64", "int64", (1 << 64) - 1), ("int32", "int8", 128), ("uint32", "int32", 1 << 31)]:
            with self.assertRaisesRegex(ValueError, "does not fit"):
                one(want, (4,))(np.array([value], have))
        self.assertEqual(one("int32", (2,))(np.array([-(1 << 31)]))[0], -(1 << 31))
        self.assertEqual(one("float32", (2,))(np.array([(1 << 64) - 1], "uint64"))[0], np.float32((1 << 64) - 1))

    def test_what_is_canonical_is_passed_on(self):
        value = np.ones((4, 8), np.float32)
        self.assertIs(one("float32", (4, (8, 16)))(value), value)

    def test_buckets_ranges_and_what_is_too_large(self):
        pad = one("int32", ((2, 4), range(8, 25, 8), None))
        self.assertEqual(pad(np.zeros((3, 9, 5), "int32")).shape, (4, 16, 5))
        with self.assertRaisesRegex(ValueError, "dimension 1 of x is 25; the largest size is 24"):
            pad(np.zeros((3, 25, 5), "int32"))
        with self.assertRaisesRegex(ValueError, "x has 2 dimensions, 3 are wanted"):
            pad(np.zeros((3, 25), "int32"))

    def test_rows_of_lists_arrays_and_buffers(self):
        pad = one("int32", (3, (4, 8)), 7)
        expected = np.full((3, 8), 7, "int32")
        expected[0, :2], expected[1, :5] = [1, 2], range(5)
        for rows in ([[1, 2], list(range(5))], [np.array([1, 2]), np.arange(5)],
                     [memoryview(np.array([1, 2])), memoryview(np.arange(5))]):
            np.testing.assert_array_equal(pad(rows), expected)
        deep = one("float32", (2, (4,), 3))([np.ones((2, 3)), np.ones((4, 3))])
        self.assertEqual((deep.shape, deep.sum()), ((2, 4, 3), 18))
        with self.assertRaisesRegex(ValueError, "differ in more than their length"):
            one("float32", (2, (4,), 3))([np.ones((2, 3)), np.ones((4, 2))])

    def test_other_dtypes_are_copied(self):
        half = np.ones((2, 3), np.float16)
        self.assertEqual(one("float16", (2, 4))(half).sum(), 6)
        with self.assertRaisesRegex(ValueError, "float16, and that is not converted"):
            one("float32", (2, 4))(half)

    def test_arrays_of_dlpack_are_read_in_place(self):
        import jax.numpy as jnp

        self.assertEqual(one("int32", (2, 4))(jnp.ones((2, 3), jnp.int32)).sum(), 6)
        self.assertEqual(one("bfloat16", (2, 4))(np.asarray(jnp.ones((2, 3), jnp.bfloat16))).astype(float).sum(), 6)


class Trees(unittest.TestCase):
    def test_optional_keys_are_zeros_and_masks_mark_what_is_real(self):
        make = stet.Canonical({"batch['tokens']": stet.Leaf("int32", (2, (4, 8))), "batch['image']": stet.Leaf("float32", (2, (4, 8), 3)),
                               "mask": stet.Leaf("float32", (2, (4, 8)))},
                              mask={"mask": "tokens", "seen": "image"}, optional=["image"])
        out = make({"tokens": [[1, 2, 3, 4, 5]], "id": "kept"})
        self.assertEqual((out["image"].shape, out["image"].any(), out["id"]), ((2, 8, 3), False, "kept"))
        np.testing.assert_array_equal(out["mask"], [[1] * 5 + [0] * 3, [0] * 8])
        self.assertEqual((out["mask"].dtype.name, out["seen"].dtype.name, out["seen"].any()), ("float32", "bool", False))
        self.assertEqual(make({"tokens": [[1]], "image": np.ones((1, 2, 3))})["seen"].sum(), 2)

    def test_named_tuples_lists_and_loaders(self):
        Pair = collections.namedtuple("Pair", "x y")
        loader = stet.canonical([[Pair(np.ones((1, 2)), "a")], {"inner": {"x": np.ones((2, 2))}}],
                                spec={"x": stet.Leaf("float32", (2, 4))})
        pairs, deep = list(loader)
        self.assertEqual((len(loader), pairs[0].x.shape, pairs[0].y, deep["inner"]["x"].shape), (2, (2, 4), "a", (2, 4)))
        with self.assertRaisesRegex(TypeError, "a batch is a mapping"):
            list(stet.canonical([3], spec={"x": stet.Leaf("float32", (2, 4))}))

    def test_contracts_and_what_is_wrong_in_them(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "c")
            path.write_text("stet contract 1\nf(x: int32[{8,16}, 512..2048 step 512, *], p*: float32[...])\ng(x: int32[4])\n")
            self.assertEqual(stet.from_contract(path, "f"), {"x": stet.Leaf("int32", ((8, 16), range(512, 2049, 512), None))})
            with self.assertRaisesRegex(ValueError, "several functions have an argument x"):
                list(stet.canonical([{"x": np.ones(3, "int32")}], path))
            self.assertEqual(list(stet.canonical([{"x": np.ones(3, "int32")}], path, function="g"))[0]["x"].shape, (4,))
            with self.assertRaisesRegex(ValueError, "no family h"):
                stet.from_contract(path, "h")
            path.write_text("stet contract 1\nf(x int32)\n")
            with self.assertRaisesRegex(ValueError, r"c:2:10: ':' is missing here"):
                stet.from_contract(path)
            with self.assertRaisesRegex(ValueError, "No such file"):
                stet.from_contract(pathlib.Path(folder, "none"))


SCRIPT = """
import sys
import jax, numpy as np
sys.path.insert(0, sys.argv[1])
import stet

@jax.jit
def step(tokens, mask):
    return (tokens * mask).sum()

def loader():
    for n in (5, 9, 3, 12, 7, 16):
        yield {"tokens": [np.arange(k) for k in (n, n // 2)]}

for batch in stet.canonical(loader(), contract="stet.contract", mask={"mask": "tokens"}):
    print(int(step(**batch)))
"""


class Run(unittest.TestCase):
    def test_a_run_with_canonical_batches_keeps_its_contract(self):
        with tempfile.TemporaryDirectory() as folder:
            env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_"))}
            env.update(STET_STATE_DIR=folder + "/state", STET_STORE="off", STET_CPU_THREADS="1")
            pathlib.Path(folder, "train.py").write_text(SCRIPT)
            pathlib.Path(folder, "stet.contract").write_text(
                "stet contract 1\nstep(tokens: int32[2, {8,16}], mask: bool[2, {8,16}]) at most 2 programs\n*(...) library only\n")

            def run(*args):
                return subprocess.run([BUILD / "bin" / "stet", *args], cwd=folder, env=env, capture_output=True, text=True, timeout=200)

            done = run("run", "--cpu", "--contract=stet.contract", "--on-breach=fail", "--", sys.executable, "train.py", str(ROOT / "python"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([int(n) for n in done.stdout.split()],
                             [sum(range(n)) + sum(range(n // 2)) for n in (5, 9, 3, 12, 7, 16)])
            pathlib.Path(folder, "bad.py").write_text(SCRIPT.replace("int(step(**batch))", "int(step(batch['tokens'][:1], batch['mask'][:1]))"))
            run("run", "--cpu", "--", sys.executable, "bad.py", str(ROOT / "python"))
            done = run("check")
            self.assertEqual(done.returncode, 1)
            self.assertIn('batches  stet.canonical(loader, contract="stet.contract")', done.stdout)
            run("run", "--cpu", "--", sys.executable, "train.py", str(ROOT / "python"))
            done = run("check", "--format=json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["violations"]), (0, []), done.stdout)


class Torch(unittest.TestCase):
    def test_tensors_become_tensors(self):
        import torch

        rng = np.random.default_rng(2)
        for _ in range(300):
            inner = tuple(int(n) for n in rng.integers(0, 6, size=2))
            value = torch.from_numpy(rng.integers(0, 100, size=inner)).t()
            got = one("int32", (7, 6), 3)(value)
            expected = torch.full((7, 6), 3, dtype=torch.int32)
            expected[: inner[1], : inner[0]] = value
            self.assertTrue(torch.equal(got, expected))
        same = torch.ones(7, 6)
        self.assertIs(one("float32", (7, 6))(same), same)
        half = one("bfloat16", (2, 4))(torch.ones(2, 3, dtype=torch.bfloat16))
        self.assertEqual((half.dtype, half.sum().item()), (torch.bfloat16, 6))
        rows = stet.Canonical({"x": stet.Leaf("int64", (3, (4, 8)), 9)}, mask={"m": "x"})({"x": [torch.arange(2), torch.arange(5)]})
        self.assertEqual(rows["x"].tolist()[0], [0, 1, 9, 9, 9, 9, 9, 9])
        self.assertEqual((rows["m"].sum().item(), rows["m"].dtype), (7, torch.bool))


if __name__ == "__main__":
    names = ["Torch"] if WITH_TORCH else ["Arrays", "Trees", "Run"]
    unittest.main(argv=[sys.argv[0], *names])
