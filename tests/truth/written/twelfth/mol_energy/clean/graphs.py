from collections import namedtuple

import numpy as np

Molecule = namedtuple("Molecule", "kinds bonds energy")
Packed = namedtuple("Packed", "kinds owner send recv energy live")
PAD_OWNER = 99
BOND_SLOTS = 48


def synth(rng):
    n = int(rng.integers(4, 8))
    extra = int(rng.integers(0, 3))
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    rings = rng.integers(0, n, (extra, 2))
    kinds = rng.integers(0, 5, n)
    e = 0.3 * kinds.sum() + 0.1 * extra + rng.normal(scale=0.05)
    return Molecule(kinds.astype(np.int32), np.concatenate([chain, rings]), float(e))


class Packer:
    def __init__(self, per_batch=4, atom_slots=32, reject_above=5.0):
        self.per_batch, self.atom_slots, self.reject_above = per_batch, atom_slots, reject_above

    def batches(self, mols):
        for lo in range(0, len(mols), self.per_batch):
            yield self.pack(mols[lo:lo + self.per_batch])

    def pack(self, mols):
        mols = [m for m in mols if m.energy < self.reject_above]
        sizes = [len(m.kinds) for m in mols]
        offs = np.cumsum([0] + sizes[:-1])
        free = self.atom_slots - sum(sizes)
        kinds = np.pad(np.concatenate([m.kinds for m in mols]), (0, free))
        owner = np.pad(np.repeat(np.arange(len(mols)), sizes), (0, free), constant_values=PAD_OWNER).astype(np.int32)
        send = np.concatenate([m.bonds[:, 0] + o for m, o in zip(mols, offs)])
        recv = np.concatenate([m.bonds[:, 1] + o for m, o in zip(mols, offs)])
        energy = np.zeros(self.per_batch, np.float32)
        energy[:len(mols)] = [m.energy for m in mols]
        live = (np.arange(self.per_batch) < len(mols)).astype(np.float32)
        spare = (0, BOND_SLOTS - len(send))
        send = np.pad(send, spare).astype(np.int32)
        recv = np.pad(recv, spare, constant_values=self.atom_slots).astype(np.int32)
        return Packed(kinds, owner, send, recv, energy, live)
