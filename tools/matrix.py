#!/usr/bin/env python3
"""Writes docs/matrix.md from the breakage matrix (src/bundle/matrix.txt); --check only compares.

usage: matrix.py STET [--check]
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "matrix.md")

HEAD = """# The breakage matrix

This page lists what is known to break below a program. Each row has a symptom, the versions it
applies to, a kind, its evidence, what to do, and a detector that `stet doctor` tries against the
bundle. The page is made from `src/bundle/matrix.txt` by `tools/matrix.py`; a test compares them.

| kind | |
|---|---|
| **upstream defect** | a mistake of a framework, plugin or compiler |
| **launch policy** | a way of starting that is slow or breaks |
| **version gate** | two versions that do not fit together |
| **structural gate** | a form that the programs themselves must have |

## Rows of your own

`stet doctor --matrix=FILE` adds rows. A row with the name of a built-in row replaces it. The file
is text:

    # our cluster's proxy breaks the metadata server
    [our-proxy]
    area     = launch
    kind     = launch policy
    symptom  = the first client takes two minutes
    versions = any libtpu
    evidence = ticket 4711
    do       = export TPU_SKIP_MDS_QUERY=1
    detect   = package.libtpu and env.TPU_PROXY ~ *corp* and not env.TPU_SKIP_MDS_QUERY

A row is its name in brackets (small letters, digits, `-`) and all seven fields. A line that begins
with a blank continues the line before; `#` begins a comment line. `area` is `version`, `plugin`,
`cache`, `flags`, `debug`, `launch` or `feature`; `kind` is one of the four above. A mistake is
reported with line and column, and the exit code is 3.

A detector is made of items of the [bundle](bundle.md), `and`, `or`, `not` and parentheses:

| | |
|---|---|
| `package.jax` | it is there; `package` finds every package, in whatever group |
| `package.jax < 0.11`, `<=`, `>`, `>=` | compared as versions: `2.0rc1 < 2.0`, `2.9.0+cu128 = 2.9.0` |
| `env.X = 1`, `!=` | compared as text; an absent item matches no comparison |
| `env.XLA_FLAGS ~ *--xla_tpu_*` | `*` matches any text |
| `package.torch ^ 2.9` | the same first two numbers |
| `package.jaxlib > @package.jax` | compared with another item |
| `plugin."* api" < 0.29` | names may be quoted and contain `*`: any one that matches |

Besides the bundle's groups there are `probe` (what the doctor found: `probe.tpus`, the chips on the
bus; `probe."libtpu.so client"`, with the result first: `failed: …`) and, with `--run`, `run`
(`run."lazy programs"`, `run."torch compiles"`, `run."scannable blocks"`, `run."longest compile"` in
seconds).

## The rows
"""


def page(stet):
    out = subprocess.run([stet, "doctor", "--rows", "--format=json"], check=True, capture_output=True, text=True)
    rows = json.loads(out.stdout)["rows"]
    text = HEAD + f"\n{len(rows)} rows.\n"
    for area in dict.fromkeys(r["area"] for r in rows):
        text += f"\n### {area}\n\n| row | kind | what happens | versions | evidence | what to do |\n|---|---|---|---|---|---|\n"
        for r in rows:
            if r["area"] == area:
                cells = [r["id"], r["kind"], r["symptom"], r["versions"], r["evidence"], r["do"]]
                text += "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |\n"
    return text


def main():
    text = page(sys.argv[1])
    if "--check" in sys.argv:
        with open(PAGE, encoding="utf-8") as f:
            if f.read() != text:
                sys.exit("docs/matrix.md is not what src/bundle/matrix.txt says: run tools/matrix.py STET")
    else:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(text)


main()
