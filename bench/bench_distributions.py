"""What buckets cost on three real distributions of lengths, against the usual choices of as many programs.

The lengths are in bench/lengths, with their sources: prompts of a conversation service and of a code service, in tokens, and
proteins, in residues. A row is the number of elements that the usual choice computes, divided by that of `stet buckets` with as
many programs.
"""
import bisect
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent
STET = ROOT.parent / "build" / "release" / "bin" / "stet"
# What vLLM captures CUDA graphs for, and what it pads tokens to on a TPU, unless told otherwise; AlphaFold 3's default buckets.
VLLM = [1, 2, 4] + list(range(8, 256, 8)) + list(range(256, 513, 16))
VLLM_TPU = [16 << k for k in range(20)]
ALPHAFOLD = [128, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 3584, 4096, 4608, 5120]


def read(name):
    """The lengths, each as often as it came."""
    pairs = [line.split() for line in (ROOT / "lengths" / f"{name}.txt").read_text().splitlines() if line[0] != "#"]
    return [int(size) for size, count in pairs for _ in range(int(count))]


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
    done = subprocess.run([STET, "buckets", "--lengths=-", "--format=json", f"--programs={len(buckets)}", "--most=64",
                           "--today=" + ",".join(map(str, buckets))],
                          input="".join(f"{n}\n" for n in lengths), capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)["functions"][0]
    own = next(s for s in found["curve"] if s["programs"] == found["best"])
    ratio = found["today"]["steps"] / own["steps"]
    print(json.dumps({"bench": f"buckets.{name}.{what}", "unit": "x", "value": round(ratio, 4), "p10": ratio, "p90": ratio,
                      "against": f"{own['programs']} buckets, padding %", "baseline": round(100 * own["padding"], 2)}))


for name in ("conversation", "code", "proteins"):
    lengths = read(name)
    powers = used(powers_of_two(lengths), lengths)
    compare(name, lengths, "powers_of_two", powers)
    compare(name, lengths, "quantiles", quantiles(lengths, len(powers)))
    if name == "proteins":
        compare(name, lengths, "alphafold_default", ALPHAFOLD)
    else:
        compare(name, lengths, "vllm_tpu_default", VLLM_TPU)
    compare(name, [n for n in lengths if n <= VLLM[-1]], "vllm_default", VLLM)
