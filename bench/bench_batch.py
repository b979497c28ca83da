"""What canonical batches cost against the padding of three public repositories, written anew from their ideas.

torchtune's collator makes tensors of lists and pads them with pad_sequence and F.pad; jraph pads each leaf of a graph by
concatenating zeros; a Tacotron collator (SaiSirishaR/Project_TAGHIM) stacks rows that np.pad has padded. Each pair makes the same arrays, and
takes turns, by the processor time of the thread. The rows that need torch run in TorchTPU's environment.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TORCH = ROOT / "build" / "env" / "torchtpu" / "bin" / "python"
os.environ["STET_BATCH_LIBRARY"] = str(ROOT / "build" / "release" / "lib" / "libstet_batch.so")
sys.path.insert(0, str(ROOT / "python"))

import numpy as np

import stet

ROUNDS = 301


def compare(name, theirs, ours, same):
    assert same(theirs(), ours()), name
    times, held = ([], []), [None, None]
    for _ in range(ROUNDS):
        for which, make in enumerate((theirs, ours)):
            begin = time.thread_time_ns()
            held[which] = make()  # the batch before is alive meanwhile, as in a loop over batches
            times[which].append((time.thread_time_ns() - begin) / 1e3)
    ratios = sorted(a / b for a, b in zip(*times))
    middle = sorted(times[1])[ROUNDS // 2]
    print(json.dumps({"bench": f"batch.{name}", "unit": "x", "value": round(ratios[ROUNDS // 2], 2), "p10": round(ratios[ROUNDS // 10], 2),
                      "p90": round(ratios[9 * ROUNDS // 10], 2), "against": "canonical, us", "baseline": round(middle, 1)}), flush=True)


def equal(a, b):
    return a.keys() == b.keys() and all(a[k].dtype == b[k].dtype and (a[k] == b[k]).all() for k in a)


def tacotron(rng):
    """A batch of 32 texts and their spectrograms."""
    texts = [rng.integers(0, 80, size=n).astype(np.int32) for n in rng.integers(20, 160, size=32)]
    frames = [rng.normal(size=(n, 80)).astype(np.float32) for n in rng.integers(100, 600, size=32)]

    def pad(rows, length):
        return np.stack([np.pad(r, [(0, length - len(r))] + [(0, 0)] * (r.ndim - 1)) for r in rows])

    def theirs():
        return {"text": pad(texts, 192), "frames": pad(frames, 640)}

    make = stet.Canonical({"text": stet.Leaf("int32", (32, (96, 192))), "frames": stet.Leaf("float32", (32, (320, 640), 80))})
    compare("tacotron_np_pad", theirs, lambda: make({"text": texts, "frames": frames}), equal)


def jraph(rng):
    """A batch of molecules: nodes, edges, senders, receivers."""
    import jax

    graph = {"nodes": rng.normal(size=(900, 64)).astype(np.float32), "edges": rng.normal(size=(2100, 32)).astype(np.float32),
             "senders": rng.integers(0, 900, size=2100).astype(np.int32), "receivers": rng.integers(0, 900, size=2100).astype(np.int32)}
    sizes = {"nodes": 1024, "edges": 2560, "senders": 2560, "receivers": 2560}

    def theirs():
        padding = jax.tree.map(lambda leaf, size: np.zeros((size - len(leaf),) + leaf.shape[1:], leaf.dtype), graph, sizes)
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), graph, padding)

    make = stet.Canonical({k: stet.Leaf(v.dtype.name, (sizes[k],) + v.shape[1:]) for k, v in graph.items()})
    compare("jraph_concatenate", theirs, lambda: make(graph), equal)
    ready = make(graph)  # what no padding can be faster than: the bytes themselves, into arrays that are there

    def copies():
        for k, leaf in graph.items():
            ready[k][: len(leaf)] = leaf
        return ready

    compare("jraph_copies_alone", copies, lambda: make(graph), equal)


def torchtune(rng):
    """32 samples as lists of token ids, with labels, padded to a bucket."""
    import torch
    import torch.nn.functional as F
    from torch.nn.utils.rnn import pad_sequence

    samples = [rng.integers(1, 32000, size=n).tolist() for n in rng.integers(50, 500, size=32)]

    def one(fill):
        rows = pad_sequence([torch.tensor(s) for s in samples], batch_first=True, padding_value=fill)
        return F.pad(rows, (0, 512 - rows.shape[1]), value=fill)

    make = stet.Canonical({"tokens": stet.Leaf("int64", (32, (256, 512))), "labels": stet.Leaf("int64", (32, (256, 512)), -100)})

    def theirs():
        return {"tokens": one(0), "labels": one(-100)}

    def ours():
        return {k: torch.from_numpy(v) for k, v in make({"tokens": samples, "labels": samples}).items()}

    compare("torchtune_lists", theirs, ours, equal)
    tensors = [torch.tensor(s) for s in samples]

    def padded(fill):
        rows = pad_sequence(tensors, batch_first=True, padding_value=fill)
        return F.pad(rows, (0, 512 - rows.shape[1]), value=fill)

    compare("torchtune_tensors", lambda: {"tokens": padded(0), "labels": padded(-100)},
            lambda: make({"tokens": tensors, "labels": tensors}), equal)


if sys.argv[1:] == ["torch"]:
    torchtune(np.random.default_rng(0))
else:
    tacotron(np.random.default_rng(0))
    jraph(np.random.default_rng(0))
    done = subprocess.run([TORCH, __file__, "torch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    print(done.stdout, end="")
