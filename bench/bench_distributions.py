"""What buckets cost on three real distributions of lengths, against the usual choices of as many programs.

The lengths are of the text of installed packages: docstrings in words, functions in tokens, lines in characters. A row is
the elements that the usual choice computes over those of `stet buckets` with as many programs.
"""
import ast
import bisect
import io
import json
import pathlib
import subprocess
import sys
import tokenize

import flax
import jax
import numpy
import optax

STET = pathlib.Path("build/release/bin/stet").resolve()
# What vLLM captures CUDA graphs for, unless told otherwise.
VLLM = [1, 2, 4] + list(range(8, 256, 8)) + list(range(256, 513, 16))


def sources():
    for package in (jax, numpy, flax, optax):
        for path in sorted(pathlib.Path(package.__file__).parent.rglob("*.py")):
            yield path.read_text(encoding="utf-8", errors="replace")


def tokens_by_line(text):
    """How many tokens begin before each line."""
    count = [0] * (text.count("\n") + 3)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        count[min(token.start[0], len(count) - 1)] += bool(token.string.strip())
    for i in range(1, len(count)):
        count[i] += count[i - 1]
    return count


def measure():
    docstrings, functions, lines = [], [], []
    for text in sources():
        lines += [len(line) for line in text.splitlines() if line.strip()]
        try:
            tree, count = ast.parse(text), tokens_by_line(text)
        except (SyntaxError, tokenize.TokenError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                docstrings.append(len((ast.get_docstring(node) or "").split()))
            if isinstance(node, ast.FunctionDef):
                functions.append(count[min(node.end_lineno, len(count) - 1)] - count[node.lineno - 1])
    return {"docstrings": docstrings, "functions": functions, "lines": lines}


def powers_of_two(lengths):
    return [1 << k for k in range((max(lengths) - 1).bit_length() + 1)]


def quantiles(lengths, count):
    ordered = sorted(lengths)
    return sorted({ordered[min(len(ordered) - 1, len(ordered) * (i + 1) // count)] for i in range(count)})


def used(buckets, lengths):
    """Those that some length falls into."""
    return sorted({buckets[bisect.bisect_left(buckets, n)] for n in set(lengths)})


def compare(name, lengths, what, buckets):
    buckets = used(buckets, lengths)
    done = subprocess.run([STET, "buckets", "--lengths=-", "--format=json", f"--programs={len(buckets)}",
                           "--today=" + ",".join(map(str, buckets))],
                          input="".join(f"{n}\n" for n in lengths), capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)["functions"][0]
    own = next(s for s in found["curve"] if s["programs"] == found["best"])
    ratio = found["today"]["steps"] / own["steps"]
    print(json.dumps({"bench": f"buckets.{name}.{what}", "unit": "x", "value": round(ratio, 4), "p10": ratio, "p90": ratio,
                      "against": f"{own['programs']} buckets, padding %", "baseline": round(100 * own["padding"], 2)}))


for name, lengths in measure().items():
    lengths = [n for n in lengths if n > 0]
    powers = used(powers_of_two(lengths), lengths)
    compare(name, lengths, "powers_of_two", powers)
    compare(name, lengths, "quantiles", quantiles(lengths, len(powers)))
    compare(name, [n for n in lengths if n <= VLLM[-1]], "vllm_default", VLLM)
