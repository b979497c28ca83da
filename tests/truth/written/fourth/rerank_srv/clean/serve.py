"""In-process re-ranking service with int8 item codes.

    requests -> plan_candidates -> gather -> score (compiled) -> Response
"""
from __future__ import annotations

import collections
import functools
import hashlib
import time
from typing import NamedTuple

import torch

DIM, CORPUS, SHORTLIST, LONG = 32, 500, 12, 40


class Response(NamedTuple):
    best: int
    value: float
    ms: float


def quantise(w: torch.Tensor):
    scale = w.abs().amax(1) / 127.0
    return torch.round(w / scale[:, None]).to(torch.int8), scale


torch.manual_seed(99)
CODES, SCALES = quantise(torch.randn(CORPUS, DIM))
PROJ = torch.randn(DIM, DIM) / DIM ** 0.5


@functools.lru_cache(maxsize=256)
def embed(text: str) -> torch.Tensor:
    seed = int.from_bytes(hashlib.sha1(text.encode()).digest()[:4], "little")
    return torch.randn(DIM, generator=torch.Generator().manual_seed(seed))


@torch.compile(backend="eager", dynamic=True)
def score(query, codes, scales):
    items = codes.to(torch.float32) * scales[:, None]
    hidden = torch.tanh(items @ PROJ)
    sims = hidden @ query
    return torch.softmax(sims / query.norm(), 0)


def nearest(text: str, k: int) -> list[int]:
    """Cheap first stage: buckets by hash."""
    start = int(hashlib.md5(text.encode()).hexdigest(), 16) % CORPUS
    return [(start + 7 * j) % CORPUS for j in range(k)]


def plan_candidates(req: dict) -> list[int]:
    match req:
        case {"mode": "exact", "id": i}:
            return [i, i]
        case {"mode": "deep", "text": t, "k": k}:
            return nearest(t, k)
        case {"text": t}:
            return nearest(t, SHORTLIST)
        case _:
            raise ValueError(f"cannot plan {req!r}")


def gather(ids: list[int]):
    codes, scales = CODES[ids], SCALES[ids]
    return codes, scales


def handle(req: dict) -> Response:
    t0 = time.perf_counter()
    ids = plan_candidates(req)
    probs = score(embed(req.get("text", "?")), *gather(ids))
    top = int(probs.argmax())
    return Response(ids[top], float(probs[top]), 1e3 * (time.perf_counter() - t0))


def traffic():
    for n in range(10):
        yield {"text": f"shoes {n % 4}"}
    for n in range(12):
        yield {"mode": "deep", "text": f"boots {n % 5}", "k": 30 + 3 * (n % 4) if n < 8 else 64}
        yield {"text": f"laces {n % 3}"}
    for n in range(6):
        yield {"mode": "exact", "id": 17 * n, "text": "sku"}
        yield {"mode": "deep", "text": f"hat {n}", "k": 36}


if __name__ == "__main__":
    stats = collections.Counter()
    for req in traffic():
        r = handle(req)
        stats[req.get("mode", "plain")] += 1
        stats["sum"] += r.best
    print(dict(stats), embed.cache_info().hits)
