"""Compares what Stet reads from HLO protos with the text XLA prints for them.

Usage: compare.py TOOL STYLE FOLDER SUFFIX [AT_LEAST]: for every NAME.pb in FOLDER, what TOOL (hlo_text)
prints of it in STYLE must be NAME.SUFFIX: the module line, and every computation line by line:
instruction names, opcodes, shapes with layouts, operands, attributes, literals and metadata.
Computations may stand in another order (XLA follows the order in which instructions were made, which
its own text does not carry). STYLE stack compares every frame of the call stacks: frame numbers
differ after XLA read its own proto, so they are resolved through the tables of the text."""

import glob
import json
import os
import re
import subprocess
import sys

TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


def resolve(text, parts):
    """stack_frame_id=N by the text's own tables, as `hlo_text stack` prints them."""
    tables = {name: [line.split(" ", 1)[1] for p in parts if p.startswith(name)
                     for line in p.strip("\n").split("\n")[1:]] for name in TABLES}
    numbers = lambda row: [int(n) for n in re.findall(r"=(-?\d+)", row)]

    def stack(match):
        frames, at = [], int(match.group(1))
        while at:
            location, parent = numbers(tables["StackFrames"][at - 1])
            file, function, line, _, column, _ = numbers(tables["FileLocations"][location - 1])
            frames.append(f"{tables['FileNames'][file - 1][1:-1]}:{line}:{column}:"
                          f"{tables['FunctionNames'][function - 1][1:-1]}")
            at = parent - 1
        return "stack={" + ", ".join(frames) + "}"
    return re.sub(r"stack_frame_id=(\d+)", stack, text)


def blocks(text, resolved):
    parts = [p for p in text.strip("\n").split("\n\n") if p]
    if resolved:
        parts = [resolve(p, parts) for p in parts]
    return parts[0].split("\n")[0], sorted(
        p.strip("\n") for p in parts[1:] if not p.startswith(TABLES))


def sort_config(match):
    """A backend config as Stet keeps it, and XLA's dumps print it: JSON with its fields in order."""
    try:
        return "backend_config=" + json.dumps(json.loads(match.group(1)), sort_keys=True, separators=(",", ":"),
                                              ensure_ascii=False)
    except ValueError:
        return match.group(0)


def first_difference(ours, theirs):
    for a, b in zip(ours, theirs):
        for x, y in zip(a.split("\n"), b.split("\n")):
            if x != y:
                return f"  stet: {x[:400]}\n  xla:  {y[:400]}"
    return f"  {len(ours)} computations, XLA prints {len(theirs)}"


def elided(text):
    return "constant({...})" in text


def main():
    tool, style, folder, suffix = sys.argv[1:5]
    at_least = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    agreed, skipped, differ = 0, 0, []
    for path in sorted(glob.glob(f"{folder}/*.pb")):
        name = os.path.basename(path)[:-3]
        theirs = open(f"{folder}/{name}.{suffix}").read()
        theirs = re.sub(r"backend_config=(\{.*\})$", sort_config, theirs, flags=re.M)
        if elided(theirs):  # the printer was told not to print large constants: nothing to compare
            skipped += 1
            continue
        run = subprocess.run([tool, style, path], capture_output=True, text=True)
        if run.returncode:
            differ.append(name)
            print(f"{name}: {run.stderr.strip()}")
            continue
        ours, theirs = blocks(run.stdout, False), blocks(theirs, style == "stack")
        if ours == theirs:
            agreed += 1
            continue
        differ.append(name)
        where = first_difference([ours[0]] + ours[1], [theirs[0]] + theirs[1])
        print(f"{name}:\n{where}")
    print(f"{agreed} of {agreed + len(differ)} HLO protos agree with XLA's text ({suffix}); "
          f"{skipped} with elided constants not compared")
    sys.exit(bool(differ) or agreed < at_least)


main()
