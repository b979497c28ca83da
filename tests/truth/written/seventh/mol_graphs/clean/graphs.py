from typing import Iterator, NamedTuple

import numpy as np

MAX_ATOMS = 96
MAX_EDGES = 256
PROPS = ("dipole", "energy")
ELEMENTS = 5


class GraphBatch(NamedTuple):
    species: np.ndarray
    senders: np.ndarray
    receivers: np.ndarray
    owner: np.ndarray
    targets: dict
    known: dict


class Molecule(NamedTuple):
    species: np.ndarray
    bonds: np.ndarray
    props: dict


def random_molecule(rng, source):
    n = 8
    species = rng.integers(0, ELEMENTS, n)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    extra = rng.integers(0, n, (int(rng.integers(0, 3)), 2))
    bonds = np.concatenate([chain, extra])
    props = {"energy": float(species.sum() * 0.3 + len(extra) * 0.1)}
    if source == "dft":
        props["dipole"] = float(np.sin(species).sum())
    return Molecule(species, bonds, props)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    sources = ["dft"] * 3 + ["xtb"]
    out = {"dft": [], "xtb": []}
    for i in range(n):
        s = sources[i % 4]
        out[s].append(random_molecule(rng, s))
    return out


def merge(mols) -> GraphBatch:
    species = np.zeros(MAX_ATOMS, np.int32)
    owner = np.full(MAX_ATOMS, len(mols), np.int32)
    send, recv, at = [], [], 0
    for g, m in enumerate(mols):
        k = len(m.species)
        species[at:at + k] = m.species
        owner[at:at + k] = g
        send += [m.bonds[:, 0] + at, m.bonds[:, 1] + at]
        recv += [m.bonds[:, 1] + at, m.bonds[:, 0] + at]
        at += k
    targets = {p: np.array([m.props.get(p, 0.0) for m in mols], np.float32) for p in PROPS}
    known = {p: np.array([p in m.props for m in mols], np.float32) for p in PROPS}
    return GraphBatch(species, pad_edges(send), pad_edges(recv), owner, targets, known)


def pad_edges(parts):
    flat = np.concatenate(parts).astype(np.int32)
    return np.pad(flat, (0, MAX_EDGES - len(flat)), constant_values=MAX_ATOMS - 1)


def batches(data, size, steps, seed) -> Iterator[GraphBatch]:
    rng = np.random.default_rng(seed)
    for step in range(steps):
        pool = data["xtb"] if step % 6 == 5 else data["dft"]
        yield merge([pool[i] for i in rng.choice(len(pool), size)])
