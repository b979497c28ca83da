"""Runs every trap of examples/traps/torch in one process, so that torch is imported once. Output of each
script goes to standard error after a line "## name"."""

import pathlib
import runpy
import sys
import traceback

import torch

for path in sys.argv[1:]:
    print("##", pathlib.Path(path).stem, file=sys.stderr, flush=True)
    torch._dynamo.reset()
    try:
        runpy.run_path(path)
    except Exception:
        traceback.print_exc()
        print("!! failed", file=sys.stderr, flush=True)
