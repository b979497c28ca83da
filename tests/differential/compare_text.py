"""Text against bytes: every program of the differential test, printed by MLIR itself, must be the program
that its bytecode is.

Each module is printed in short and in generic form, with and without locations, and in one of the printer's
other ways (ALSO), and written as raw StableHLO bytecode, as VHLO and as JAX sends it. same-program reads both and compares operation by operation, with
locations where the text has them, and by fingerprints. What Stet prints of the bytes is read back and
compared the same way.

    compare_text.py --same build/dev/bin/same-program [--jobs 2] [--only NAME] [--keep DIR]
"""

import argparse
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile
import zlib

import compare

PRINTED = {
    "short": {},
    "generic": {"print_generic_op_form": True},
    "short-loc": {"enable_debug_info": True},
    "generic-loc": {"enable_debug_info": True, "print_generic_op_form": True},
}
ALSO = {
    "local": {"use_local_scope": True},  # aliases written out
    "local-loc": {"use_local_scope": True, "enable_debug_info": True},
    "local-generic-loc": {"use_local_scope": True, "enable_debug_info": True, "print_generic_op_form": True},
    "names": {"use_name_loc_as_prefix": True},  # values called after their locations
    "names-loc": {"use_name_loc_as_prefix": True, "enable_debug_info": True},
    "verified": {"assume_verified": True},
}


def ways(base, resources):
    """How to print a module: all of PRINTED, and one of ALSO, which the name decides. A local scope leaves
    resources out."""
    also = [kind for kind in ALSO if not (resources and "local" in kind)]
    kind = also[zlib.crc32(base.stem.encode()) % len(also)]
    return {**PRINTED, kind: ALSO[kind]}


def printed(module, base, binaries):
    """Texts of one module, each to be compared with each of `binaries`: [(text, bytes, with locations)]."""
    pairs = []
    for kind, options in ways(base, b"dense_resource" in module.operation.get_asm(binary=True)).items():
        text = base.with_suffix(f".{kind}.mlir")
        text.write_bytes(module.operation.get_asm(binary=True, **options))
        pairs += [(text, binary, kind.endswith("-loc")) for binary in binaries]
    return pairs


def write(forms, module, base):
    """Raw bytecode and VHLO of the module itself; and what JAX sends, which is another module: its passes
    have run. Its text is that of the module MLIR reads back."""
    same = [base.with_suffix(".raw.mlirbc")]
    same[0].write_bytes(forms.raw(module, 6))
    try:  # on a copy: a failure leaves the module half converted
        copy = forms.parse(same[0].read_bytes())
        data = forms.stablehlo.serialize_portable_artifact(copy, forms.targets[0])
        same.append(base.with_suffix(".vhlo.mlirbc"))
        same[-1].write_bytes(data)
    except Exception:  # noqa: BLE001 - other dialects can't be written this way
        pass
    pairs = printed(module, base, same)
    data = forms.vhlo(module, forms.targets[0])
    try:
        back = forms.parse(data)
    except Exception:  # noqa: BLE001 - not writable, or (resources) not readable by MLIR itself
        return pairs
    sent = base.with_suffix(".sent.mlirbc")
    sent.write_bytes(data)
    pairs += printed(back, base.with_name(base.stem + "-sent.x"), [sent])
    return pairs


def work(options, part, parts, folder):
    compare.prepare()
    forms = compare.Forms()
    pairs, skipped, count = [], [], 0
    for index, (name, thunk) in enumerate(compare.all_programs()):
        if index % parts != part or (options.only and options.only not in name):
            continue
        base = folder / (name.replace(".", "_") + ".x")
        try:
            thing = thunk()
            if isinstance(thing, (bytes, str)):
                with forms.context() as context:
                    context.allow_unregistered_dialects = True
                    pairs += write(forms, forms.parse(thing), base)
            else:
                module = thing.compiler_ir("stablehlo")
                with module.context:
                    pairs += write(forms, module, base)
            count += 1
        except Exception as error:  # noqa: BLE001 - counted, and too many fail the test
            skipped.append(f"{name}: {str(error).splitlines()[0][:150]}")
    wrong = []
    binaries = {b for _, b, _ in pairs}
    for locations in (False, True):
        lines = "".join(f"{a}\t{b}\n" for a, b, located in pairs if located == locations)
        lines += "".join(f"{b}\n" for b in binaries)
        run = subprocess.run([options.same] + ["--locations"] * locations, input=lines,
                             capture_output=True, text=True)
        wrong += [line for line in run.stdout.splitlines()[:-1] if line]
        if run.returncode not in (0, 1):
            wrong.append(f"same-program ended with {run.returncode}: {run.stderr[-300:]}")
    return count, len(pairs), wrong, skipped, len(binaries)


def unnoticed(options, folder):
    """Changes of a text that the comparison with its bytes would miss: there must be none."""
    forms = compare.Forms()
    missed = []
    binary, text = folder / "base.mlirbc", folder / "mutated.mlir"
    with forms.context():
        binary.write_bytes(forms.raw(forms.ir.Module.parse(compare.BASE), 6))
        for what, (old, new) in {"nothing": ("@main", "@main"), **compare.MUTATIONS}.items():
            module = forms.ir.Module.parse(compare.BASE.replace(old, new))
            text.write_bytes(module.operation.get_asm(binary=True, enable_debug_info=True))
            run = subprocess.run([options.same, "--locations"], input=f"{text}\t{binary}\n", text=True,
                                 stdout=subprocess.DEVNULL)
            if (run.returncode == 0) != (what == "nothing"):
                missed.append(what)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--same", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("--keep", type=pathlib.Path, help="leave the files here")
    parser.add_argument("--memory", help="reader-memory: no file may take more than it allows")
    options = parser.parse_args()
    compare.prepare()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
            done = pool.starmap(work, [(options, i, options.jobs, folder) for i in range(options.jobs)])
            missed = pool.apply(unnoticed, (options, folder))
        modest = compare.memory_is_modest(options.memory, folder)
    programs, pairs, binaries = (sum(d[i] for d in done) for i in (0, 1, 4))
    wrong, skipped = ([line for d in done for line in d[i]] for i in (2, 3))
    for line in skipped:
        print("skipped", line)
    for line in wrong:
        print(line)
    for what in missed:
        print("the comparison does not notice a change of", what)
    print(f"{programs} programs, {pairs} pairs of text and bytes, {binaries} printed and read back: "
          f"{len(wrong)} differ, {len(skipped)} skipped")
    enough = options.only or programs >= compare.MINIMUM
    return 1 if wrong or missed or not enough or not modest else 0


if __name__ == "__main__":
    sys.exit(main())
