"""Compare Stet's reader with MLIR's own, program by program.

Every program of programs.py, lax_programs.py and text_programs.py is written as the bytecode JAX sends to a plugin (VHLO,
several target versions) and as raw StableHLO bytecode (every format version). MLIR's Python bindings and
stet-dump then read the same bytes, and each operation's name, operands, result types, attributes, regions,
arguments and location must be the same text. `--text` also has both read what Stet prints and compares again.

    compare.py --dump build/dev/bin/stet-dump [--jobs 2] [--only NAME] [--keep DIR] [--memory build/dev/bin/reader-memory]
"""

import argparse
import io
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

MINIMUM = 300
FIELDS = ("name", "operands", "results", "attrs", "regions", "loc")


def prepare():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def difference(want, got):
    """The first difference of two walks as a sentence, or None."""
    for i, (w, g) in enumerate(zip(want, got)):
        for field in FIELDS:
            if w[field] != g[field]:
                return f"operation {i} ({w['name']}): {field}\n    MLIR {w[field]}\n    Stet {g[field]}"
    if len(want) != len(got):
        return f"MLIR has {len(want)} operations, Stet {len(got)}"
    return None


class Forms:
    """A module as bytes in several forms, and back with MLIR's own readers."""

    def __init__(self):
        from jax._src.interpreters import mlir
        from jax._src.lib import _jax
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo

        self.ir, self.stablehlo, self.portable = ir, stablehlo, _jax.mlir.serialize_portable_artifact
        self.context = mlir.make_ir_context
        current = stablehlo.get_current_version()
        self.targets = [current, current, current, "1.13.0", "1.9.0", "1.6.0", "1.1.0"]

    def parse(self, data):
        """A module from bytes or text, in the current context."""
        if isinstance(data, bytes) and b"StableHLO_v" in data[:40]:
            return self.stablehlo.deserialize_portable_artifact(self.ir.Context.current, data)
        return self.ir.Module.parse(data)

    def raw(self, module, version):
        out = io.BytesIO()
        module.operation.write_bytecode(out, desired_version=version)
        return out.getvalue()

    def vhlo(self, module, target):
        try:
            return self.portable(module, target, use_mixed_serialization=True)
        except Exception:  # noqa: BLE001 - this target or dialect mix can't be written
            return None

    def all(self, index, thing):
        """(form, bytes) of what a thunk returned; `index` rotates versions."""
        if isinstance(thing, bytes):
            yield "vhlo-exported", thing
            with self.context():
                yield "raw", self.raw(self.parse(thing), 6)
            return
        if isinstance(thing, str):
            with self.context() as context:
                context.allow_unregistered_dialects = True
                module = self.ir.Module.parse(thing)
                yield from self.of_module(index, module)
            return
        module = thing.compiler_ir("stablehlo")
        with module.context:
            yield from self.of_module(index, module)

    def of_module(self, index, module):
        target = self.targets[index % len(self.targets)]
        for t in dict.fromkeys((self.targets[0], target)):
            data = self.vhlo(module, t)
            if data is not None:
                yield f"vhlo-{t}", data
        version = (6, 6, 5, 4, 3, 2, 1, 0)[index % 8]
        for v in dict.fromkeys((6, version)):
            yield f"raw-{v}", self.raw(module, v)


def all_programs():
    import lax_programs  # adds its families to those of programs
    import programs
    import text_programs

    yield from programs.programs()
    for name, text in text_programs.PROGRAMS.items():
        yield f"text-{name}", lambda text=text: text


def dump(tool, paths):
    """What stet-dump says of each file: {path: lines or None}."""
    result = subprocess.run([tool, *map(str, paths)], capture_output=True, text=True, errors="surrogateescape")
    found, lines = {}, None
    for line in result.stdout.split("\n")[:-1]:  # splitlines would cut at more than that
        if line.startswith("{"):
            lines.append(json.loads(line))
            continue
        state, path = line.split(" ", 1)
        lines = []
        found[path] = lines if state == "program" else None
    return found, result.stderr


def work(options, part, parts, folder):
    """Writes, reads and compares every parts-th program; returns a summary."""
    prepare()
    import mlir_walk

    forms = Forms()
    summary = {"programs": 0, "files": 0, "operations": 0, "skipped": [], "wrong": []}
    files, texts = [], {}
    for index, (name, thunk) in enumerate(all_programs()):
        if index % parts != part or (options.only and options.only not in name):
            continue
        try:
            written = list(forms.all(index, thunk()))
        except Exception as error:  # noqa: BLE001 - counted, and too many fail the test
            summary["skipped"].append(f"{name}: {str(error).splitlines()[0][:150]}")
            continue
        summary["programs"] += 1
        for form, data in written:
            path = folder / f"{name}.{form}.mlirbc"
            path.write_bytes(data)
            files.append(path)
    read, errors = dump(options.dump, files)
    for path in files:
        got = read.get(str(path))
        with forms.context() as context:
            context.allow_unregistered_dialects = True
            try:
                module = forms.parse(path.read_bytes())
            except Exception as error:  # noqa: BLE001
                if got is not None and "text-" not in path.name:
                    summary["wrong"].append(f"{path.name}: MLIR refuses it, Stet does not: {error}")
                continue
            if got is None:
                mine = [line for line in errors.splitlines() if line.startswith(str(path))]
                summary["wrong"].append(f"{path.name}: refused: {mine}")
                continue
            want = mlir_walk.walk(module)
            wrong = difference(want, got)
            if not wrong and options.text:
                texts[path.with_suffix(".mlir")] = got
                wrong = compare_text(options, forms, path, want)
        summary["files"] += 1
        summary["operations"] += len(want)
        if wrong:
            summary["wrong"].append(f"{path.name}: {wrong}")
    texts = {path: want for path, want in texts.items() if path.exists()}
    read, errors = dump(options.dump, texts) if texts else ({}, "")
    for path, want in texts.items():
        got = read.get(str(path))
        wrong = difference(want, got) if got is not None else f"refused: {errors[:300]}"
        if wrong:
            summary["wrong"].append(f"{path.name}, printed and read again: {wrong}")
    return summary


def compare_text(options, forms, path, want):
    """MLIR must accept what Stet prints and find the same program in it."""
    import mlir_walk

    text = subprocess.run([options.dump, "-t", str(path)], capture_output=True)
    if text.returncode:
        return None if b"unknown dialect" in text.stderr else f"not printed: {text.stderr}"
    path.with_suffix(".mlir").write_bytes(text.stdout)
    with forms.context() as context:  # its own: MLIR renames a resource that a context has already
        context.allow_unregistered_dialects = True
        try:
            module = forms.ir.Module.parse(text.stdout)
        except Exception as error:  # noqa: BLE001
            return f"MLIR does not accept the text: {str(error)[:300]}"
        wrong = difference(want, mlir_walk.walk(module))
    return wrong and f"the printed text differs: {wrong}"


MUTATIONS = {
    "an operation": ("stablehlo.add %a, %b", "stablehlo.subtract %a, %b"),
    "an operand": ("stablehlo.add %a, %b", "stablehlo.add %a, %a"),
    "a constant": ("dense<1.0>", "dense<1.5>"),
    "a shape": ("tensor<4xf32>", "tensor<5xf32>"),
    "an attribute": ("dims = [0, 1]", "dims = [1, 0]"),
    "a location": ('"a.py":7:3', '"a.py":7:4'),
    "an argument's name": ('loc("first")', 'loc("other")'),
    "the order of arguments": ("(%a: tensor<4xf32> loc(\"first\"), %b: tensor<4xf32> loc(\"second\"))",
                               "(%b: tensor<4xf32> loc(\"first\"), %a: tensor<4xf32> loc(\"second\"))"),
}

BASE = """
func.func @main(%a: tensor<4xf32> loc("first"), %b: tensor<4xf32> loc("second")) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %b : tensor<4xf32> loc("a.py":7:3)
  %1 = stablehlo.add %0, %c : tensor<4xf32>
  %m = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %t = stablehlo.transpose %m, dims = [0, 1] : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return %1 : tensor<4xf32>
}"""


def lax_functions_left_out():
    prepare()
    import lax_programs

    return lax_programs.unnamed()


def undetected(options, folder):
    """Mutations that the comparison would miss: there must be none."""
    import mlir_walk

    forms = Forms()
    missed = []
    with forms.context():
        want = mlir_walk.walk(forms.ir.Module.parse(BASE))
        for what, (old, new) in {"nothing": ("@main", "@main"), **MUTATIONS}.items():
            assert old in BASE, old
            module = forms.ir.Module.parse(BASE.replace(old, new))
            path = folder / "mutated.mlirbc"
            path.write_bytes(forms.raw(module, 6))
            found, _ = dump(options.dump, [path])
            got = found[str(path)]
            if (difference(want, got) is None) != (what == "nothing"):
                missed.append(what)
    return missed


def memory_is_modest(tool, folder):
    """Has reader-memory look at every program in the folder; true without the tool."""
    if not tool:
        return True
    files = sorted(p for p in folder.iterdir() if p.suffix in (".mlir", ".mlirbc"))
    return subprocess.run([tool], input="".join(f"{p}\n" for p in files), text=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("--keep", type=pathlib.Path, help="leave the files here")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--memory", help="reader-memory: no file may take more than it allows")
    options = parser.parse_args()
    prepare()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
            parts = pool.starmap(work, [(options, i, options.jobs, folder) for i in range(options.jobs)])
            missed = pool.apply(undetected, (options, folder))
            unnamed = pool.apply(lax_functions_left_out)
        modest = memory_is_modest(options.memory, folder)
    total = {k: sum(p[k] for p in parts) for k in ("programs", "files", "operations")}
    wrong = [w for p in parts for w in p["wrong"]]
    skipped = [s for p in parts for s in p["skipped"]]
    for line in skipped:
        print("skipped", line)
    for line in wrong:
        print("WRONG", line)
    for what in missed:
        print("WRONG the comparison does not notice a change of", what)
    for name in unnamed:
        print(f"WRONG no program has jax.lax.{name} (tests/differential/lax_programs.py)")
    print(f"{total['programs']} programs, {total['files']} files, {total['operations']} operations: "
          f"{len(wrong)} differ from MLIR, {len(skipped)} skipped")
    enough = options.only or total["programs"] >= MINIMUM
    if not enough:
        print(f"at least {MINIMUM} programs are needed")
    return 1 if wrong or missed or unnamed or not enough or not modest else 0


if __name__ == "__main__":
    sys.exit(main())
