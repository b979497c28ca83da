"""Canonical batches: against NumPy on random arrays, on trees, and in a run that keeps its contract.

    test_batch.py BUILD_DIR [Torch]
"""
import collections
import copy
import dataclasses
import json
import os
import pathlib
import pickle
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
        with self.assertRaisesRegex(ValueError, "complex64, and that is not converted"):
            one("float32", (2, 4))(half.astype("complex64"))

    def test_floats_of_16_bits_are_rounded_as_numpy_rounds(self):
        import jax.numpy as jnp

        rng = np.random.default_rng(3)
        floats = [np.dtype(jnp.bfloat16), np.dtype("float16"), np.dtype("float32"), np.dtype("float64"), np.dtype("int64")]
        for have in floats:
            for want in floats[:4]:
                value = (rng.normal(size=(3, 4)) * 100).astype(have)
                for given in (value, list(value)):
                    got = one(want.name, (4, 5))(given)
                    self.assertEqual(got.dtype, want)
                    np.testing.assert_array_equal(got[:3, :4], value.astype(want))
                    self.assertEqual(got.astype("float64").sum(), value.astype(want).astype("float64").sum())
        self.assertEqual(one("float16", (2,))(np.ones(2)).dtype, np.float16)
        with self.assertRaisesRegex(ValueError, "float16, and that is not converted to int32"):
            one("int32", (2,))(np.ones(2, "float16"))

    def test_another_byte_order_is_read_as_it_is_meant(self):
        for dtype in (">i2", ">i4", ">i8", ">f4", ">f8", ">u2", ">c8"):
            value = np.array([[1, 2], [3, 4]], dtype)
            for dims in ((2, 2), (3, 2), (3, 3)):
                for given in (value, list(value)):
                    got = one(value.dtype.name, dims)(given)
                    self.assertTrue(got.dtype.isnative)
                    np.testing.assert_array_equal(got[:2, :2], value)
        np.testing.assert_array_equal(one("float64", (3,))(np.array([1, 2], ">i4")), [1, 2, 0])

    def test_rows_without_elements_and_rows_of_two_dtypes(self):
        np.testing.assert_array_equal(one("int32", (2, 2))([[], [1, 2]]), [[0, 0], [1, 2]])
        np.testing.assert_array_equal(one("int32", (2, 2))([[], []]), np.zeros((2, 2)))
        np.testing.assert_array_equal(one("float32", (2, 2))([[1, 2], [0.5]]), [[1, 2], [0.5, 0]])
        np.testing.assert_array_equal(one("float32", (2, 2, 3))([[], np.ones((1, 3))]).sum(axis=(1, 2)), [0, 3])

    def test_what_cannot_be_padded_is_refused(self):
        for dtype, dims, fill, value, why in [
                ("object", (2,), 0, np.array(["a"], object), "x is of Python objects"),
                ("uint8", (2, 2), -1, np.ones((1, 1), "uint8"), "x is filled with -1, which does not fit into uint8"),
                ("int32", (2,), 10**30, np.ones(1, "int32"), "does not fit into int32"),
                ("int32", (2,), 0.5, np.ones(1, "int32"), "is filled with 0.5"),
                ("int32", (2,), float("nan"), np.ones(1, "int32"), "is filled with nan"),
                ("uint8", (2,) * 9, 0, np.ones((1,) * 9, "uint8"), "x has 9 dimensions; at most 8 are padded"),
                ("float32", (2,), 0, None, "x is None: name it in optional=")]:
            with self.assertRaisesRegex(ValueError, why):
                one(dtype, dims, fill)(value)
        self.assertEqual(one("float32", (2,), 0.1)(np.ones(1, "float32"))[1], np.float32(0.1))

        class OnDevice:
            def __dlpack__(self):
                raise AssertionError("read")

            def __dlpack_device__(self):
                return 2, 0

        with self.assertRaisesRegex(ValueError, "x is on a device: pad batches before they are moved"):
            one("float32", (2,))(OnDevice())

    def test_arrays_of_dlpack_are_read_in_place(self):
        import jax.numpy as jnp

        self.assertEqual(one("int32", (2, 4))(jnp.ones((2, 3), jnp.int32)).sum(), 6)
        for dtype in (jnp.bfloat16, jnp.float8_e4m3fn):  # NumPy has no DLPack for these
            got = one(np.dtype(dtype).name, (2, 4))(jnp.ones((2, 3), dtype))
            self.assertEqual((got.dtype, got.astype(float).sum()), (dtype, 6))


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

    def test_an_absent_array_has_its_place_in_the_tree(self):
        make = stet.Canonical({"batch['in']['tokens']": stet.Leaf("int32", (2, (4, 8))), "batch['in']['image']": stet.Leaf("float32", (2, (4, 8))),
                               "batch['y']": stet.Leaf("int32", (2,)), "batch['weight']": stet.Leaf("float32", (2,))},
                              optional=["image", "weight"], mask={"seen": "image"})
        for batch in ({"in": {"tokens": [[1, 2, 3, 4, 5]]}, "y": [1]}, {"y": [1], "in": {"image": None, "tokens": [[1, 2, 3, 4, 5]]}, "weight": None}):
            out = make(batch)
            self.assertEqual((out.keys(), out["in"].keys()), ({"in", "y", "weight"}, {"tokens", "image", "seen"}))
            self.assertEqual((out["in"]["image"].shape, out["weight"].shape), ((2, 8), (2,)))
        both = make([batch, batch])
        self.assertEqual([b["in"]["image"].shape for b in both], [(2, 8)] * 2)
        there = make({"in": {"tokens": [[1]], "image": np.ones((2, 3), "float32")}, "y": [1], "weight": [1.0]})
        self.assertEqual((there["in"]["image"].sum(), there["in"]["seen"].sum(), there.keys()), (6, 6, {"in", "y", "weight"}))

    def test_arrays_of_one_name_are_distinguished_by_the_names_before_them(self):
        make = stet.Canonical({"b['p']['x']": stet.Leaf("int32", (2,)), "b['q'].x": stet.Leaf("float32", (3,)), "b[1]['x']": stet.Leaf("int8", (4,))})
        out = make({"p": {"x": [1]}, "q": {"x": [1]}})
        self.assertEqual((out["p"]["x"].shape, out["q"]["x"].shape), ((2,), (3,)))
        self.assertEqual(make([{}, {"x": np.ones(1, "int8")}])[1]["x"].shape, (4,))
        with self.assertRaisesRegex(ValueError, "several functions have an argument x"):
            make({"x": [1]})

    def test_masks_of_rows_and_of_16_bits(self):
        leaf = stet.Leaf("int32", (3, (4, 8)))
        for dtype in ("float32", "float16", "bfloat16", "int32", "bool"):
            make = stet.Canonical({"x": leaf, "m": stet.Leaf(dtype, (3, (4, 8))), "rows": stet.Leaf(dtype, (3,))}, mask={"m": "x", "rows": "x"})
            for given in ([[1, 2], [3]], np.ones((2, 2), "int32")):
                out = make({"x": given})
                self.assertEqual((out["m"].dtype.name, out["m"].shape, out["rows"].dtype.name), (dtype, (3, 4), dtype))
                self.assertEqual((out["rows"].astype("float64").tolist(), out["m"].astype("float64").sum()), ([1, 1, 0], sum(map(len, given))))
        with self.assertRaisesRegex(ValueError, "mask m would have the shape"):
            stet.Canonical({"x": leaf, "m": stet.Leaf("bool", (3, 16))}, mask={"m": "x"})({"x": [[1]]})
        with self.assertRaisesRegex(ValueError, "m has 2 dimensions, 3 are wanted"):
            stet.Canonical({"x": leaf, "m": stet.Leaf("bool", (3, 4, 4))}, mask={"m": "x"})({"x": [[1]]})

    def test_dataclasses_stay_dataclasses(self):
        @dataclasses.dataclass
        class Batch:
            x: object
            y: object = None
            kept: str = "a"

        make = stet.Canonical({"batch.x": stet.Leaf("int32", (2,)), "batch.y": stet.Leaf("int32", (3,))}, optional=["y"])
        out = make(Batch([1], kept="b"))
        self.assertEqual((type(out), out.x.tolist(), out.y.tolist(), out.kept), (Batch, [1, 0], [0, 0, 0], "b"))
        with self.assertRaisesRegex(ValueError, "Batch has no field m"):
            stet.Canonical({"x": stet.Leaf("int32", (2,))}, mask={"m": "x"})(Batch([1]))

    def test_padding_is_filled_with_what_is_asked(self):
        loader = stet.canonical([{"x": [[1]], "y": [[2]]}], spec={"b['x']": stet.Leaf("int32", (1, 2)), "b['y']": stet.Leaf("int32", (1, 2))}, fill={"y": -100})
        for again in (loader, copy.copy(loader), pickle.loads(pickle.dumps(loader))):
            (out,) = again
            self.assertEqual((out["x"].tolist(), out["y"].tolist()), ([[1, 0]], [[2, -100]]))
        with self.assertRaisesRegex(ValueError, "fill z: there is no such argument"):
            stet.canonical([], spec={"x": stet.Leaf("int32", (1,))}, fill={"z": 1})

    def test_named_tuples_lists_and_loaders(self):
        Pair = collections.namedtuple("Pair", "x y")
        loader = stet.canonical([[Pair(np.ones((1, 2)), "a")], {"inner": {"x": np.ones((2, 2))}}],
                                spec={"x": stet.Leaf("float32", (2, 4))})
        pairs, deep = list(loader)
        self.assertEqual((len(loader), pairs[0].x.shape, pairs[0].y, deep["inner"]["x"].shape), (2, (2, 4), "a", (2, 4)))
        with self.assertRaisesRegex(TypeError, "a batch is a mapping"):
            list(stet.canonical([3], spec={"x": stet.Leaf("float32", (2, 4))}))

    def test_parts_of_tuples_get_names(self):
        spec = {"x": stet.Leaf("int32", (2, (4, 8))), "y": stet.Leaf("int32", (2,)), "m": stet.Leaf("float32", (2, (4, 8)))}
        pairs = [([[1, 2, 3]], np.ones(1, "int32")), [np.ones((2, 5), "int32"), np.ones(2, "int32")]]
        first, second = stet.canonical(pairs, spec=spec, names=("x", "y"))
        self.assertEqual((type(first), type(second)), (tuple, list))
        self.assertEqual((first[0].tolist(), first[1].tolist(), second[0].shape), ([[1, 2, 3, 0], [0] * 4], [1, 0], (2, 8)))
        x, y, mask = next(iter(stet.canonical(pairs, spec=spec, names=("x", "y", "m"), mask={"m": "x"})))
        self.assertEqual((mask.tolist(), mask.dtype.name), ([[1, 1, 1, 0], [0] * 4], "float32"))
        x, y = next(iter(stet.canonical([(None, [7])], spec=spec, names=("x", "y"), optional=["x"])))
        self.assertEqual((x.shape, x.any(), y.tolist()), ((2, 4), False, [7, 0]))
        (alone,) = stet.canonical([np.ones((2, 3), "int32")], spec=spec, names=("x",))
        self.assertEqual(alone.shape, (2, 4))
        x, kept = next(iter(stet.canonical([([[1]], "kept")], spec=spec, names=("x", "id"))))
        self.assertEqual((x.shape, kept), ((2, 4), "kept"))
        for more, wrong, why in [({"names": ("x",)}, ValueError, "a batch has 2 parts, and names has 1"),
                                 ({}, TypeError, "names= gives names to the parts of a tuple; this is tuple"),
                                 ({"names": ("x", "y"), "mask": {"m": "x"}}, ValueError, "names has no m"),
                                 ({"names": ("y",), "optional": ["x"]}, ValueError, "names has no x")]:
            with self.assertRaisesRegex(wrong, why):
                list(stet.canonical(pairs, spec=spec, **more))
        with self.assertRaisesRegex(TypeError, "this is tuple"):  # an array after something else is not passed on as it is
            list(stet.canonical([(3, np.ones((2, 3)))], spec=spec))

    def test_a_contract_without_names_gets_the_names_of_the_batch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "c")
            path.write_text("stet contract 1\nSyncTensorsGraph(arg0: float32[2, {4,8}], arg1: int32[2, {4,8}], arg2: float32[16])\n")
            for names, batch in (({"tokens": "arg1", "mask": "arg0"}, {"tokens": [[1, 2]], "id": 5}), (("arg1", "id", "arg0"), ([[1, 2]], 5))):
                mask = {"mask": "tokens"} if isinstance(batch, dict) else {"arg0": "arg1"}
                (out,) = stet.canonical([batch], path, names=names, mask=mask)
                tokens, number, real = (out[n] for n in (("tokens", "id", "mask") if isinstance(out, dict) else (0, 1, 2)))
                self.assertEqual((tokens.shape, tokens.dtype.name, number, real.dtype.name, real.sum()), ((2, 4), "int32", 5, "float32", 2))
            with self.assertRaisesRegex(ValueError, "names x: there is no argument arg7"):
                stet.canonical([], path, names={"x": "arg7"})

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


TORCH_SCRIPT = """
import sys
import torch, torch_tpu
sys.path.insert(0, sys.argv[1])
import stet

@torch.compile(dynamic=False)
def step(tokens, mask):
    return (tokens * mask).sum()

batches = [{"tokens": torch.ones(2, n)} for n in (5, 9, 3, 12)]
for batch in stet.canonical(batches, "stet.contract", names={"tokens": "arg0", "mask": "arg1"}, mask={"mask": "tokens"}):
    print(int(step(batch["tokens"].to("tpu"), batch["mask"].to("tpu")).item()))
"""


class Torch(unittest.TestCase):
    def test_a_run_with_canonical_batches_keeps_its_contract(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "train.py").write_text(TORCH_SCRIPT)
            pathlib.Path(folder, "stet.contract").write_text(
                "stet contract 1\nstep(arg0: float32[2, {8,16}], arg1: float32[2, {8,16}]) at most 2 programs\n*(...) library only\n")
            done = subprocess.run([BUILD / "bin" / "stet", "run", "--cpu", "--contract=stet.contract", "--on-breach=fail", "--",
                                   sys.executable, "train.py", ROOT / "python"], cwd=folder, capture_output=True, text=True,
                                  timeout=200, env=dict(os.environ, STET_STATE_DIR=folder + "/state", STET_STORE="off",
                                            TORCHINDUCTOR_CACHE_DIR=folder + "/torch"))
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["10", "18", "6", "24"]), done.stderr)

    def test_a_data_loader_yields_canonical_pairs(self):
        import torch

        data = torch.utils.data.TensorDataset(torch.ones(5, 3), torch.arange(5))
        loader = stet.canonical(torch.utils.data.DataLoader(data, batch_size=2), names=("x", "y"),
                                spec={"x": stet.Leaf("float32", (2, (4, 8))), "y": stet.Leaf("int64", (2,))})
        found = list(loader)
        self.assertEqual([(type(b), tuple(b[0].shape), b[1].tolist()) for b in found],
                         [(list, (2, 4), [0, 1]), (list, (2, 4), [2, 3]), (list, (2, 4), [4, 0])])

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

    def test_lazy_views_of_tensors_have_their_values(self):
        import torch

        z = torch.tensor([[1 + 2j], [3 - 1j]])
        for dims in ((2, 1), (2, 2)):
            self.assertEqual(one("complex64", dims)(z.conj())[:, :1].tolist(), [[1 - 2j], [3 + 1j]])
            self.assertEqual(one("float32", dims)(z.conj().imag)[:, :1].tolist(), [[-2], [1]])
        self.assertEqual(one("float32", (2, 2))(list(z.conj().imag)).tolist(), [[-2, 0], [1, 0]])

    def test_tensors_of_16_bits_are_rounded_and_filled(self):
        import torch

        value = torch.randn(3, 4)
        for given in (value, list(value)):
            got = one("bfloat16", (4, 5), 3)(given)
            self.assertTrue(torch.equal(got[:3, :4], value.to(torch.bfloat16)))
            self.assertEqual((got.dtype, got[3].tolist()), (torch.bfloat16, [3] * 5))
        self.assertEqual(one("float32", (3, 5))(value.half()).dtype, torch.float32)

    def test_tensors_that_are_not_in_memory_are_refused(self):
        import torch

        away, there = torch.ones(2, device="meta"), torch.ones(2)
        for dims, value, why in [((2,), away, "x is on meta"), ((3,), away, "x is on meta"), ((2, 2), [away], "x is on meta"),
                                 ((2, 2), [there, away], "x is on meta"), ((3,), there.to_sparse(), "only dense tensors are padded"),
                                 ((2, 2), [there, np.ones(2)], "some rows of x are tensors and others are not"),
                                 ((2, 2), [np.ones(2), there], "some rows of x are tensors and others are not"),
                                 ((2, 2), [there, there.half()], "rows of x differ in more than their length")]:
            with self.assertRaisesRegex(ValueError, why):
                one("float32", dims)(value)


if __name__ == "__main__":
    names = ["Torch"] if WITH_TORCH else ["Arrays", "Trees", "Run"]
    unittest.main(argv=[sys.argv[0], *names])
