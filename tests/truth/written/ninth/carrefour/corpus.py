from dataclasses import dataclass

import numpy as np
import torch


@dataclass
class Pack:
    ids: torch.Tensor
    valid: torch.Tensor
    meta: dict

    def on(self, device):
        return Pack(self.ids.to(device), self.valid.to(device), self.meta)


class Packer:
    """Greedy packing of sentences into rows of fixed width."""

    def __init__(self, rows, width, vocab, seed):
        self.rows, self.width, self.vocab = rows, width, vocab
        self.rng = np.random.default_rng(seed)

    def _row(self):
        row, left = [], self.width
        while True:
            n = int(self.rng.integers(3, 8))
            if n > left:
                break
            row += self.rng.integers(1, self.vocab, n).tolist()
            left -= n
        return row

    def __iter__(self):
        while True:
            rows = [self._row() for _ in range(self.rows)]
            ids = np.zeros((self.rows, self.width), np.int64)
            for i, r in enumerate(rows):
                ids[i, : len(r)] = r
            meta = {"tokens": sum(map(len, rows)), "longest": max(map(len, rows))}
            yield Pack(torch.from_numpy(ids), torch.from_numpy(ids > 0).float(), meta)
